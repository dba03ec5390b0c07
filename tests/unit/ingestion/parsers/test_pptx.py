"""PPTX: slides in the presentation's order, shapes in the eye's, words wherever they stand."""

from pathlib import Path

from ingestion.records import BlockKind
from tests.unit.ingestion.parsers.packages import DRAWING, relations, shape, slide_tree, write_pptx
from tests.unit.ingestion.parsers.reading import read, told

INCH = 914_400
LAYOUT = "ppt/slideLayouts/l.xml"


def _frame(inner: str, uri: str = "table") -> str:
    return f'<p:graphicFrame><a:graphic><a:graphicData uri="{uri}">{inner}</a:graphicData></a:graphic></p:graphicFrame>'


def _row(*cells: str) -> str:
    inner = "".join(f"<a:tc><a:txBody><a:p><a:r><a:t>{cell}</a:t></a:r></a:p></a:txBody></a:tc>" for cell in cells)
    return f"<a:tr>{inner}</a:tr>"


def test_each_slide_has_its_number_and_its_title(tmp_path: Path) -> None:
    title = shape("Выручка", placeholder='type="title"')
    document = read(write_pptx(tmp_path / "a.pptx", [title + shape("Рост 5 %"), shape("Без названия")]))
    assert told(document) == [
        (BlockKind.HEADING, "Выручка"),
        (BlockKind.PARAGRAPH, "Рост 5 %"),
        (BlockKind.PARAGRAPH, "Без названия"),
    ]
    assert [(block.locator.slide, block.locator.headings) for block in document.blocks] == [
        (1, ()),
        (1, ("Выручка",)),
        (2, ()),
    ]
    assert (document.title, document.pages) == ("Выручка", 2)


def test_shapes_are_read_from_top_to_bottom_and_left_to_right(tmp_path: Path) -> None:
    inner = shape("низ", at=(0, 5 * INCH)) + shape("право", at=(5 * INCH, INCH + 9_000)) + shape("лево", at=(0, INCH))
    assert [text for _, text in told(read(write_pptx(tmp_path / "a.pptx", [inner])))] == ["лево", "право", "низ"]


def test_a_group_stands_where_the_slide_has_it(tmp_path: Path) -> None:
    transform = '<a:xfrm><a:off x="0" y="0"/><a:ext cx="10" cy="10"/><a:chOff x="0" y="0"/><a:chExt cx="10" cy="10"/>'
    group = f"<p:grpSp><p:grpSpPr>{transform}</a:xfrm></p:grpSpPr>{shape('в группе', at=(0, 0))}</p:grpSp>"
    document = read(write_pptx(tmp_path / "a.pptx", [shape("ниже", at=(0, 3 * INCH)) + group]))
    assert [text for _, text in told(document)] == ["в группе", "ниже"]


def test_placeholders_stand_where_the_layout_has_them(tmp_path: Path) -> None:
    mark = 'type="body" idx="7"'
    layout = slide_tree(shape("образец", at=(0, 9 * INCH), placeholder=mark), root="sldLayout")
    inner = shape("внизу", placeholder=mark) + shape("вверху", at=(0, INCH))
    links = {"1": relations({"l": ("slideLayout", f"/{LAYOUT}")})}
    document = read(write_pptx(tmp_path / "a.pptx", [inner], more={LAYOUT: layout}, links=links))
    assert [text for _, text in told(document)] == ["вверху", "внизу"]


def test_lines_of_a_body_are_a_list(tmp_path: Path) -> None:
    document = read(write_pptx(tmp_path / "a.pptx", [shape("раз", "два", placeholder='idx="1"')]))
    assert told(document) == [(BlockKind.LIST, "- раз\n- два")]


def test_footers_and_numbers_are_not_read(tmp_path: Path) -> None:
    inner = shape("2026", placeholder='type="dt"') + shape("7", placeholder='type="sldNum"') + shape("слова")
    assert [text for _, text in told(read(write_pptx(tmp_path / "a.pptx", [inner])))] == ["слова"]


def test_tables_are_tables(tmp_path: Path) -> None:
    table = _frame(f"<a:tbl>{_row('Срок', 'Пеня')}{_row('5 дней', '100')}</a:tbl>")
    document = read(write_pptx(tmp_path / "a.pptx", [table]))
    assert told(document) == [(BlockKind.TABLE, "| Срок | Пеня |\n| --- | --- |\n| 5 дней | 100 |")]


def test_the_figures_of_a_chart_are_a_table(tmp_path: Path) -> None:
    names = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    points = "<c:pt idx='0'><c:v>{}</c:v></c:pt>"
    series = (
        f"<c:ser><c:tx><c:strRef><c:f>A!B1</c:f><c:strCache>{points.format('Доход')}</c:strCache></c:strRef></c:tx>"
        f"<c:cat>{points.format('Май')}</c:cat><c:val>{points.format('12.50')}</c:val></c:ser>"
    )
    chart = f"<c:chartSpace {names}><c:chart><c:plotArea>{series}</c:plotArea></c:chart></c:chartSpace>"
    links = {"1": relations({"c": ("chart", "../charts/chart1.xml")})}
    frame = _frame(f'<c:chart {names} r:id="c"/>', "chart")
    path = write_pptx(tmp_path / "a.pptx", [frame], more={"ppt/charts/chart1.xml": chart}, links=links)
    assert told(read(path)) == [(BlockKind.TABLE, "|  | Доход |\n| --- | --- |\n| Май | 12.5 |")]


def test_words_of_a_diagram_are_a_list(tmp_path: Path) -> None:
    names = f'xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="{DRAWING}"'
    data = f"<d:dataModel {names}><d:pt><d:t><a:p><a:r><a:t>шаг</a:t></a:r></a:p></d:t></d:pt></d:dataModel>"
    links = {"1": relations({"d": ("diagramData", "../diagrams/data1.xml")})}
    frame = _frame(f'<d:relIds {names} r:dm="d"/>', "diagram")
    path = write_pptx(tmp_path / "a.pptx", [frame], more={"ppt/diagrams/data1.xml": data}, links=links)
    assert told(read(path)) == [(BlockKind.LIST, "- шаг")]


def test_notes_follow_their_slide(tmp_path: Path) -> None:
    notes = slide_tree(shape("скажи о сроках", placeholder='type="body"') + shape("1", placeholder='type="sldNum"'))
    links = {"1": relations({"n": ("notesSlide", "../notesSlides/n1.xml")})}
    more = {"ppt/notesSlides/n1.xml": notes}
    document = read(write_pptx(tmp_path / "a.pptx", [shape("слайд")], more=more, links=links))
    assert [text for _, text in told(document)] == ["слайд", "скажи о сроках"]

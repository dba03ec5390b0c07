"""Word files."""

import struct
import warnings
import zipfile
from pathlib import Path

import pytest

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import docx, xml
from ingestion.parsers.registry import parse_file
from ingestion.records import Document
from tests.unit.ingestion.parsers.files import PACKAGE, RELATIONSHIPS, STRICT_W, W, p, styled, styles_part, write_docx

STYLES = styles_part(
    ("H1", "heading 1", ""),
    ("H2", "heading 2", ""),
    ("Mine", "Моя глава", '<w:basedOn w:val="H2"/>'),
    ("Lvl", "Раздел", '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>'),
    ("Ring", "Ring", '<w:basedOn w:val="Ring"/>'),
    ("Code", "HTML Preformatted", ""),
    ("Item", "List Number", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'),
)
NUMBERING = f"""<w:numbering xmlns:w="{W}">
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>
<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl>
<w:lvl w:ilvl="2"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>"""
PARTS = {"word/styles.xml": STYLES, "word/numbering.xml": NUMBERING}
NOTES = f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="2">{p("Сноска.")}</w:footnote></w:footnotes>'
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
REFERRING = '<w:p><w:r><w:t>Слово</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
MANY_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


def _parse(folder: Path, body: str, parts: dict[str, str] | None = None) -> Document:
    return _read(write_docx(folder / "f.docx", body, {**PARTS, **(parts or {})}))


def _read(path: Path) -> Document:
    return parse_file(path, name="письмо.docx", media_type=None)


def _blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in document.blocks]


def _item(text: str, depth: int) -> str:
    return p(text, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="1"/></w:numPr>')


def _cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{p(text)}</w:tc>"


def _table(*rows: str) -> str:
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"


def test_headings_are_found_through_styles_and_levels(tmp_path: Path) -> None:
    document = _parse(tmp_path, styled("А", "H1") + styled("Б", "Mine") + styled("текст", "Ring") + styled("В", "Lvl"))
    assert [(block.level, block.locator.headings) for block in document.blocks] == [
        (1, ()),
        (2, ("А",)),
        (None, ("А", "Б")),
        (1, ()),
    ]


def test_paragraphs_and_tables_keep_the_order_of_the_body(tmp_path: Path) -> None:
    body = p("До") + _table(_cell("a") + _cell("b"), _cell("1") + _cell("2")) + p("После")
    assert _blocks(_parse(tmp_path, body)) == [
        ("paragraph", "До"),
        ("table", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("paragraph", "После"),
    ]


def test_merged_cells_say_their_text_once(tmp_path: Path) -> None:
    body = _table(
        _cell("h", '<w:gridSpan w:val="2"/>') + _cell("k"),
        _cell("v", '<w:vMerge w:val="restart"/>') + _cell("1") + _cell("2"),
        _cell("", "<w:vMerge/>") + _cell("3") + _cell("4"),
    )
    assert _blocks(_parse(tmp_path, body))[0][1].split("\n") == [
        "| h |  | k |",
        "| --- | --- | --- |",
        "| v | 1 | 2 |",
        "|  | 3 | 4 |",
    ]


def test_a_table_in_a_cell_becomes_lines_of_the_cell(tmp_path: Path) -> None:
    inner = f"<w:tc>{p('до')}{_table(_cell('x') + _cell('y'))}{p('после')}</w:tc>"
    assert _blocks(_parse(tmp_path, _table(inner)))[0][1].startswith("| до x; y после |")


def test_list_items_join_with_numbers_and_bullets(tmp_path: Path) -> None:
    body = _item("раз", 0) + _item("внутри", 1) + _item("два", 0)
    assert _blocks(_parse(tmp_path, body)) == [("list", "1. раз\n  - внутри\n2. два")]


def test_a_list_is_resumed_after_a_paragraph_and_counts_anew_inside(tmp_path: Path) -> None:
    body = _item("раз", 0) + _item("а", 2) + p("вставка") + _item("два", 0) + _item("б", 2)
    texts = [text for _, text in _blocks(_parse(tmp_path, body))]
    assert texts == ["1. раз\n    1. а", "вставка", "2. два\n    1. б"]


def test_a_style_makes_list_items_unless_the_paragraph_says_otherwise(tmp_path: Path) -> None:
    out = p("не пункт", '<w:pStyle w:val="Item"/><w:numPr><w:numId w:val="0"/></w:numPr>')
    assert _blocks(_parse(tmp_path, styled("пункт", "Item") + out)) == [
        ("list", "1. пункт"),
        ("paragraph", "не пункт"),
    ]


def test_code_lines_join_into_one_block(tmp_path: Path) -> None:
    body = styled("if x:", "Code") + styled("    y()", "Code")
    assert _blocks(_parse(tmp_path, body)) == [("code", "if x:\n    y()")]


def test_deleted_text_and_field_codes_are_not_read(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Оплата </w:t></w:r><w:del><w:r><w:delText>до мая</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>до июня</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
    )
    assert _blocks(_parse(tmp_path, body)) == [("paragraph", "Оплата до июня")]


def test_tab_stops_are_no_tabs(tmp_path: Path) -> None:
    stops = '<w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr>'
    tabbed = f"<w:p>{stops}<w:r><w:t>Имя</w:t><w:tab/><w:t>Анна</w:t></w:r></w:p>"
    mended = f"<w:p>{stops}<w:del><w:r><w:delText>Нет.</w:delText></w:r></w:del><w:r><w:t>Да.</w:t></w:r></w:p>"
    body = tabbed + mended + tabbed + _table(f"<w:tc>{tabbed}</w:tc>") + tabbed
    found = [text for kind, text in _blocks(_parse(tmp_path, body)) if kind == "paragraph"]
    assert found == ["Имя\tАнна", "Да.", "Имя\tАнна", "Имя\tАнна"]


def test_paragraphs_are_read_alike_beside_content_controls(tmp_path: Path) -> None:
    control = f"<w:sdt><w:sdtContent>{p('Внутри.')}</w:sdtContent></w:sdt>"
    body = control + styled("Глава", "H1") + p("Первый.") + control + _item("пункт", 0) + p("Последний.")
    assert _blocks(_parse(tmp_path, body)) == [
        ("paragraph", "Внутри."),
        ("heading", "Глава"),
        ("paragraph", "Первый."),
        ("paragraph", "Внутри."),
        ("list", "1. пункт"),
        ("paragraph", "Последний."),
    ]


def test_parts_that_nothing_of_the_text_names_are_not_opened(tmp_path: Path) -> None:
    path = write_docx(tmp_path / "f.docx", p("Слово."), PARTS)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("customXml/item1.xml", "<!DOCTYPE broken")
    assert _blocks(_read(path)) == [("paragraph", "Слово.")]


def _boxed(text: str) -> str:
    """Text with two boxes, each stored twice as Word does."""
    boxes = [f"<w:txbxContent>{p(f'в рамке {number}')}</w:txbxContent>" for number in (1, 2)]
    stored = "".join(f"<c:Choice>{box}</c:Choice><c:Fallback>{box}</c:Fallback>" for box in boxes)
    drawing = f'<c:AlternateContent xmlns:c="{COMPATIBILITY}">{stored}</c:AlternateContent>'
    return f"<w:p><w:r><w:t>{text}</w:t>{drawing}</w:r></w:p>"


def test_text_boxes_are_read_once_after_their_paragraph(tmp_path: Path) -> None:
    texts = [text for _, text in _blocks(_parse(tmp_path, _boxed("текст") + p("дальше")))]
    assert texts == ["текст", "в рамке 1", "в рамке 2", "дальше"]


def test_footnotes_follow_the_paragraph_that_refers_to_them(tmp_path: Path) -> None:
    assert _blocks(_parse(tmp_path, REFERRING, {"word/footnotes.xml": NOTES})) == [
        ("paragraph", "Слово[2]"),
        ("paragraph", "[2] Сноска."),
    ]


def test_a_footnote_of_a_cell_stands_in_the_cell(tmp_path: Path) -> None:
    body = _table(f"<w:tc>{REFERRING}</w:tc>" + _cell("b"))
    assert _blocks(_parse(tmp_path, body, {"word/footnotes.xml": NOTES}))[0][1].startswith(
        "| Слово[2] [2] Сноска. | b |"
    )


def test_content_controls_hide_nothing(tmp_path: Path) -> None:
    row = f"<w:sdt><w:sdtContent><w:tr>{_cell('a')}</w:tr></w:sdtContent></w:sdt>"
    body = f"<w:sdt><w:sdtPr/><w:sdtContent>{p('Дата')}<w:tbl>{row}</w:tbl></w:sdtContent></w:sdt>"
    assert _blocks(_parse(tmp_path, body)) == [("paragraph", "Дата"), ("table", "| a |\n| --- |")]


def test_words_of_links_fields_and_formulas_belong_to_the_paragraph(tmp_path: Path) -> None:
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    body = (
        '<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:hyperlink><w:r><w:t>см.</w:t></w:r></w:hyperlink>'
        '<w:fldSimple w:instr="PAGE"><w:r><w:tab/><w:t>7</w:t><w:br w:type="page"/></w:r></w:fldSimple>'
        f'<m:oMath xmlns:m="{math}"><m:r><m:t>x=1</m:t></m:r></m:oMath></w:p>'
    )
    assert _blocks(_parse(tmp_path, body)) == [("paragraph", "см.\t7\nx=1")]


def test_the_strict_variant_is_read_too(tmp_path: Path) -> None:
    body = styled("Раздел", "Lvl") + p("см. http://purl.oclc.org/ooxml/wordprocessingml/main")
    path = write_docx(tmp_path / "f.docx", body, {"word/styles.xml": STYLES.replace(W, STRICT_W)}, strict=True)
    assert _blocks(_read(path)) == [
        ("heading", "Раздел"),
        ("paragraph", "см. http://purl.oclc.org/ooxml/wordprocessingml/main"),
    ]


@pytest.mark.parametrize(
    "main_type",
    [
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    ],
)
def test_templates_and_documents_with_macros_are_read_too(tmp_path: Path, main_type: str) -> None:
    path = write_docx(tmp_path / "f.docm", p("текст"), main_type=main_type)
    assert _blocks(_read(path)) == [("paragraph", "текст")]


def test_a_picture_that_is_missing_does_no_harm(tmp_path: Path) -> None:
    picture = f'<Relationship Id="r1" Type="{RELATIONSHIPS}/image" Target="media/gone.png"/>'
    rels = f'<Relationships xmlns="{PACKAGE}/relationships">{picture}</Relationships>'
    document = _parse(tmp_path, p("текст"), {"word/_rels/document.xml.rels": rels})
    assert _blocks(document) == [("paragraph", "текст")]


def test_title_and_author_come_from_the_properties(tmp_path: Path) -> None:
    inner = "<d:title>Отчёт</d:title><d:creator>Анна</d:creator>"
    core = f'<c:coreProperties xmlns:c="{PACKAGE}/metadata/core-properties" xmlns:d="http://purl.org/dc/elements/1.1/">{inner}</c:coreProperties>'
    document = _parse(tmp_path, p("x"), {"docProps/core.xml": core})
    assert (document.title, document.author) == ("Отчёт", "Анна")


def test_without_properties_the_file_gives_the_title_and_nobody_is_the_author(tmp_path: Path) -> None:
    document = _parse(tmp_path, p("x"))
    assert (document.title, document.author) == ("письмо", None)


def test_parts_that_would_inflate_too_far_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx, "LARGEST_MAIN_BYTES", 5000)
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, p("x" * 5000))
    assert caught.value.code is FailureCode.FILE_TOO_HEAVY


def test_parts_besides_the_text_have_a_limit_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml, "LARGEST_PARTS_BYTES", 5000)
    assert _parse(tmp_path, p("x" * 6000)).blocks
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, p("x"), {"word/styles.xml": f'<w:styles xmlns:w="{W}">{" " * 5000}</w:styles>'})
    assert caught.value.code is FailureCode.FILE_TOO_HEAVY


@pytest.mark.parametrize("strict", [True, False])
def test_tables_and_paragraphs_in_wrappers_keep_their_order(tmp_path: Path, strict: bool) -> None:
    rows = "".join(f"<w:tr><w:tc>{p(text)}</w:tc></w:tr>" for text in ("Срок", "5 дней"))
    body = f"{p('до')}<w:sdt><w:sdtContent><w:tbl>{rows}</w:tbl>{p('внутри')}</w:sdtContent></w:sdt>{p('после')}"
    document = _read(write_docx(tmp_path / "f.docx", body, strict=strict))
    assert [text for _, text in _blocks(document)] == ["до", "| Срок |\n| --- |\n| 5 дней |", "внутри", "после"]


def test_a_part_larger_than_the_directory_says_is_damage(tmp_path: Path) -> None:
    path = write_docx(tmp_path / "f.docx", p("x" * 100_000))
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("word/document.xml").file_size
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", size), struct.pack("<L", 10)))
    with pytest.raises(SourceError) as caught:
        _read(path)
    assert caught.value.code is FailureCode.FILE_DAMAGED


def test_entities_stay_unread(tmp_path: Path) -> None:
    core = '<!DOCTYPE c [<!ENTITY a "b">]><c><title>&a;</title></c>'
    assert _parse(tmp_path, p("x"), {"docProps/core.xml": core}).title == "&a;"


@pytest.mark.parametrize("core", [f'<!DOCTYPE c [<!ENTITY l0 "lol">{MANY_LAUGHS}]><c>&l9;</c>', "<c><unclosed></c>"])
def test_entities_that_multiply_and_broken_parts_are_damage(tmp_path: Path, core: str) -> None:
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, p("x"), {"docProps/core.xml": core})
    assert caught.value.code is FailureCode.FILE_DAMAGED


def _utf_16_with(folder: Path, entities: str, body: str) -> Path:
    """A document whose DTD cannot be seen in its bytes."""
    main = f'<!DOCTYPE d [{entities}]><w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    path = write_docx(folder / "f.docx", "")
    with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings(action="ignore"):
        archive.writestr("word/document.xml", main.encode("utf-16"))  # zipfile reads the last of two
    return path


def test_no_other_file_is_read_through_an_entity(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("тайна")
    path = _utf_16_with(tmp_path, f'<!ENTITY s SYSTEM "{secret.as_uri()}">', p("до &s; после") + p("конец"))
    assert _blocks(_read(path)) == [("paragraph", "до"), ("paragraph", "конец")]


@pytest.mark.parametrize("body", [p("&l9;"), p("x", '<w:pStyle w:val="&l9;"/>')])
def test_entities_that_multiply_are_damage(tmp_path: Path, body: str) -> None:
    path = _utf_16_with(tmp_path, f'<!ENTITY l0 "lol">{MANY_LAUGHS}', body)
    with pytest.raises(SourceError) as caught:
        _read(path)
    assert caught.value.code is FailureCode.FILE_DAMAGED


def test_a_document_without_words_has_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, p(" "))
    assert caught.value.code is FailureCode.FILE_WITHOUT_TEXT

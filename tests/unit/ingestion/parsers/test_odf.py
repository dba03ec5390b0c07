"""OpenDocument: texts, sheets and presentations."""

from pathlib import Path

import pytest

from ingestion.errors import FailureCode
from ingestion.records import BlockKind
from tests.unit.ingestion.parsers.packages import write_odf
from tests.unit.ingestion.parsers.reading import read, refusal, told


def _text(folder: Path, body: str, styles: str = "") -> list[tuple[BlockKind, str]]:
    return told(read(write_odf(folder / "a.odt", "text", body, styles=styles)))


def _cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"


def test_headings_open_sections(tmp_path: Path) -> None:
    heading = '<text:h text:outline-level="{}">{}</text:h>'
    body = f"{heading.format(1, 'Договор')}{heading.format(2, 'Срок')}<text:p>Год</text:p>"
    document = read(write_odf(tmp_path / "a.odt", "text", body))
    assert document.blocks[2].locator.headings == ("Договор", "Срок")
    assert document.title == "Договор"


def test_blanks_tabs_and_breaks_are_elements(tmp_path: Path) -> None:
    body = '<text:p>а<text:s text:c="2"/>б<text:tab/>в<text:line-break/>г\n   <text:span>д</text:span></text:p>'
    assert _text(tmp_path, body) == [(BlockKind.PARAGRAPH, "а  б\tв\nг д")]


def test_lists_are_numbered_as_their_style_says(tmp_path: Path) -> None:
    level = '<text:list-level-style-number text:level="1" style:num-format="1"/>'
    styles = f'<text:list-style style:name="L">{level}</text:list-style>'
    item = "<text:list-item><text:p>{}</text:p>{}</text:list-item>"
    inner = f"<text:list>{item.format('внутри', '')}</text:list>"
    body = f'<text:list text:style-name="L">{item.format("раз", inner)}{item.format("два", "")}</text:list>'
    assert _text(tmp_path, body, styles) == [(BlockKind.LIST, "1. раз\n  - внутри\n2. два")]


def test_tables_notes_and_boxes_are_read(tmp_path: Path) -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>сноска</text:p></text:note-body>"
    )
    box = "<draw:frame><draw:text-box><text:p>в рамке</text:p></draw:text-box></draw:frame>"
    rows = f"<table:table-row>{_cell('а')}{_cell('б')}</table:table-row>"
    body = f"<text:p>слово{note}</text:note>{box}</text:p><table:table>{rows}</table:table>"
    assert _text(tmp_path, body) == [
        (BlockKind.PARAGRAPH, "слово[1]"),
        (BlockKind.PARAGRAPH, "[1] сноска"),
        (BlockKind.PARAGRAPH, "в рамке"),
        (BlockKind.TABLE, "| а | б |\n| --- | --- |"),
    ]


def test_deleted_words_are_not_read(tmp_path: Path) -> None:
    deleted = "<text:tracked-changes><text:deletion><text:p>старое</text:p></text:deletion></text:tracked-changes>"
    assert _text(tmp_path, f"{deleted}<text:p>новое</text:p>") == [(BlockKind.PARAGRAPH, "новое")]


def test_rows_of_a_sheet_are_counted_with_their_repetitions(tmp_path: Path) -> None:
    names = f"<table:table-row>{_cell('Дата')}{_cell('Доля')}</table:table-row>"
    gap = '<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>'
    date = _cell("01.05.26", 'office:value-type="date" office:date-value="2026-05-01"')
    share = _cell("15 %", 'office:value-type="percentage" office:value="0.15"')
    body = f'<table:table table:name="Лист">{names}{gap}<table:table-row>{date}{share}</table:table-row></table:table>'
    blocks = read(write_odf(tmp_path / "a.ods", "spreadsheet", body)).blocks
    assert blocks[2].text == "| Дата | Доля |\n| --- | --- |\n| 2026-05-01 | 15 % |"
    assert (blocks[2].locator.row, blocks[2].locator.headings) == (5, ("Лист",))


def test_a_sheet_that_claims_a_billion_cells_is_short(tmp_path: Path) -> None:
    cell = _cell("x", 'table:number-columns-repeated="999999999"')
    row = f'<table:table-row table:number-rows-repeated="999999999">{cell}</table:table-row>'
    document = read(write_odf(tmp_path / "a.ods", "spreadsheet", f"<table:table>{row}</table:table>"))
    assert sum(len(block.text) for block in document.blocks) < 100_000


def test_slides_have_numbers_and_titles(tmp_path: Path) -> None:
    frame = "<draw:frame {}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    title = frame.format('presentation:class="title"', "Итоги")
    body = f"<draw:page>{frame.format('', 'слова')}{title}</draw:page>"
    document = read(write_odf(tmp_path / "a.odp", "presentation", body * 2))
    assert told(document)[:2] == [(BlockKind.HEADING, "Итоги"), (BlockKind.PARAGRAPH, "слова")]
    assert (document.pages, document.blocks[3].locator.slide) == (2, 2)


@pytest.mark.parametrize("kind", ["text", "spreadsheet", "presentation"])
def test_a_password_is_the_reason(tmp_path: Path, kind: str) -> None:
    manifest = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
    assert refusal(write_odf(tmp_path / "a", kind, "", manifest=manifest)) is FailureCode.FILE_ENCRYPTED

"""Word files."""

from pathlib import Path

import pytest

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import docx_package
from ingestion.parsers.registry import parse_file
from ingestion.records import Document
from tests.unit.ingestion.parsers.files import STRICT_W, W, p, styled, styles_part, write_docx

STYLES = styles_part(
    ("H1", "heading 1", ""),
    ("H2", "heading 2", ""),
    ("Mine", "Моя глава", '<w:basedOn w:val="H2"/>'),
    ("Lvl", "Раздел", '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>'),
    ("Ring", "Ring", '<w:basedOn w:val="Ring"/>'),
    ("Code", "HTML Preformatted", ""),
)
NUMBERING = f"""<w:numbering xmlns:w="{W}">
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>
<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>"""
PARTS = {"word/styles.xml": STYLES, "word/numbering.xml": NUMBERING}


def _parse(folder: Path, body: str, parts: dict[str, str] | None = None, namespace: str = W) -> Document:
    path = write_docx(folder / "f.docx", body, {**PARTS, **(parts or {})}, namespace=namespace)
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


def test_code_lines_join_into_one_block(tmp_path: Path) -> None:
    body = styled("if x:", "Code") + styled("    y()", "Code")
    assert _blocks(_parse(tmp_path, body)) == [("code", "if x:\n    y()")]


def test_deleted_text_and_field_codes_are_not_read(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Оплата </w:t></w:r><w:del><w:r><w:delText>до мая</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>до июня</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
    )
    assert _blocks(_parse(tmp_path, body)) == [("paragraph", "Оплата до июня")]


def test_a_text_box_is_read_once_after_its_paragraph(tmp_path: Path) -> None:
    box = f"<w:txbxContent>{p('в рамке')}</w:txbxContent>"
    body = (
        f"<w:p><w:r><w:t>текст</w:t></w:r><w:r><Alt><Choice>{box}</Choice><Fallback>{box}</Fallback></Alt></w:r></w:p>"
    )
    assert _blocks(_parse(tmp_path, body)) == [("paragraph", "текст"), ("paragraph", "в рамке")]


def test_footnotes_follow_the_paragraph_that_refers_to_them(tmp_path: Path) -> None:
    notes = f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="2">{p("Сноска.")}</w:footnote></w:footnotes>'
    body = '<w:p><w:r><w:t>Слово</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    assert _blocks(_parse(tmp_path, body, {"word/footnotes.xml": notes})) == [
        ("paragraph", "Слово[2]"),
        ("paragraph", "[2] Сноска."),
    ]


def test_the_strict_variant_is_read_too(tmp_path: Path) -> None:
    assert _blocks(_parse(tmp_path, p("Строго"), namespace=STRICT_W)) == [("paragraph", "Строго")]


def test_title_and_author_come_from_the_properties(tmp_path: Path) -> None:
    core = '<c xmlns:d="http://purl.org/dc/elements/1.1/"><d:title>Отчёт</d:title><d:creator>Анна</d:creator></c>'
    document = _parse(tmp_path, p("x"), {"docProps/core.xml": core})
    assert (document.title, document.author) == ("Отчёт", "Анна")


def test_a_part_that_would_inflate_too_far_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx_package, "LARGEST_PART_BYTES", 1000)
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, p("x" * 2000))
    assert caught.value.code is FailureCode.FILE_TOO_HEAVY


@pytest.mark.parametrize("core", ['<!DOCTYPE c [<!ENTITY a "b">]><c>&a;</c>', "<c><unclosed></c>"])
def test_entities_and_broken_xml_are_damage(tmp_path: Path, core: str) -> None:
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, p("x"), {"docProps/core.xml": core})
    assert caught.value.code is FailureCode.FILE_DAMAGED


def test_a_document_without_words_has_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, p(" "))
    assert caught.value.code is FailureCode.FILE_WITHOUT_TEXT

"""trafilatura's tree as blocks."""

from lxml.html import fromstring  # type: ignore[import-untyped] # lxml brings no types

from ingestion.parsers.page_body import read_body
from ingestion.records import BlockKind


def _blocks(inside: str) -> list[tuple[BlockKind, str]]:
    return [(block.kind, block.text) for block in read_body(fromstring(f"<section>{inside}</section>"))]


def test_headings_open_sections() -> None:
    blocks = read_body(fromstring("<section><h><i></i></h><p>a</p></section>"))
    assert [block.text for block in blocks] == ["a"]


def test_lists_keep_their_order_and_what_is_inside_them() -> None:
    inside = "<list rend=ol><item>один</item><item>два<list rend=ul><item>внутри</item></list></item></list>"
    assert _blocks(inside) == [(BlockKind.LIST, "1. один\n2. два\n  - внутри")]


def test_a_table_is_rows_and_its_caption_their_name() -> None:
    inside = (
        "<table><row><cell>Мосты</cell><cell></cell></row><row><cell>Имя</cell><cell>Год</cell></row>"
        "<row><cell>Новый</cell><cell><p>2001</p></cell></row></table>"
    ).replace("table", "grid")
    tree = fromstring(f"<section>{inside}</section>")
    for element in tree.iter("grid"):
        element.tag = "table"
    blocks = [(block.kind, block.text) for block in read_body(tree)]
    assert blocks == [(BlockKind.TABLE, "Мосты\n| Имя | Год |\n| --- | --- |\n| Новый | 2001 |")]


def test_code_keeps_its_lines_and_its_indents() -> None:
    assert _blocks("<code>def f():\n    return 1\n</code>") == [(BlockKind.CODE, "def f():\n    return 1")]


def test_a_line_break_stays_and_two_part_paragraphs() -> None:
    assert _blocks("<p>раз<lb></lb>два<lb></lb><lb></lb>три\nчетыре</p>") == [
        (BlockKind.PARAGRAPH, "раз\nдва"),
        (BlockKind.PARAGRAPH, "три четыре"),
    ]


def test_words_with_code_inside_stay_one_sentence() -> None:
    assert _blocks("<p>Запустите <code>make</code> снова.</p>") == [(BlockKind.PARAGRAPH, "Запустите make снова.")]


def test_soft_hyphens_go() -> None:
    assert _blocks("<p>пере\u00adнос</p>") == [(BlockKind.PARAGRAPH, "перенос")]


def test_text_between_blocks_is_not_lost() -> None:
    assert [text for _, text in _blocks("начало<p>а</p>середина<list><item>б</item></list>конец")] == [
        *("начало", "а", "середина", "- б", "конец"),
    ]

"""Markdown as people write it."""

from datetime import UTC, datetime

import pytest

from ingestion.parsers.markdown import parse_markdown
from ingestion.records import Block, BlockKind, Document


def _parse(text: str) -> Document:
    return parse_markdown(text, name="заметки.md")


def _kinds(document: Document) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in document.blocks]


def _only(text: str) -> Block:
    (block,) = _parse(text).blocks
    return block


def test_headings_have_levels_and_blocks_stand_under_them() -> None:
    document = _parse("# A\n\n## B\n\ntext\n\n# C\n\nmore")
    assert [(block.level, block.locator.headings) for block in document.blocks] == [
        (1, ()),
        (2, ("A",)),
        (None, ("A", "B")),
        (1, ()),
        (None, ("C",)),
    ]


def test_code_keeps_its_lines() -> None:
    assert _kinds(_parse("```py\n  a = 1\n\n  b = 2\n```")) == [("code", "  a = 1\n\n  b = 2")]


def test_a_table_becomes_rows() -> None:
    block = _only("| a | b |\n|---|:-:|\n| **1** | `x\\|y` |")
    assert (block.kind, block.text) == (BlockKind.TABLE, "| a | b |\n| --- | --- |\n| 1 | `x\\|y` |")


def test_lists_keep_bullets_numbers_and_depth() -> None:
    block = _only("3. three\n4. four\n   - inner\n     second line\n\n   more of four")
    assert block.kind is BlockKind.LIST
    assert block.text == "3. three\n4. four\n  - inner second line\n  more of four"


def test_code_inside_a_list_stands_between_its_items() -> None:
    assert _kinds(_parse("1. one\n\n   ```\n   run\n   ```\n2. two")) == [
        ("list", "1. one"),
        ("code", "run"),
        ("list", "2. two"),
    ]


INLINE = [
    ("**bold** and *it* ~~old~~", "bold and it old"),
    ("see [the docs](https://x.org/d) now", "see the docs (https://x.org/d) now"),
    ("see [below](#part) now", "see below now"),
    ("<https://x.org>", "https://x.org"),
    ("![a cat](cat.png) sits", "a cat sits"),
    ("run `ls -l` <b>now</b>", "run `ls -l` now"),
    ("soft\nwrap, hard  \nbreak", "soft wrap, hard\nbreak"),
    ("a &amp; b \\* c", "a & b * c"),
    ("{linkto(../a#b)[text=пошаговой инструкции]} тут", "пошаговой инструкции тут"),
]


@pytest.mark.parametrize(("markdown", "text"), INLINE)
def test_inline_marks_become_readable(markdown: str, text: str) -> None:
    assert _only(markdown).text == text


def test_html_blocks_give_their_words_only() -> None:
    assert _only("<div>\n<script>alert(1)</script>\n<p>Слова &amp; дела</p>\n<!-- no --></div>").text == "Слова & дела"


def test_front_matter_names_title_author_and_date() -> None:
    document = _parse('---\ntitle: "Он: \\"да\\""\nauthor: Анна\ndate: 2024-05-01\ntags: [a]\n---\n\n# H\n\ntext')
    assert (document.title, document.author) == ('Он: "да"', "Анна")
    assert document.published_at == datetime(2024, 5, 1, tzinfo=UTC)
    assert _kinds(document) == [("heading", "H"), ("paragraph", "text")]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert _kinds(_parse("---\n\ntext\n\n---\n\nmore")) == [("paragraph", "text"), ("paragraph", "more")]


def test_the_first_heading_is_the_title() -> None:
    assert _parse("text\n\n## Второй уровень").title == "Второй уровень"


def test_code_does_not_decide_the_language() -> None:
    assert _parse("Это текст.\n\n```\n" + "the of and to in is that\n" * 50 + "```").language == "ru"

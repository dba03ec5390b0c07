"""Markdown as people write it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingestion.parsers import encodings, markdown
from ingestion.parsers.markdown import parse, parse_markdown
from ingestion.records import Block, BlockKind, Document

BLOCKS = (
    "# Договор\n\nСтрока первая\nи вторая [правила][r].\n\n",
    "Подзаголовок\n---\n\n> цитата\nпродолжение цитаты\n\n",
    "```py\n# не заголовок\n\n- не список\n```\n\n",
    "3. три\n4. четыре\n   - внутри\n\n   ещё о четырёх\n\n",
    "    отступ\n\n    ещё код\n\n<div>\n<p>Слова</p>\n</div>\n\n",
    "<!-- заметка\n\n# не заголовок\n\n-->\n\nПосле заметки.\n\n",
    "Последнее слово, см. [оплату][r].\n\n[r]: https://e.org/rules 'Правила'\n",
)


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


def test_a_table_in_html_is_a_table() -> None:
    rows = "<table>\n<tr><td>Срок</td><td>Пеня</td></tr>\n<tr><td>5 дней</td><td>100</td></tr>\n</table>"
    assert _kinds(_parse(rows)) == [("table", "| Срок | Пеня |\n| --- | --- |\n| 5 дней | 100 |")]


@pytest.mark.parametrize("begin", ["<select>", "<div>\n<template>", "<!DOCTYPE html>", "<!-->", "<Tab />", "\ud800"])
def test_a_tag_without_an_end_hides_nothing(begin: str) -> None:
    assert _kinds(_parse(f"{begin}\n\n# H\n\ntext"))[-2:] == [("heading", "H"), ("paragraph", "text")]


def test_a_comment_without_an_end_is_text() -> None:
    assert _kinds(_parse("<!-- one\n\ntwo")) == [("paragraph", "<!-- one two")]


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


@pytest.fixture(params=[1, 7, 40, 120])
def portions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "PORTION_CHARS", request.param)
    monkeypatch.setattr(markdown, "LONGEST_PORTION_CHARS", 600)


def _told(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parse_markdown(text, name="a.md").blocks]


WHOLE = {text: _told(text) for text in ("".join(BLOCKS), "".join(reversed(BLOCKS)))}


@pytest.mark.usefixtures("portions")
@pytest.mark.parametrize("text", WHOLE)
def test_portions_are_read_as_the_whole_is(text: str) -> None:
    lines = [line for _, block in _told(text) for line in block.split("\n")]
    assert lines == [line for _, block in WHOLE[text] for line in block.split("\n")]


@pytest.mark.usefixtures("portions")
def test_an_address_that_is_said_at_the_end_is_known_from_the_start() -> None:
    assert _told("".join(BLOCKS))[1] == ("paragraph", "Строка первая и вторая правила (https://e.org/rules).")


@pytest.mark.usefixtures("portions")
def test_each_piece_of_a_long_table_names_its_columns() -> None:
    tables = [text for _, text in _told("| Срок | Пеня |\n| --- | --- |\n" + "| 5 дней | 100 |\n" * 50)]
    assert all(table.startswith("| Срок | Пеня |\n| --- | --- |\n| 5 дней") for table in tables)
    assert sum(table.count("5 дней") for table in tables) == 50


def test_a_paragraph_without_end_is_cut_at_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "PORTION_CHARS", 100)
    monkeypatch.setattr(markdown, "LONGEST_PORTION_CHARS", 200)
    told = _told("слово за словом\n" * 100)
    assert len(told) > 1
    assert " ".join(text for _, text in told) == " ".join(["слово за словом"] * 100)


def test_a_line_that_comes_in_pieces_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "LONGEST_LINE_CHARS", 100_000)
    path = tmp_path / "a.md"
    path.write_text("слово" * 50_000, encoding="utf-8")
    blocks = parse(path, "a.md").blocks
    assert "".join(block.text for block in blocks) == "слово" * 50_000


def test_a_file_may_end_with_a_template_mark(tmp_path: Path) -> None:
    """Two of six FAQ pages of VK Cloud end with {/cut} and were called damaged."""
    path = tmp_path / "a.md"
    path.write_text("{cut(Какой срок?)}\n\nСрок 14 дней.\n\n{/cut}", encoding="utf-8")
    blocks = parse(path, "a.md").blocks
    assert "Срок 14 дней." in [block.text for block in blocks]

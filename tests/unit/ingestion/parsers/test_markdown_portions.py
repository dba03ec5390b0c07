"""Long Markdown, portion by portion: the same document as in one piece."""

from pathlib import Path

import pytest

from ingestion.parsers import encodings, markdown_portions
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.markdown import parse, parse_markdown

BLOCKS = (
    "# Договор\n\nСтрока первая\nи вторая [правила][r].\n\n",
    "Подзаголовок\n---\n\n> цитата\nпродолжение цитаты\n\n",
    "```py\n# не заголовок\n\n- не список\n```\n\n",
    "3. три\n4. четыре\n   - внутри\n\n   ещё о четырёх\n\n",
    "    отступ\n\n    ещё код\n\n<div>\n<p>Слова</p>\n</div>\n\n",
    "<!-- заметка\n\n# не заголовок\n\n-->\n\nПосле заметки.\n\n",
    "Последнее слово, см. [оплату][r].\n\n[r]: https://e.org/rules 'Правила'\n",
)


@pytest.fixture(params=[1, 7, 40, 120])
def portions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown_portions, "PORTION_CHARS", request.param)


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
def test_a_long_list_counts_on() -> None:
    lines = [line for _, text in _told("1. пункт\n" * 50) for line in text.split("\n")]
    assert lines == [f"{number}. пункт" for number in range(1, 51)]


@pytest.mark.usefixtures("portions")
def test_each_piece_of_a_long_table_names_its_columns() -> None:
    tables = [text for _, text in _told("| Срок | Пеня |\n| --- | --- |\n" + "| 5 дней | 100 |\n" * 50)]
    assert all(table.startswith("| Срок | Пеня |\n| --- | --- |\n| 5 дней") for table in tables)
    assert sum(table.count("5 дней") for table in tables) == 50


def test_a_paragraph_without_end_is_cut_at_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown_portions, "PORTION_CHARS", 100)
    monkeypatch.setattr(markdown_portions, "LONGEST_PARAGRAPH_CHARS", 200)
    told = _told("слово за словом\n" * 100)
    assert len(told) > 1
    assert " ".join(text for _, text in told) == " ".join(["слово за словом"] * 100)


def test_a_line_that_comes_in_pieces_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "LONGEST_LINE_CHARS", 100_000)
    path = tmp_path / "a.md"
    path.write_text("слово" * 50_000, encoding="utf-8")
    blocks = parse(path, FileInfo(name="a.md", kind=FileKind.TEXT, media_type=None)).blocks
    assert "".join(block.text for block in blocks) == "слово" * 50_000

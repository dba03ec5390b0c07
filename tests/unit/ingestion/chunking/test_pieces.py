"""What is never cut, and what is cut as a last resort."""

import pytest
from hypothesis import given

from ingestion.chunking.pieces import (
    SPLITTERS,
    cut_to_fit,
    find_header,
    row_locator,
    split_cells,
    split_clauses,
)
from ingestion.chunking.windows import HUNDREDTHS, weigh_text
from ingestion.records import Block, BlockKind, Document
from tests.unit.ingestion.chunking.documents import DOCUMENTS, cut_document, document_of, document_text, table

LIMIT_TOKENS = 16


def _texts(document: Document, tokens: int = LIMIT_TOKENS) -> list[str]:
    return [piece.text for piece in cut_document(document, piece_tokens=tokens)]


def test_a_paragraph_is_cut_into_sentences() -> None:
    assert _texts(document_of("Раз. Два! Три?")) == ["Раз.", "Два!", "Три?"]


def test_a_table_is_cut_between_rows() -> None:
    table = document_of("| a | b |\n| - | - |\n| 1 | 2 |", kind=BlockKind.TABLE)
    assert _texts(table, 40) == ["| a | b |\n| - | - |", "| 1 | 2 |"]


def test_a_list_is_cut_between_items_and_an_item_keeps_its_lines() -> None:
    items = document_of("- one\n  more of one\n- two\n  1. inner", kind=BlockKind.LIST)
    assert _texts(items) == ["- one\n  more of one", "- two", "1. inner"]


def test_code_that_fits_stays_whole() -> None:
    assert _texts(document_of("def f():\n    return 1", kind=BlockKind.CODE)) == ["def f():\n    return 1"]


def test_code_that_is_too_large_is_cut_between_lines() -> None:
    code = document_of("value = function(argument)\n" * 3, kind=BlockKind.CODE)
    assert _texts(code) == ["value = function(argument)"] * 3


def test_a_sentence_that_is_too_large_is_cut_between_words() -> None:
    assert _texts(document_of("слово " * 20)) == ["слово"] * 20


@given(DOCUMENTS)
def test_pieces_fit_and_leave_out_only_whitespace(document: Document) -> None:
    text = document_text(document)
    position = 0
    for piece in cut_document(document, piece_tokens=LIMIT_TOKENS):
        assert piece.before == text[position : piece.start]
        assert not piece.before.strip()
        assert text.startswith(piece.text, piece.start)
        assert piece.weight == weigh_text(piece.text) <= LIMIT_TOKENS * HUNDREDTHS
        assert piece.above == weigh_text(text[: piece.start])
        position = piece.start + len(piece.text)
    assert not text[position:].strip()


def _cut(text: str, kind: BlockKind, tokens: int) -> list[str]:
    spans = list(cut_to_fit(text, (0, len(text)), SPLITTERS[kind], tokens * HUNDREDTHS))
    assert all(weight == weigh_text(text[start:end]) for start, end, weight in spans)
    return [text[start:end] for start, end, _ in spans]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("купили хлеб, молоко; ушли", ["купили хлеб,", "молоко;", "ушли"]),
        ("в 3,5 раза, до 12:30", ["в 3,5 раза,", "до 12:30"]),
        ("上海。北京，天津", ["上海。", "北京，", "天津"]),
    ],
)
def test_clauses_end_at_their_marks(text: str, clauses: list[str]) -> None:
    assert [text[start:end] for start, end in split_clauses(text)] == clauses


def test_cells_keep_escaped_strokes() -> None:
    row = "| один \\| два | три |"
    assert [row[start:end] for start, end in split_cells(row)] == ["| один \\| два", "| три |"]


def test_a_sentence_without_end_is_cut_between_clauses() -> None:
    clause = "он шёл и шёл и всё никак не мог дойти,"
    assert _cut(" ".join([clause] * 3), BlockKind.PARAGRAPH, 20) == [clause] * 3


def test_a_row_that_is_too_large_is_cut_between_cells() -> None:
    cell = "| значение одной клетки"
    assert _cut(f"{cell} {cell} {cell}", BlockKind.TABLE, 12) == [cell] * 3


def test_a_word_that_is_too_large_is_cut_all_the_same() -> None:
    parts = _cut("a" * 1000, BlockKind.CODE, 16)
    assert "".join(parts) == "a" * 1000
    assert len(parts) > 10


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("| a | b |\n| --- | :-: |\n| 1 | 2 |", "| a | b |\n| --- | :-: |"),
        ("| a |\n|---|", "| a |\n|---|"),
        ("Prices\n(in thousands)\n| a |\n|---|\n| 1 |", "Prices\n(in thousands)\n| a |\n|---|"),
        ("| a | b |\n| 1 | 2 |", None),
        ("| a | b |\n| --- | x |", None),
    ],
)
def test_a_header_has_a_rule_under_it(text: str, header: str | None) -> None:
    found = find_header(Block(kind=BlockKind.TABLE, text=text))
    assert (text[slice(*found)] if found else None) == header


@pytest.mark.parametrize(
    ("row", "row_end", "expected"),
    [
        (2, 4, [2, 2, 3, 4]),  # the rows under the header
        (1, 4, [1, 2, 3, 4]),  # the header too
        (1, 9, [1, 1, 1, 1]),  # rows were left out: only the range is known
        (None, None, [None] * 4),
    ],
)
def test_rows_are_counted_as_their_program_does(
    row: int | None, row_end: int | None, expected: list[int | None]
) -> None:
    block = table(3, row=row, row_end=row_end)
    assert [row_locator(block, number, rows=4, has_header=True).row for number in range(4)] == expected

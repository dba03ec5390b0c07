"""How what is larger than a passage is cut further: at cells, clauses, words, and only then anywhere."""

import pytest

from ingestion.chunking.cutting import SPLITTERS, cut_to_fit, split_cells, split_clauses
from ingestion.chunking.tokens import HUNDREDTHS, weigh_text
from ingestion.records import BlockKind


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

"""Passages: their size, their borders, what they repeat and where they say they stand."""

import time
from dataclasses import replace
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.locator import Locator
from ingestion.chunking.chunker import cut_chunks, join_locators, must_part
from ingestion.chunking.pieces import find_header
from ingestion.chunking.windows import estimate_tokens
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind, Document
from tests.unit.ingestion.chunking.documents import (
    DOCUMENTS,
    chunk_document,
    cut_document,
    document_of,
    document_text,
    heading,
    paragraph,
    table,
)

SENTENCE = "Это предложение стоит примерно десять знаков токена. "  # about 16 tokens
BUDGETS = st.tuples(st.integers(16, 80), st.integers(0, 15))


def _chunk_texts(document: Document, chunk: int, overlap: int = 0) -> list[str]:
    return [passage.text for passage in chunk_document(document, chunk_tokens=chunk, overlap_tokens=overlap)]


@given(DOCUMENTS, BUDGETS)
def test_nothing_but_whitespace_is_lost(document: Document, budgets: tuple[int, int]) -> None:
    text, covered = document_text(document), 0
    for chunk in chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1]):
        assert not text[covered : max(covered, chunk.span.start)].strip()
        assert chunk.span.end > covered
        covered = chunk.span.end
    assert not text[covered:].strip()


@given(DOCUMENTS, BUDGETS)
def test_a_document_read_block_by_block_is_cut_alike(document: Document, budgets: tuple[int, int]) -> None:
    whole = chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1])
    with patch("ingestion.chunking.chunker.STRETCH_PIECES", 1):
        assert chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1]) == whole


def test_blocks_are_read_as_passages_are_asked_for() -> None:
    blocks = iter([paragraph(SENTENCE * 100)] * 1000)
    next(cut_chunks(blocks, chunk_tokens=60, overlap_tokens=10))
    assert len(list(blocks)) > 900


@given(DOCUMENTS, BUDGETS)
def test_a_chunk_is_what_its_span_points_at(document: Document, budgets: tuple[int, int]) -> None:
    text = document_text(document)
    chunks = chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1])
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.text.endswith(text[chunk.span.start : chunk.span.end]) for chunk in chunks)
    assert all(left.span.start < right.span.start for left, right in pairwise(chunks))


@given(DOCUMENTS, BUDGETS)
def test_only_a_tables_header_is_put_before_a_chunk(document: Document, budgets: tuple[int, int]) -> None:
    headers = {block.text[: header[1]] for block in document.blocks if (header := find_header(block)) is not None}
    for chunk in chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1]):
        before = chunk.text[: len(chunk.text) - (chunk.span.end - chunk.span.start)]
        assert before == "" or before.removesuffix("\n") in headers


@given(DOCUMENTS, BUDGETS)
def test_no_chunk_spans_two_files_or_slides(document: Document, budgets: tuple[int, int]) -> None:
    offset = 0
    chunks = chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1])
    for block in document.blocks:
        end = offset + len(block.text)
        inside = [
            chunk for chunk in chunks if chunk.span.start < end and chunk.span.end > offset and block.text.strip()
        ]
        assert all(chunk.locator.member == block.locator.member for chunk in inside)
        assert all(block.locator.slide in (None, chunk.locator.slide) for chunk in inside)
        offset = end + len(BLOCK_SEPARATOR)


@given(DOCUMENTS, BUDGETS)
def test_nothing_that_fits_is_cut(document: Document, budgets: tuple[int, int]) -> None:
    whole = [piece for piece in cut_document(document, piece_tokens=budgets[0]) if piece.whole]
    borders = chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1])
    starts = {chunk.span.start for chunk in borders}
    ends = {chunk.span.end for chunk in borders}
    for piece in whole:
        assert not any(piece.start < border < piece.start + len(piece.text) for border in starts | ends)


@given(DOCUMENTS, BUDGETS)
def test_no_chunk_is_over_the_budget(document: Document, budgets: tuple[int, int]) -> None:
    chunks = chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1])
    assert all(estimate_tokens(chunk.text) <= budgets[0] for chunk in chunks)


@given(DOCUMENTS, BUDGETS)
def test_overlap_stays_within_its_budget(document: Document, budgets: tuple[int, int]) -> None:
    text = document_text(document)
    chunks = chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1])
    for left, right in pairwise(chunks):
        assert estimate_tokens(text[right.span.start : left.span.end]) <= budgets[1]


@given(DOCUMENTS, BUDGETS)
def test_the_same_document_gives_the_same_chunks(document: Document, budgets: tuple[int, int]) -> None:
    first = chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1])
    assert first == chunk_document(document, chunk_tokens=budgets[0], overlap_tokens=budgets[1])


def test_short_paragraphs_share_a_chunk() -> None:
    assert _chunk_texts(document_of("Раз.", "Два."), 40) == ["Раз.\n\nДва."]


def test_overlap_repeats_whole_sentences() -> None:
    chunks = chunk_document(document_of(SENTENCE * 6), chunk_tokens=50, overlap_tokens=20)
    assert len(chunks) > 2
    assert all(chunk.text.startswith("Это") and chunk.text.endswith(".") for chunk in chunks)
    assert chunks[1].span.start < chunks[0].span.end


def test_a_heading_opens_the_passage_of_its_text() -> None:
    document = Document(title="t", blocks=(paragraph(SENTENCE * 3), heading("Глава"), paragraph(SENTENCE, "Глава")))
    assert _chunk_texts(document, 64)[-1] == f"Глава\n\n{SENTENCE.strip()}"


def test_a_heading_never_ends_a_passage() -> None:
    blocks = (paragraph("Начало."), heading("Глава"), paragraph(SENTENCE, "Глава"))
    assert _chunk_texts(Document(title="t", blocks=blocks), 20) == ["Начало.", f"Глава\n\n{SENTENCE.strip()}"]


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        (("Монтаж",), "Начало."),
        (("Итого.",), "Начало.\n\nИтого."),  # a sentence
        (("Вектор", "Москва"), "Начало.\n\nВектор\n\nМосква"),  # an address
    ],
)
def test_a_line_like_a_heading_never_ends_a_passage(lines: tuple[str, ...], first: str) -> None:
    blocks = (paragraph("Начало."), *map(paragraph, lines), paragraph(SENTENCE))
    assert _chunk_texts(Document(title="t", blocks=blocks), 20)[0] == first


def test_a_passage_stands_under_its_heading() -> None:
    document = Document(title="t", blocks=(heading("А"), heading("Б", "А", level=2), paragraph("Текст.", "А", "Б")))
    (chunk,) = chunk_document(document, chunk_tokens=40, overlap_tokens=0)
    assert chunk.locator.headings == ("А",)


def test_short_sections_in_one_passage_name_what_they_share() -> None:
    blocks = (heading("Б", "А"), paragraph("Раз.", "А", "Б"), heading("В", "А"), paragraph("Два.", "А", "В"))
    (chunk,) = chunk_document(Document(title="t", blocks=blocks), chunk_tokens=80, overlap_tokens=0)
    assert chunk.locator.headings == ("А",)


def test_pages_run_from_the_first_piece_to_the_last() -> None:
    document = Document(title="t", blocks=(paragraph("Раз.", page=3), paragraph("Два.", page=4)))
    (chunk,) = chunk_document(document, chunk_tokens=40, overlap_tokens=0)
    assert (chunk.locator.page, chunk.locator.page_end) == (3, 4)


def test_seconds_run_from_the_first_piece_to_the_last() -> None:
    blocks = tuple(
        Block(kind=BlockKind.PARAGRAPH, text=f"Фраза {n}.", locator=Locator(start_s=n * 2.0, end_s=n * 2.0 + 2))
        for n in range(3)
    )
    (chunk,) = chunk_document(Document(title="t", blocks=blocks), chunk_tokens=60, overlap_tokens=0)
    assert (chunk.locator.start_s, chunk.locator.end_s) == (0.0, 6.0)


def test_a_passage_ends_between_paragraphs_when_it_is_full_enough() -> None:
    document = document_of(SENTENCE * 3, SENTENCE * 3)
    assert _chunk_texts(document, 70) == [(SENTENCE * 3).strip()] * 2


def test_what_announces_a_list_goes_with_it() -> None:
    blocks = (paragraph(SENTENCE * 3 + "Вот что нужно:"), Block(kind=BlockKind.LIST, text="- паспорт\n- заявление"))
    assert _chunk_texts(Document(title="t", blocks=blocks), 58)[-1] == "Вот что нужно:\n\n- паспорт\n- заявление"


def test_headings_without_any_text_share_passages() -> None:
    document = Document(title="t", blocks=tuple(heading(f"Глава {number}") for number in range(40)))
    assert len(_chunk_texts(document, 60)) < 10


def test_a_long_table_repeats_its_header() -> None:
    chunks = chunk_document(Document(title="t", blocks=(table(20),)), chunk_tokens=60, overlap_tokens=10)
    assert len(chunks) > 2
    assert all(chunk.text.startswith("| Товар | Цена |\n| --- | --- |\n| Стол ") for chunk in chunks)


def test_a_header_that_would_fill_the_passage_is_not_repeated() -> None:
    chunks = _chunk_texts(Document(title="t", blocks=(table(20),)), 24)
    assert all(not text.startswith("| Товар") for text in chunks[1:])


def test_of_the_lines_above_a_header_those_next_to_it_are_repeated_as_far_as_they_fit() -> None:
    rows = table(20)
    named = replace(
        rows,
        text=f"Цены на мебель из дуба, сосны и берёзы со склада в Твери и в Рыбинске на Волге\n(в рублях)\n{rows.text}",
    )
    chunks = _chunk_texts(Document(title="t", blocks=(named,)), 60)
    assert all(text.startswith("(в рублях)\n| Товар | Цена |") for text in chunks[1:])


def test_rows_are_counted_under_the_header() -> None:
    document = Document(title="t", blocks=(table(20, row=2, row_end=21),))
    rows = [chunk.locator for chunk in chunk_document(document, chunk_tokens=60, overlap_tokens=0)]
    assert (rows[0].row, rows[-1].row_end) == (2, 21)
    assert all((left.row_end or 0) + 1 == right.row for left, right in pairwise(rows))


def test_sheets_share_no_passage() -> None:
    blocks = tuple(
        block for sheet in ("Май", "Июнь") for block in (heading(sheet), table(1, row=1, row_end=2, sheet=sheet))
    )
    chunks = chunk_document(Document(title="t", blocks=blocks), chunk_tokens=300, overlap_tokens=40)
    assert [chunk.locator.headings for chunk in chunks] == [("Май",), ("Июнь",)]


def test_table_rows_stay_whole() -> None:
    rows = [f"| строка {number} | значение |" for number in range(12)]
    chunks = _chunk_texts(document_of("\n".join(rows), kind=BlockKind.TABLE), 40)
    assert [row for chunk in chunks for row in chunk.split("\n")] == rows


def test_a_megabyte_takes_seconds() -> None:
    document = document_of(*[SENTENCE * 20] * 600)  # 1.1 MB; quadratic cost would take minutes
    started = time.process_time()
    chunk_document(document, chunk_tokens=300, overlap_tokens=40)
    assert time.process_time() - started < 8


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Locator(member="а.txt"), Locator(member="б.txt")),
        (Locator(), Locator(member="б.txt")),
        (Locator(url="https://a.example/1"), Locator(url="https://a.example/2")),
        (Locator(slide=1), Locator(slide=2)),
        (Locator(row=9, headings=("Май",)), Locator(headings=("Июнь",))),
    ],
)
def test_no_passage_spans_two_places(before: Locator, after: Locator) -> None:
    assert must_part(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Locator(page=1), Locator(page=2)),
        (Locator(), Locator(slide=1)),  # a caption and the first slide
        (Locator(headings=("Май",)), Locator(row=1, headings=("Май",))),
        (Locator(start_s=0.0, end_s=2.0), Locator(start_s=2.0, end_s=4.0)),
    ],
)
def test_what_goes_on_may_share_a_passage(before: Locator, after: Locator) -> None:
    assert not must_part(before, after)


def test_rows_pages_and_seconds_run_from_the_first_to_the_last() -> None:
    parts = [Locator(row=2, page=1, start_s=1.0, end_s=2.0), Locator(row=5, row_end=7, page=3, start_s=2.0, end_s=9.0)]
    joined = join_locators(parts, own=parts)
    assert joined == Locator(row=2, row_end=7, page=1, page_end=3, start_s=1.0, end_s=9.0)


def test_file_page_and_slide_stay_known() -> None:
    place = Locator(member="а.zip/б.pptx", url="https://a.example", slide=3)
    assert join_locators([place, place], own=[place]) == place

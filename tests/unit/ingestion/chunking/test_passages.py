"""Passages of a long document, read back from a file, are those that were cut."""

from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from domain.locator import Locator
from ingestion import spool
from ingestion.chunking.passages import (
    CHUNKS,
    Passages,
    PassageSizes,
    Windows,
    checked_passages,
    cut_passages,
    in_windows,
    passage_lines,
    read_chunks,
)
from ingestion.chunking.windows import WindowPlace
from ingestion.records import Chunk, Document
from ingestion.spool import Spool, Spooled
from sandbox.records import from_line
from tests.unit.ingestion.chunking.documents import DOCUMENTS, chunk_document, document_of, paragraph

SIZES = PassageSizes(chunk_tokens=40, overlap_tokens=10, window_tokens=300)
OF_A_BOOK = PassageSizes(chunk_tokens=300, overlap_tokens=50, window_tokens=3_000)


def chunks_of(document: Document, sizes: PassageSizes) -> tuple[Chunk, ...]:
    return chunk_document(document, chunk_tokens=sizes.chunk_tokens, overlap_tokens=sizes.overlap_tokens)


def through_lines(document: Document, sizes: PassageSizes, folder: Path) -> Passages:
    spool, ordinals = Spool(folder, CHUNKS), count()
    *batches, last = passage_lines(document.blocks, sizes)
    for line in batches:
        spool.add(read_chunks(line, ordinals), line)
    return checked_passages(spool.finish(), from_line(last, Windows))


@given(DOCUMENTS)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_windows_are_those_of_the_chunks(document: Document) -> None:
    chunks = chunks_of(document, SIZES)
    assert cut_passages(document.blocks, SIZES) == in_windows(chunks, window_tokens=SIZES.window_tokens)


@pytest.fixture
def held_bytes(monkeypatch: pytest.MonkeyPatch) -> int:
    """A hundredth of what is held otherwise: a book has nine pages."""
    few = spool.HELD_BYTES // 100
    monkeypatch.setattr(spool, "HELD_BYTES", few)
    return few


def test_a_book_comes_back_from_its_file_as_it_was(tmp_path: Path, held_bytes: int) -> None:
    words = "Плата вносится до пятого числа. " * 40
    blocks = tuple(paragraph(f"{number}. {words}", "Договор", page=number + 1) for number in range(40))
    document = Document(title="t", blocks=blocks)
    chunks = chunks_of(document, OF_A_BOOK)
    passages = through_lines(document, OF_A_BOOK, tmp_path)
    windows = tuple(map(passages.window, passages.windows))
    assert sum(len(chunk.text) for chunk in chunks) > held_bytes
    assert isinstance(passages.chunks, Spooled)
    assert tuple(passages.chunks) == chunks
    of_chunks = in_windows(chunks, window_tokens=OF_A_BOOK.window_tokens)
    assert windows == tuple(map(of_chunks.window, of_chunks.windows))


@pytest.mark.usefixtures("held_bytes")
def test_half_a_character_does_not_stop_a_book(tmp_path: Path) -> None:
    passages = through_lines(document_of("\ud800" + "слово. " * 3_000), OF_A_BOOK, tmp_path)
    assert isinstance(passages.chunks, Spooled)
    assert (passages.chunks[0].text[0], passages.chunks[0].locator) == ("?", Locator())


@given(DOCUMENTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_passages_that_come_in_lines_are_those_that_were_cut(tmp_path: Path, document: Document) -> None:
    assert through_lines(document, SIZES, tmp_path) == cut_passages(document.blocks, SIZES)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[1]",
        b"[[0, 1, 0, 1, {}]]",
        b'[[0, "a", 0, 1, []]]',
        b'[[1, "a", 0, 1, {}]]',
        b'[[0, "a", "0", 1, {}]]',
        b"[" * 100_000,
    ],
    ids=lambda line: line[:20].decode(),
)
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of json or of ours
        assert read_chunks(line, count())


@pytest.mark.parametrize("places", [(), ((0, 0, 1, 1), (0, 1, 3, 3)), ((0, 0, 1, 1),), ((0, 0, 1, 1), (0, 0, 2, 2))])
def test_windows_without_each_passage_once_are_refused(places: tuple[tuple[int, ...], ...]) -> None:
    chunks = cut_passages((paragraph("Плата. " * 30), paragraph("Срок. " * 30)), SIZES).chunks[:2]
    windows = Windows(places=tuple(WindowPlace(start=a, own=b, end=c, reach=d) for a, b, c, d in places))
    with pytest.raises(ValueError, match="windows"):
        checked_passages(chunks, windows)

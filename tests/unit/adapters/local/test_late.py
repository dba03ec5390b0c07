"""The text of a window, and where in it its chunks stand."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.local.late import window_text
from domain.locator import Locator
from ingestion.chunking.chunker import chunk_document
from ingestion.records import Chunk, Document, Span
from tests.unit.ingestion.chunking.documents import DOCUMENTS, table


def chunk(text: str, start: int, *headings: str, length: int | None = None) -> Chunk:
    """`length`: of the document's own text, at the end of `text`."""
    span = Span(start=start, end=start + (len(text) if length is None else length))
    return Chunk(ordinal=0, text=text, span=span, locator=Locator(headings=headings))


def _spans(*chunks: Chunk) -> list[str]:
    text, spans = window_text(chunks)
    return [text[start:end].strip() for start, end in spans]


def test_what_two_chunks_share_stands_there_once() -> None:
    chunks = chunk("Раз. Два.", 0), chunk("Два. Три.", 5)
    assert window_text(chunks)[0].strip() == "Раз. Два.\n Три."
    assert _spans(*chunks) == ["Раз. Два.", "Два.\n Три."]


def test_headings_that_a_chunk_does_not_name_come_before_what_it_alone_has() -> None:
    chunks = chunk("Глава\n\nРаз.", 0, "Глава"), chunk("Два.", 13, "Глава")
    assert _spans(*chunks) == ["Глава\n\nРаз.", "Глава\nДва."]


def test_a_repeated_table_header_is_part_of_its_chunk() -> None:
    chunks = chunk_document(Document(title="t", blocks=(table(20),)), chunk_tokens=60, overlap_tokens=0)
    assert _spans(*chunks) == [chunk.text for chunk in chunks]


@given(DOCUMENTS, st.integers(16, 60), st.integers(0, 15))
def test_each_chunk_finds_its_own_words(document: Document, budget: int, overlap: int) -> None:
    chunks = chunk_document(document, chunk_tokens=budget, overlap_tokens=overlap)
    if not chunks:
        return
    text, spans = window_text(chunks)
    for each, (start, end) in zip(chunks, spans, strict=True):
        assert "".join(each.text.split()[-1:]) in text[start:end]
        assert sorted(set(each.text) - set(text[start:end])) <= [" "]

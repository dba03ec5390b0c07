"""Windows for tests of embedders, from texts alone."""

from domain.locator import Locator
from ingestion.records import Chunk, Span, Window


def window_of(*texts: str, own: tuple[int, int] | None = None) -> Window:
    """A window of these chunks; all are its own unless `own` says from where to where."""
    start, end = own or (0, len(texts))
    chunks = tuple(
        Chunk(ordinal=ordinal, text=text, span=Span(start=0, end=len(text)), locator=Locator())
        for ordinal, text in enumerate(texts)
    )
    return Window(chunks=chunks, own_start=start, own_end=end)

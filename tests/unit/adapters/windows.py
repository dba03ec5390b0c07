"""Windows for tests of embedders, from texts alone."""

from domain.locator import Locator
from ingestion.records import BLOCK_SEPARATOR, Chunk, Span, Window


def window_of(*texts: str, own: tuple[int, int] | None = None) -> Window:
    """A window of these chunks; all are its own unless `own` says from where to where."""
    start, end = own or (0, len(texts))
    chunks: list[Chunk] = []
    offset = 0
    for ordinal, text in enumerate(texts):
        span = Span(start=offset, end=offset + len(text))
        chunks.append(Chunk(ordinal=ordinal, text=text, span=span, locator=Locator()))
        offset = span.end + len(BLOCK_SEPARATOR)
    return Window(chunks=tuple(chunks), own_start=start, own_end=end)

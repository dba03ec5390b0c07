"""All passages of one document, and the windows in which they are embedded.

In: chunks as they are cut. Out: `Passages`; a long document's chunks are in a file (`ingestion.spool`), and each window
is read when it is needed. It cuts and embeds nothing.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import orjson

from domain.documents import opening_line
from domain.locator import Locator
from ingestion.chunking.chunker import cut_chunks
from ingestion.chunking.windows import WindowPlace, cost_of, plan_windows
from ingestion.records import Block, Chunk, Span, Window
from ingestion.spool import Joined, Writing, in_portions
from sandbox.records import array_line, to_line

BATCH_CHUNKS = 64  # about 70 kB at the default chunk size: a millisecond to read


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Chunks by ordinal, and the places of the windows."""

    chunks: Sequence[Chunk]
    windows: Sequence[WindowPlace]

    def window(self, place: WindowPlace) -> Window:
        """The window at a place of `windows`."""
        return Window(
            chunks=tuple(self.chunks[place.start : place.reach]),
            own_start=place.own - place.start,
            own_end=place.end - place.start,
            line=self._line,
        )

    @cached_property
    def _line(self) -> str:
        """Kept: looking at the first chunk for each window would read its batch again and again."""
        return opening_line(self.chunks[0].text)


@dataclass(frozen=True, kw_only=True)
class PassageSizes:
    """In tokens."""

    chunk_tokens: int
    overlap_tokens: int
    window_tokens: int


class CutBlocks(Joined[Block]):
    """Blocks of a document with the passages of these sizes that the process which read it has cut them into. Whoever
    makes other blocks of them has no passages."""

    def __init__(self, blocks: Sequence[Block], passages: Passages, sizes: PassageSizes) -> None:
        super().__init__((blocks,))
        self.passages = passages
        self.sizes = sizes


def cut_passages(blocks: Iterable[Block], sizes: PassageSizes) -> Passages:
    """All passages of a short text, in memory."""
    chunks = tuple(cut_chunks(blocks, chunk_tokens=sizes.chunk_tokens, overlap_tokens=sizes.overlap_tokens))
    return in_windows(chunks, window_tokens=sizes.window_tokens)


def in_windows(chunks: Sequence[Chunk], *, window_tokens: int) -> Passages:
    """All chunks of a document with their windows."""
    places = plan_windows([cost_of(chunk) for chunk in chunks], window_tokens=window_tokens)
    return Passages(chunks=chunks, windows=tuple(places))


@dataclass(frozen=True, kw_only=True)
class Windows:
    """What follows the last chunk in `passage_lines`."""

    places: tuple[WindowPlace, ...]


def passage_lines(blocks: Iterable[Block], sizes: PassageSizes) -> Iterator[bytes]:
    """Those of any text as lines, for another process: batches of chunks, and `Windows` last."""
    chunks = cut_chunks(blocks, chunk_tokens=sizes.chunk_tokens, overlap_tokens=sizes.overlap_tokens)
    costs = array("l")
    for batch in in_portions(chunks, lambda _: 1, limit=BATCH_CHUNKS):
        costs.extend(map(cost_of, batch))
        yield _write(batch)
    yield to_line(Windows(places=tuple(plan_windows(costs, window_tokens=sizes.window_tokens))))


def _write(chunks: Sequence[Chunk]) -> bytes:
    return array_line(
        [[chunk.ordinal, chunk.text, chunk.span.start, chunk.span.end, chunk.locator.to_json()] for chunk in chunks]
    )


def _read(written: bytes) -> list[Chunk]:
    return [
        Chunk(ordinal=ordinal, text=text, span=Span(start=start, end=end), locator=Locator.from_json(locator))
        for ordinal, text, start, end, locator in orjson.loads(written)
    ]


CHUNKS = Writing(write=_write, read=_read, size=lambda chunk: len(chunk.text))


def read_chunks(line: bytes, ordinals: Iterator[int]) -> list[Chunk]:
    """A line of chunks from a process that is trusted in nothing; they have the next ordinals. Raises ValueError."""
    try:
        chunks = _read(line)
    except (AttributeError, TypeError, RecursionError) as error:
        raise ValueError("not passages of ours") from error
    for chunk in chunks:
        types = type(chunk.text), type(chunk.span.start), type(chunk.span.end)
        if types != (str, int, int) or chunk.ordinal != next(ordinals):
            raise ValueError("not a passage of ours")
    return chunks


def checked_passages(chunks: Sequence[Chunk], windows: Windows) -> Passages:
    """Raises ValueError unless each passage is some window's own, once, in order."""
    own = 0
    for place in windows.places:
        if not 0 <= place.start <= place.own == own < place.end <= place.reach <= len(chunks):
            raise ValueError("not windows of ours")
        own = place.end
    if own != len(chunks):
        raise ValueError("not windows of ours")
    return Passages(chunks=chunks, windows=windows.places)

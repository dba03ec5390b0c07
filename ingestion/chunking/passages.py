"""All passages of one document, and the windows in which they are embedded.

In: chunks as they are cut. Out: `Passages`; a long document's chunks are in a file (`ingestion.spool`), and each window
is read when it is needed. It cuts and embeds nothing.
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import orjson

from domain.documents import opening_line
from domain.locator import Locator
from ingestion.chunking.chunker import cut_chunks
from ingestion.chunking.windows import WindowPlace, cost_of, plan_windows
from ingestion.records import Block, Chunk, Span, Window
from ingestion.spool import Joined, Spool, Writing, in_portions

BATCH_CHUNKS = 64  # about 70 kB at the default chunk size: a millisecond to read


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Chunks by ordinal, and the places of the windows."""

    chunks: Sequence[Chunk]
    windows: Sequence[WindowPlace]

    def window(self, place: WindowPlace) -> Window:
        """The window at a place of `windows`."""
        return place.window(self.chunks, line=self._line)

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
    windows = plan_windows([cost_of(chunk) for chunk in chunks], window_tokens=sizes.window_tokens)
    return Passages(chunks=chunks, windows=tuple(windows))


def passage_lines(blocks: Iterable[Block], sizes: PassageSizes) -> Iterator[bytes]:
    """Those of any text as lines, for another process: batches of chunks, and the windows last."""
    chunks = cut_chunks(blocks, chunk_tokens=sizes.chunk_tokens, overlap_tokens=sizes.overlap_tokens)
    costs = array("l")
    for batch in in_portions(chunks, lambda _: 1, limit=BATCH_CHUNKS):
        costs.extend(map(cost_of, batch))
        yield _write(batch) + b"\n"
    places = plan_windows(costs, window_tokens=sizes.window_tokens)
    windows = [[place.start, place.own, place.end, place.reach] for place in places]
    yield json.dumps({"windows": windows}).encode() + b"\n"


class PassageLines:
    """Rebuilds passages line by line; those of a long document are in a file. It trusts nothing: see `add`."""

    def __init__(self, folder: Path) -> None:
        self._spool = Spool(folder, WRITING)
        self._count = 0

    def add(self, line: bytes) -> Passages | None:
        """The passages at the last line. Raises ValueError for what is no line of ours, OSError."""
        try:
            if line.startswith(b"["):
                self._add(_read(line), line)
                return None
            places = [WindowPlace(start=a, own=b, end=c, reach=d) for a, b, c, d in json.loads(line)["windows"]]
        except (KeyError, TypeError, RecursionError) as error:
            raise ValueError("not passages of ours") from error
        own = 0
        for place in places:  # each passage is some window's own, once, in order
            if not 0 <= place.start <= place.own == own < place.end <= place.reach <= self._count:
                raise ValueError("not windows of ours")
            own = place.end
        if own != self._count:
            raise ValueError("not windows of ours")
        return Passages(chunks=self._spool.finish(), windows=tuple(places))

    def _add(self, chunks: Sequence[Chunk], line: bytes) -> None:
        for chunk in chunks:
            types = type(chunk.text), type(chunk.span.start), type(chunk.span.end)
            if types != (str, int, int) or chunk.ordinal != self._count:
                raise ValueError("not a passage of ours")
            self._count += 1
        self._spool.add(chunks, size=sum(len(chunk.text) for chunk in chunks), written=line)


def _write(chunks: Sequence[Chunk]) -> bytes:
    rows = [[chunk.ordinal, chunk.text, chunk.span.start, chunk.span.end, chunk.locator.to_json()] for chunk in chunks]
    try:
        return orjson.dumps(rows)
    except TypeError:  # a lone surrogate
        return json.dumps(rows, ensure_ascii=False).encode(errors="surrogatepass")


def _read(written: bytes) -> list[Chunk]:
    try:
        rows = orjson.loads(written)
    except ValueError:  # a lone surrogate
        rows = json.loads(written.decode(errors="surrogatepass"))
    return [
        Chunk(ordinal=ordinal, text=text, span=Span(start=start, end=end), locator=Locator.from_json(locator))
        for ordinal, text, start, end, locator in rows
    ]


WRITING = Writing(write=_write, read=_read)

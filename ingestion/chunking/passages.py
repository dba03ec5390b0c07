"""All passages of one document, and the windows in which they are embedded.

In: chunks as they are cut. Out: `Passages`; a long document's chunks are in a file (`ingestion.spool`), and each window
is read when it is needed. It cuts and embeds nothing.
"""

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.locator import Locator
from domain.portions import in_portions
from ingestion.chunking.windows import WindowPlace, cost_of, plan_windows
from ingestion.records import Chunk, Span
from ingestion.spool import Spool, Writing

BATCH_CHUNKS = 64  # about 70 kB at the default chunk size: a millisecond to read


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Chunks by ordinal, and the places of the windows."""

    chunks: Sequence[Chunk]
    windows: Sequence[WindowPlace]


def gather_passages(chunks: Iterable[Chunk], *, window_tokens: int, folder: Path) -> Passages:
    """Spool the chunks, to `folder` if there are many, and plan the windows. Raises OSError."""
    spool = Spool(folder, WRITING)
    costs = array("l")
    for batch in in_portions(chunks, lambda _: 1, limit=BATCH_CHUNKS):
        costs.extend(map(cost_of, batch))
        spool.add(batch, size=sum(len(chunk.text) for chunk in batch))
    return Passages(chunks=spool.finish(), windows=tuple(plan_windows(costs, window_tokens=window_tokens)))


def _write(chunks: Sequence[Chunk]) -> bytes:
    rows = [[chunk.ordinal, chunk.text, chunk.span.start, chunk.span.end, chunk.locator.to_json()] for chunk in chunks]
    return json.dumps(rows, ensure_ascii=False).encode(errors="surrogatepass")


def _read(written: bytes) -> list[Chunk]:
    return [
        Chunk(ordinal=ordinal, text=text, span=Span(start=start, end=end), locator=Locator.from_json(locator))
        for ordinal, text, start, end, locator in json.loads(written.decode(errors="surrogatepass"))
    ]


WRITING = Writing(write=_write, read=_read)

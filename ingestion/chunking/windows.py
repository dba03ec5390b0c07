"""Groups neighbouring passages of one document into windows that are embedded together (late chunking).

In: the chunks of one document. Out: windows within a budget; every chunk gets its vector in exactly one of them, and
the chunks around it give context. It calls no embedder: a window that a service refuses goes through `split_window`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.chunking.tokens import estimate_tokens
from ingestion.errors import WindowTooLarge
from ingestion.records import Chunk, Window

CONTEXT_CHUNKS = 2
"""Neighbours on each side that are embedded again as context, if they fit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowPlace:
    """Ordinals of chunks: the window is [start, reach), its own chunks are [own, end)."""

    start: int
    own: int
    end: int
    reach: int

    def window(self, chunks: Sequence[Chunk]) -> Window:
        """The window over `chunks`, which are all chunks of the document."""
        return Window(
            chunks=tuple(chunks[self.start : self.reach]),
            own_start=self.own - self.start,
            own_end=self.end - self.start,
        )


def split_into_windows(
    chunks: Sequence[Chunk], *, window_tokens: int, context_chunks: int = CONTEXT_CHUNKS
) -> tuple[Window, ...]:
    """Windows in order; see `plan_windows`."""
    costs = [cost_of(chunk) for chunk in chunks]
    return tuple(
        place.window(chunks)
        for place in plan_windows(costs, window_tokens=window_tokens, context_chunks=context_chunks)
    )


def cost_of(chunk: Chunk) -> int:
    """Estimated tokens that the chunk takes in a window."""
    return estimate_tokens(chunk.text_under_headings)


def plan_windows(
    costs: Sequence[int], *, window_tokens: int, context_chunks: int = CONTEXT_CHUNKS
) -> Iterator[WindowPlace]:
    """Windows for chunks of these costs, in order, of at most `window_tokens`; a larger chunk is alone."""
    own = 0
    while own < len(costs):
        start = _reach_back(costs, own, own + 1, budget=window_tokens, context=context_chunks)
        end = _fill(costs, start, own, budget=window_tokens, context=context_chunks)
        reach = _reach_forward(costs, start, end, budget=window_tokens, context=context_chunks)
        yield WindowPlace(start=start, own=own, end=end, reach=reach)
        own = end


def split_window(window: Window) -> tuple[Window, ...]:
    """The same own chunks in smaller windows: two halves, or a single own chunk without its context.

    Raises WindowTooLarge when the window is a single chunk already.
    """
    chunks = window.chunks
    if len(window.own) > 1:
        middle = (window.own_start + window.own_end) // 2
        left = Window(chunks=chunks[:middle], own_start=window.own_start, own_end=middle)
        right = Window(chunks=chunks[middle:], own_start=0, own_end=window.own_end - middle)
        return left, right
    if len(chunks) > 1:
        return (Window(chunks=window.own, own_start=0, own_end=1),)
    message = f"chunk {chunks[0].ordinal} is refused even alone"
    raise WindowTooLarge(message)


def _fill(costs: Sequence[int], start: int, own: int, *, budget: int, context: int) -> int:
    """The end of the own chunks: at least one, then as many as leave room for the context after them."""
    end = own + 1
    used = sum(costs[start:end])
    while end < len(costs) and used + sum(costs[end : end + 1 + context]) <= budget:
        used += costs[end]
        end += 1
    return end


def _reach_back(costs: Sequence[int], own: int, end: int, *, budget: int, context: int) -> int:
    """The start of the context before, given that the chunks up to `end` must fit."""
    start, used = own, sum(costs[own:end])
    while start > max(0, own - context) and used + costs[start - 1] <= budget:
        start -= 1
        used += costs[start]
    return start


def _reach_forward(costs: Sequence[int], start: int, end: int, *, budget: int, context: int) -> int:
    """The end of the context after the own chunks."""
    reach, used = end, sum(costs[start:end])
    while reach < min(len(costs), end + context) and used + costs[reach] <= budget:
        used += costs[reach]
        reach += 1
    return reach

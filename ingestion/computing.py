"""Decides where and when a computation runs: long ones in a thread, and one ahead of its consumer.

In: computations. Out: their results. A hop to a thread and back costs about as much as splitting a note does, and `baza
eval retrieval` adds thousands of notes at once; so short computations run in the event loop.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator
from typing import TypeVar

SHORT_CHARS = 5_000  # a few milliseconds of chunking or analysing; a Telegram message holds 4096

T = TypeVar("T")


async def compute(work: Callable[[], T], *, characters: int) -> T:
    """The result of `work`, which is pure and takes time in proportion to `characters`."""
    return work() if characters <= SHORT_CHARS else await asyncio.to_thread(work)


async def one_ahead(works: Iterable[Coroutine[None, None, T]]) -> AsyncGenerator[T, None]:
    """The results in order. While the consumer uses one, the next is being computed, and no more than that.

    Raises what the works raise. Close the generator (`aclosing`) to cancel the work it has started.
    """
    waiting = iter(works)
    begun = _begin(waiting)
    try:
        while begun is not None:
            made = await begun
            begun = _begin(waiting)
            yield made
    finally:
        if begun is not None:
            begun.cancel()
            await asyncio.gather(begun, return_exceptions=True)


def _begin(waiting: Iterator[Coroutine[None, None, T]]) -> asyncio.Task[T] | None:
    work = next(waiting, None)
    return None if work is None else asyncio.create_task(work)

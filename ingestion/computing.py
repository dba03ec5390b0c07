"""Where and when a computation runs: in a thread when others would notice it, and before its result is asked for.

In: computations. Out: their results. A hop to a thread and back costs about as much as splitting a note does, and
thousands of notes are added at once (`baza eval retrieval`); so short ones run in the event loop.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator
from typing import TypeVar

SHORT_CHARS = 5_000  # a few milliseconds of chunking or analysing; a message of Telegram holds 4096

T = TypeVar("T")


async def compute(work: Callable[[], T], *, characters: int) -> T:
    """The result of `work`, which is pure and takes time in proportion to `characters`."""
    return work() if characters <= SHORT_CHARS else await asyncio.to_thread(work)


async def one_ahead(works: Iterable[Coroutine[None, None, T]]) -> AsyncGenerator[T, None]:
    """The results in order; while one is used the next is being made, and none after it. Raises what the works raise.

    Close it (`aclosing`): what it has begun is then cancelled.
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

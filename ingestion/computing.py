"""Where a computation runs: in the event loop when it is short, in a thread when others would notice.

In: a computation and how long a text it is about. Out: its result. A hop to a thread and back costs about as much as
splitting a note does, and thousands of notes are added at once (`baza eval retrieval`).
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

SHORT_CHARS = 5_000  # a few milliseconds of chunking or analysing; a message of Telegram holds 4096

T = TypeVar("T")


async def compute(work: Callable[[], T], *, characters: int) -> T:
    """The result of `work`, which is pure and takes time in proportion to `characters`."""
    return work() if characters <= SHORT_CHARS else await asyncio.to_thread(work)

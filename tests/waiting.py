"""Waiting for what happens beside a test, for as long as a machine that is busy with other things may need.

In: a condition. Out: nothing, or TimeoutError. A test that would look after a fixed pause instead fails now and then,
where many processes share two cores.
"""

import asyncio
from collections.abc import Callable

LIMIT_S = 60.0  # only a test that fails takes so long
LOOK_EVERY_S = 0.005


async def until(condition: Callable[[], object], *, limit_s: float = LIMIT_S) -> None:
    """Return as soon as `condition` holds. Raises TimeoutError when it never does."""
    async with asyncio.timeout(limit_s):
        while not condition():
            await asyncio.sleep(LOOK_EVERY_S)

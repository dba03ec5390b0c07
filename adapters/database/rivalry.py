"""Retries a call that PostgreSQL rolled back because of a concurrent one (a deadlock).

In: a call. Out: its rows, from whichever try succeeded. Any other error goes to the caller: a call that may have been
carried out is never sent twice.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from adapters.database.errors import RolledBack
from adapters.database.transport import Row

PAUSES_S: Sequence[float] = (0.01, 0.1)  # at most, before the second and the third try: the rival can finish meanwhile


async def retried(call: Callable[[], Awaitable[list[Row]]]) -> list[Row]:
    """What `call` returns. Raises what it raises; RolledBack when every try was rolled back."""
    for pause_s in PAUSES_S:
        with suppress(RolledBack):
            return await call()
        await asyncio.sleep(pause_s * random.random())  # noqa: S311 - parts rivals, guards nothing
    return await call()

"""A call that PostgreSQL undid for a rival's sake (a deadlock) is made again.

In: a call. Out: its rows, whichever try brought them. Any other trouble is its caller's: what may have been done is
never sent twice.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from adapters.database.errors import RolledBack
from adapters.database.transport import Row

PAUSES_S: Sequence[float] = (0.01, 0.1)  # at most, before the second and the third try: the rival ends meanwhile


async def made_again(call: Callable[[], Awaitable[list[Row]]]) -> list[Row]:
    """What `call` returns. Raises as it does: RolledBack when that was the end of all tries."""
    for pause_s in PAUSES_S:
        with suppress(RolledBack):
            return await call()
        await asyncio.sleep(pause_s * random.random())  # noqa: S311 - parts rivals, guards nothing
    return await call()

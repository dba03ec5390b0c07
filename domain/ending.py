"""Ends tasks of the event loop, for every package that runs some.

In: tasks. Out: they have ended. It starts none and reads no results.
"""

import asyncio
from typing import Any

AGAIN_S = 10.0  # longer than psycopg takes to tidy up after a cancellation, which a second one would interrupt


async def end(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel the tasks and wait until they have ended; their exceptions are dropped.

    One that goes on is cancelled again: before Python 3.12 `asyncio.wait_for` loses a cancellation that comes together
    with what it waits for (CPython issue 86296), and psycopg's pool waits so for a connection. A task that loops
    forever would then never end, nor would the process.
    """
    running = set(tasks)
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=AGAIN_S)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it

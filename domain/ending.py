"""Ends tasks of the event loop, for every package that runs some.

In: tasks, or coroutines that belong together. Out: they have ended, whatever happens.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

AGAIN_S = 10.0  # longer than psycopg takes to tidy up after a cancellation, which a second one would interrupt


async def end(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel the tasks and wait until they have ended; their exceptions are dropped. One that goes on is cancelled
    again: before Python 3.12 `asyncio.wait_for` loses a cancellation that comes together with what it waits for
    (CPython issue 86296), and psycopg's pool waits so for a connection."""
    running = set(tasks)
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=AGAIN_S)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it


async def together(*work: Coroutine[Any, Any, Result]) -> list[Result]:
    """What the coroutines return, run side by side; when one raises, or this is cancelled, all are ended first."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await end(*tasks)

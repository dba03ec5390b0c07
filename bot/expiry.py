"""Removes temporary documents («Только прочитать сейчас») when their day is over.

In: the library of all bases, and a clock. Out: expired documents removed, a second after the minute that was shown. It
runs beside the worker, not as the worker's upkeep, which waits until nothing is being read. The expiry of a document
is set when it arrives, to the minute.
"""

import asyncio
import time
from contextlib import suppress

import structlog

from adapters.database.errors import DatabaseError
from bot.ports import Library
from domain.errors import DatabaseAway

LOOK_EVERY_S = 60.0
LATE_S = 1.0  # after the full minute: the database's clock may be slightly behind ours

log = structlog.get_logger()


async def remove_expired(library: Library, stop: asyncio.Event, *, every_s: float = LOOK_EVERY_S) -> None:
    """Look now and every `every_s` seconds until `stop`. After a database error the next look tries again."""
    while not stop.is_set():
        try:
            if removed := await library.remove_expired():
                log.info("documents_expired", count=removed)
        except (DatabaseAway, DatabaseError) as error:
            log.warning("expiry_failed", reason=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), next_look_in_s(time.time(), every_s=every_s))


def next_look_in_s(now: float, *, every_s: float) -> float:
    """Seconds from `now` (Unix time) to `LATE_S` after the next multiple of `every_s` (60: the next full minute)."""
    return every_s - (now - LATE_S) % every_s

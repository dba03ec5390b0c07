"""Removes what was sent to be read now («Только прочитать сейчас») when its day is over.

In: the library of all bases, and a clock. Out: documents that are gone, a second after the minute that was shown. It
runs beside the worker and not as its upkeep, which waits until nothing is being read. When a document leaves is set
when it comes, to the minute.
"""

import asyncio
import time
from contextlib import suppress

import structlog

from adapters.database.errors import DatabaseError
from bot.ports import Library
from domain.errors import DatabaseAway

LOOK_EVERY_S = 60.0
LATE_S = 1.0  # after the full minute: the database's clock may be a little behind this one

log = structlog.get_logger()


async def remove_leaving(library: Library, stop: asyncio.Event, *, every_s: float = LOOK_EVERY_S) -> None:
    """Look now and every so many seconds until `stop`; a database that is away or refuses is asked again then."""
    while not stop.is_set():
        try:
            if removed := await library.remove_leaving():
                log.info("documents_left", count=removed)
        except (DatabaseAway, DatabaseError) as error:
            log.warning("leaving_failed", reason=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), next_look_in_s(time.time(), every_s=every_s))


def next_look_in_s(now: float, *, every_s: float) -> float:
    """Seconds from `now` (Unix time) to `LATE_S` after the next full minute, or whatever `every_s` is."""
    return every_s - (now - LATE_S) % every_s

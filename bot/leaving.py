"""Removes what was sent to be read now («Только прочитать сейчас») when its day is over.

In: the library of all bases, and a clock. Out: documents that are gone, at most a minute late. It runs beside the
worker and not as its upkeep, which waits until nothing is being read. When a document leaves is set when it comes.
"""

import asyncio
from contextlib import suppress

import structlog

from adapters.database.errors import DatabaseError
from bot.ports import Library
from domain.errors import DatabaseAway

LOOK_EVERY_S = 60.0

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
            await asyncio.wait_for(stop.wait(), every_s)

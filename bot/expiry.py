"""Removes what has had its time: temporary documents («Только прочитать сейчас»), kept files without a document.

In: the stores of all bases, and a clock. Out: expired documents removed, a second after the minute that was shown, and
the files of removed documents. It runs beside the worker, not as the worker's upkeep, which waits until nothing is
being read. The expiry of a document is set when it arrives, to the minute.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from adapters.database.stores.library import KeptFileStore
from adapters.database.transport import DatabaseError
from adapters.kept_files import FolderFiles, SupabaseFiles
from bot.ports import Library
from domain.errors import DatabaseAway
from ingestion.errors import ServiceError

LOOK_EVERY_S = 60.0
FILES_AT_ONCE = 100
LATE_S = 1.0  # after the full minute: the database's clock may be slightly behind ours

log = structlog.get_logger()


async def remove_expired(
    library: Library,
    stop: asyncio.Event,
    *,
    also: Callable[[], Awaitable[None]] | None = None,
    every_s: float = LOOK_EVERY_S,
) -> None:
    """Look now and every `every_s` seconds until `stop`, and do what is to be done `also`. After an error the next look
    tries again."""
    while not stop.is_set():
        try:
            if removed := await library.remove_expired():
                log.info("documents_expired", count=removed)
            if also:
                await also()
        except (DatabaseAway, DatabaseError, ServiceError) as error:
            log.warning("expiry_failed", reason=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), next_look_in_s(time.time(), every_s=every_s))


async def remove_files(listed: KeptFileStore, stored: FolderFiles | SupabaseFiles) -> None:
    """Remove the files that no document has, first the bytes, then the row: a crash between leaves the row. The answers
    to requests with an Idempotency-Key go after a day."""
    while files := await listed.release(FILES_AT_ONCE):
        await stored.remove(files)
        await listed.forget([file for _, file in files])
        log.info("files_removed", count=len(files))
    await listed.forget_additions()


def next_look_in_s(now: float, *, every_s: float) -> float:
    """Seconds from `now` (Unix time) to `LATE_S` after the next multiple of `every_s` (60: the next full minute)."""
    return every_s - (now - LATE_S) % every_s

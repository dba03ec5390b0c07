"""A process that uses the embedded database of a home, for tests of sharing.

Run: python -m tests.servers.embedded_process HOME. Out: one line, the URL or `refused: <sentence>`. In: it leaves the
database when its standard input ends.
"""

import asyncio
import sys
from pathlib import Path

import structlog

from adapters.database.embedded import EmbeddedDatabaseError, embedded_database


async def _use(home: Path) -> None:
    async with embedded_database(home) as url:
        print(url, flush=True)  # noqa: T201 - the answer to the test
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        asyncio.run(_use(Path(sys.argv[1])))
    except EmbeddedDatabaseError as refusal:
        print(f"refused: {refusal}", flush=True)  # noqa: T201 - the answer to the test

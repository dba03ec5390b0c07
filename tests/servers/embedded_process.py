"""A process that uses the embedded database of a home, for tests of sharing.

import asyncio
import sys
from pathlib import Path

from adapters.database.embedded import EmbeddedDatabaseError, embedded_database


async def _use(home: Path) -> None:
    async with embedded_database(home) as url:
        print(url, flush=True)  # noqa: T201 - the answer to the test
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    try:
        asyncio.run(_use(Path(sys.argv[1])))
    except EmbeddedDatabaseError as refusal:
        print(f"refused: {refusal}", flush=True)  # noqa: T201 - the answer to the test

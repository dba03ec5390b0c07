"""The reader that files made to break it are given to, kept over all tests of a module as a worker keeps its own.

Modules that read with other limits or programs define a `reader` of their own, which hides this one.
"""

from collections.abc import AsyncIterator

import pytest_asyncio

from ingestion.reading.reader import FileReader
from tests.integration.ingestion.hostile_reading import open_reader


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader() -> AsyncIterator[FileReader]:
    async with open_reader() as opened:
        yield opened

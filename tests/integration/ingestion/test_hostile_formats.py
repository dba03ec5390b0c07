"""Files made by hand to break readers, one for each way that is known: all end within 60 s and 1 GB, as a document or
with a reason, reach nothing outside, and the next file is read.

In: the makers of `hostile_packages` and `hostile_pages`. Out: assertions about outcomes, times, memory, connections.
"""

import os
import zipfile
from pathlib import Path

import pytest
import structlog

from ingestion.reading.reader import FileReader
from tests.integration.ingestion import hostile_packages, hostile_pages
from tests.integration.ingestion.hostile_packages import MARK
from tests.integration.ingestion.hostile_reading import Reading, fetched, read, written

UNREADABLE = frozenset(
    {
        *("many.zip", "itself.zip", "quine.zip", "overlap.zip", "hidden.zip", "second.zip"),
        *("bomb.png", "bomb.tiff", "bomb.bmp", "frames.tiff"),
    }
)
"""Those of which nothing may be read; the others may end in either way."""


async def _read_and_go_on(reader: FileReader, path: Path) -> Reading:
    """The file, and then a good one: the worker is as it was."""
    reading = await read(reader, fetched(path))
    structlog.get_logger().info(
        "hostile_file_read",
        file=path.name,
        outcome=reading.outcome,
        seconds=round(reading.seconds, 1),
        peak_mb=round(reading.peak_mb),
    )
    after = await read(reader, written(path.with_name("good.txt"), MARK.encode()))
    assert after.words == MARK
    return reading


@pytest.mark.asyncio(loop_scope="module")
async def test_an_archive_that_holds_itself_is_opened_a_few_times_only(reader: FileReader, tmp_path: Path) -> None:
    path = tmp_path / "quine.zip"
    hostile_packages.FILES["quine.zip"](path)
    with zipfile.ZipFile(path) as archive:
        assert [archive.read(name) for name in archive.namelist()] == [path.read_bytes()]
    assert (await read(reader, fetched(path))).outcome == "file-archive-empty"


@pytest.mark.parametrize("name", [*hostile_packages.FILES, *hostile_pages.FILES])
@pytest.mark.asyncio(loop_scope="module")
async def test_a_hostile_file_ends_within_its_limits(reader: FileReader, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    (hostile_packages.FILES | hostile_pages.FILES)[name](path)
    reading = await _read_and_go_on(reader, path)
    assert reading.outcome != "read" or name not in UNREADABLE
    assert set(os.listdir(tmp_path)) == {name, "good.txt"}

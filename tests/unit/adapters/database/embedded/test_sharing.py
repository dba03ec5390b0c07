"""Who watches over a shared server goes on watching."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.database import embedded
from adapters.database.embedded import shared


async def test_a_look_that_fails_once_does_not_end_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a free file descriptor it cannot look; a server that dies later must be started all the same."""
    monkeypatch.setattr(embedded, "_WATCH_S", 0.01)
    looks: Iterator[OSError | bool] = iter([OSError("too many open files"), False])
    starts: list[str] = []
    started_again = asyncio.Event()
    loop = asyncio.get_running_loop()

    def runs() -> bool:
        look = next(looks, True)
        if isinstance(look, OSError):
            raise look
        return look

    def start() -> str:
        starts.append("started")
        if len(starts) > 1:
            loop.call_soon_threadsafe(started_again.set)
        return "address"

    async with asyncio.timeout(30), shared(tmp_path, start=start, runs=runs, stop=lambda: None):
        await started_again.wait()
    assert len(starts) == 2

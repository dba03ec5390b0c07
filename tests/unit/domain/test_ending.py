"""Tasks end, also those that lose a cancellation."""

import asyncio

import pytest

from domain import ending
from domain.ending import end


async def forever() -> None:
    while True:
        await asyncio.sleep(60)


async def test_all_tasks_end_and_their_errors_are_dropped() -> None:
    async def fail() -> None:
        raise ValueError

    tasks = asyncio.create_task(forever()), asyncio.create_task(fail())
    await asyncio.sleep(0)
    await end(*tasks)
    assert tasks[0].cancelled()
    assert tasks[1].done()


async def test_a_task_that_loses_a_cancellation_is_cancelled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "AGAIN_S", 0.01)

    async def lose_the_first() -> None:
        try:
            await forever()
        except asyncio.CancelledError:  # as `asyncio.wait_for` did before Python 3.12
            await forever()

    task = asyncio.create_task(lose_the_first())
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await end(task)
    assert task.cancelled()


async def test_nothing_to_end_is_no_error() -> None:
    await end()

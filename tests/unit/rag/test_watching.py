"""The latest state of something that is being worked on."""

import asyncio

from rag.watching import Latest


async def _watch(latest: Latest[int], task: "asyncio.Task[None]") -> list[int]:
    return [state async for state in latest.until(task)]


async def test_states_are_seen_in_order_and_the_last_one_always() -> None:
    latest = Latest[int]()

    async def work() -> None:
        for state in range(5):
            latest.put(state)
            await asyncio.sleep(0.001)
        latest.put(5)

    seen = await _watch(latest, asyncio.create_task(work()))
    assert seen == sorted(set(seen))
    assert seen[-1] == 5


async def test_what_nobody_could_look_at_in_time_is_skipped() -> None:
    latest = Latest[int]()

    async def work() -> None:
        for state in range(100):
            latest.put(state)

    assert await _watch(latest, asyncio.create_task(work())) == [99]


async def test_something_that_shows_nothing_just_ends() -> None:
    assert await _watch(Latest[int](), asyncio.create_task(asyncio.sleep(0))) == []

"""The latest state of something that is being worked on, and breaking it off."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from rag.ports import ModelAway
from rag.progress import BrokenOff, Latest, unless_set, until_set


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


async def _endless(left: list[str]) -> AsyncGenerator[int, None]:
    try:
        yield 1
        await asyncio.Event().wait()
    finally:
        left.append("closed")


async def test_items_end_where_the_signal_came_and_their_source_is_closed() -> None:
    stop, left = asyncio.Event(), list[str]()
    items = until_set(stop, _endless(left))
    assert await anext(items) == 1
    stop.set()
    with pytest.raises(BrokenOff):
        await anext(items)
    assert left == ["closed"]


async def test_a_reader_who_is_cancelled_is_cancelled_and_nothing_else() -> None:
    stop, left = asyncio.Event(), list[str]()

    async def read() -> None:
        async with aclosing(until_set(stop, _endless(left))) as items:
            async for _ in items:
                pass

    reading = asyncio.create_task(read())
    await asyncio.sleep(0.01)
    stop.set()
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert left == ["closed"]


async def test_a_reader_who_leaves_early_closes_the_source() -> None:
    left = list[str]()
    async with aclosing(until_set(asyncio.Event(), _endless(left))) as items:
        await anext(items)
    assert left == ["closed"]


async def test_a_source_is_not_begun_when_the_signal_was_there_before() -> None:
    stop, left = asyncio.Event(), list[str]()
    stop.set()
    with pytest.raises(BrokenOff):
        await anext(until_set(stop, _endless(left)))
    assert left == []


async def test_what_a_source_raises_comes_after_its_items() -> None:
    async def broken() -> AsyncGenerator[int, None]:
        yield 1
        raise ModelAway("broken")

    items = until_set(asyncio.Event(), broken())
    assert await anext(items) == 1
    with pytest.raises(ModelAway):
        await anext(items)


async def test_work_is_cancelled_by_the_signal_and_returns_without_it() -> None:
    stop = asyncio.Event()
    assert await unless_set(stop, asyncio.sleep(0, "done")) == "done"
    asyncio.get_running_loop().call_soon(stop.set)
    with pytest.raises(BrokenOff):
        await unless_set(stop, asyncio.sleep(60))

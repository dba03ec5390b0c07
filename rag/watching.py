"""Looks on while something is worked on, and breaks it off when that is wished.

In: a task and states that it puts down; work or items that come one by one, and a signal to stop. Out: states, never
older ones after newer (one that nobody looked at in time is skipped); results and items until the signal.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any, Generic, TypeVar

State = TypeVar("State")
Item = TypeVar("Item")
Result = TypeVar("Result")


class BrokenOff(Exception):
    """The signal came before the end."""


async def end(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel them and wait until they are gone; what they raise is nobody's any more."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def unless_set(stop: asyncio.Event, work: Coroutine[Any, Any, Result]) -> Result:
    """What `work` returns or raises. Raises BrokenOff when `stop` was set before: then the work is cancelled."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise BrokenOff
        return working.result()
    finally:
        await end(working, stopping)


async def until_set(stop: asyncio.Event, items: AsyncIterator[Item]) -> AsyncGenerator[Item, None]:
    """The items as they come, and what their source raises. When `stop` is set the source is cancelled where it waits,
    so that a connection is closed at once, and BrokenOff is raised. The source is closed when the reader leaves."""
    wait = _Wait()
    stopping = asyncio.create_task(stop.wait())
    stopping.add_done_callback(lambda _: wait.break_off())
    try:
        while not stop.is_set():
            with wait:
                item = await anext(items)
            yield item
        raise BrokenOff
    except StopAsyncIteration:
        return
    finally:
        await end(stopping)
        if isinstance(items, AsyncGenerator):
            await items.aclose()


class _Wait:
    """Waiting that can be broken off from outside, again and again: what asyncio.timeout does for a limit of time, at a
    tenth of its price, since there is one for each piece of an answer."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None  # that waits now
        self._asked = 0  # how often somebody else wants that task to end
        self._broken = False

    def break_off(self) -> None:
        """Only while somebody waits; else nothing."""
        if self._task:
            self._broken = True
            self._task.cancel()

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._asked = self._task.cancelling() if self._task else 0

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        task, self._task = self._task, None
        if task and self._broken and task.uncancel() <= self._asked and kind is asyncio.CancelledError:
            raise BrokenOff from error


class Latest(Generic[State]):
    """Holds one state at a time."""

    def __init__(self) -> None:
        self._states: list[State] = []
        self._changed = asyncio.Event()

    def put(self, state: State) -> None:
        """In the place of the one before."""
        self._states = [state]
        self._changed.set()

    async def until(self, task: "asyncio.Task[Any]") -> AsyncGenerator[State, None]:
        """States while `task` runs, each once. What the task raises is raised by its own result."""
        while not task.done() or self._states:
            if not self._states:
                await self._wait(task)
            self._changed.clear()
            states, self._states = self._states, []
            for state in states:
                yield state

    async def _wait(self, task: "asyncio.Task[Any]") -> None:
        change = asyncio.create_task(self._changed.wait())
        try:
            await asyncio.wait({task, change}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end(change)

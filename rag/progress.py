"""The progress of a plan of several steps, as a person sees it; following running work, and cancelling it on a signal.

In: the state of an execution; a task and the states that it publishes, and a stop signal. Out: records for the live
list and for `baza ask --json`; states (one that nobody read in time is skipped), results and items until the signal.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from domain.ending import end
from domain.locator import JsonValue

State = TypeVar("State")
Item = TypeVar("Item")
Result = TypeVar("Result")


class StepState(StrEnum):
    """How far a step of a plan has come."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SHORT = "short"  # it found less than its success criterion asks
    FAILED = "failed"
    STOPPED = "stopped"  # cancelled, because the person pressed stop
    SKIPPED = "skipped"  # not needed any more, or no time for it


@dataclass(frozen=True, kw_only=True)
class StepShown:
    """A step as the person sees it."""

    id: str
    action: str
    about: str  # what is looked for, in the plan's words
    state: StepState
    done: int = 0  # documents read so far, for a step that reads them
    total: int = 0
    is_empty: bool = False  # the step has ended and found nothing

    def to_json(self) -> JsonValue:
        """As `baza ask --json` and the HTTP API tell it."""
        return {"id": self.id, "action": self.action, "about": self.about, "state": self.state.value}


class BrokenOff(Exception):
    """The stop signal came before the work ended."""


async def unless_set(stop: asyncio.Event, work: Coroutine[Any, Any, Result]) -> Result:
    """What `work` returns or raises. When `stop` is set before `work` ends, cancels `work` and raises BrokenOff."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise BrokenOff
        return working.result()
    finally:
        await end(working, stopping)


async def until_set(stop: asyncio.Event, items: AsyncIterator[Item]) -> AsyncGenerator[Item, None]:
    """The items as they come. When `stop` is set, their source is cancelled while it waits, so that a connection is
    closed at once, and BrokenOff is raised. The source is also closed when the reader leaves."""
    stopping, reading = asyncio.create_task(stop.wait()), asyncio.ensure_future(anext(items))
    try:
        while not stop.is_set():
            await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                yield reading.result()
                reading = asyncio.ensure_future(anext(items))
        raise BrokenOff
    except StopAsyncIteration:
        return
    finally:
        await end(reading, stopping)
        if isinstance(items, AsyncGenerator):
            await items.aclose()


class Latest(Generic[State]):
    """Holds the latest state only."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._changed = asyncio.Event()

    def put(self, state: State) -> None:
        """Replace the previous state."""
        self._state = state
        self._changed.set()

    async def until(self, task: "asyncio.Task[Any]") -> AsyncGenerator[State, None]:
        """States while `task` runs, each once. An exception of the task is left to `task.result()`."""
        task.add_done_callback(lambda _: self._changed.set())
        is_over = False
        while not is_over:
            await self._changed.wait()
            self._changed.clear()
            is_over, state, self._state = task.done(), self._state, None
            if state is not None:
                yield state

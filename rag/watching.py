"""Looks on while something is worked on: the latest state of it, as often as somebody can look.

In: a task, and states that it puts down. Out: states, never older ones after newer; then nothing, when the task has
ended. A state that nobody looked at in time is skipped.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Generic, TypeVar

State = TypeVar("State")


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
            change.cancel()
            await asyncio.gather(change, return_exceptions=True)

"""The inbox in memory."""

from collections import Counter
from collections.abc import Mapping
from typing import Any


class MemoryInboxKeeper:
    """Meets `bot.ports.InboxKeeper`; `waiting` are the updates that were not handled yet, `begun` what began again."""

    def __init__(self) -> None:
        self.waiting: dict[int, Mapping[str, Any]] = {}
        self._known: set[int] = set()
        self.begun: Counter[int] = Counter()

    async def receive(self, bot_id: int, update_id: int, payload: Mapping[str, Any]) -> bool:
        if update_id in self._known:
            return False
        self._known.add(update_id)
        self.waiting[update_id] = payload
        return True

    async def finish(self, bot_id: int, update_id: int) -> None:
        self.waiting.pop(update_id, None)

    async def unfinished(self, bot_id: int) -> list[Mapping[str, Any]]:
        return [self.waiting[number] for number in sorted(self.waiting)]

    async def begin_again(self, bot_id: int, update_id: int) -> int:
        self.begun[update_id] += 1
        return 1 + self.begun[update_id]

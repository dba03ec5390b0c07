"""The inbox in memory, for one process."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from adapters.database.stores.intake import InboxStore


class MemoryInboxKeeper(InboxStore):
    """`waiting` are the updates that were not handled yet, `begun` what began again,
    `held` what a process is handling: clear it, and the process has died."""

    def __init__(self) -> None:
        self.waiting: dict[int, Mapping[str, Any]] = {}
        self._known: set[int] = set()
        self.begun: Counter[int] = Counter()
        self.held: set[int] = set()

    def leave(self, number: int, payload: Mapping[str, Any]) -> None:
        """What a dead process left."""
        self._known.add(number)
        self.waiting[number] = payload

    async def receive(
        self, bot_id: int, update_id: int, payload: Mapping[str, Any], *, chat_id: int, holder: str, lease_s: float
    ) -> bool:
        if update_id in self._known:
            return False
        self.leave(update_id, payload)
        self.held.add(update_id)
        return True

    async def hold(
        self, bot_id: int, holder: str, held: Collection[int], *, lease_s: float, takes_more: bool
    ) -> Mapping[int, Mapping[str, Any] | None]:
        kept: dict[int, Mapping[str, Any] | None] = dict.fromkeys(self.held.intersection(held))
        if takes_more:
            kept |= {number: self.waiting[number] for number in sorted(self.waiting) if number not in self.held}
            self.held |= kept.keys()
        return kept

    async def begin(self, bot_id: int, update_id: int, holder: str) -> int | None:
        self.begun[update_id] += 1
        return 1 + self.begun[update_id]

    async def finish(self, bot_id: int, update_id: int) -> None:
        self.waiting.pop(update_id, None)
        self.held.discard(update_id)

    async def release(self, bot_id: int, holder: str) -> None:
        self.held.clear()

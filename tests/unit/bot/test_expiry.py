"""Documents leave when their day is over, whatever else goes on."""

import asyncio

import pytest

from adapters.database.transport import DatabaseError
from bot.serving import remove_expired
from domain.documents import SourceType
from domain.errors import DatabaseAway
from domain.ids import BaseId, UserId
from ingestion.records import Batch, Source
from tests.fakes.stores import FakeLibrary
from tests.waiting import until

ANNA = UserId(7)


class Troubled(FakeLibrary):
    """Its database refuses at first, then is away."""

    def __init__(self) -> None:
        super().__init__()
        self.troubles = [DatabaseAway("away"), DatabaseError("remove_expired", code="57014", message="too slow")]

    async def remove_expired(self) -> int:
        if self.troubles:
            raise self.troubles.pop()
        return await super().remove_expired()


def due() -> Batch:
    plan = Source(type=SourceType.FILE, identifier="План.docx", file_id="plan")
    return Batch(base_id=BaseId("base"), user_id=ANNA, ttl_s=0, sources=(plan,))


async def nothing() -> None:
    """What else is to be done."""


async def test_what_is_due_leaves_now_and_whenever_it_comes_to_be_until_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.serving.LOOK_EVERY_S", 0.01)
    library, stop = Troubled(), asyncio.Event()
    await library.enqueue(due())
    looking = asyncio.create_task(remove_expired(library, stop, also=nothing))
    await until(lambda: not library.sent)
    await library.enqueue(due())
    await until(lambda: not library.sent)
    stop.set()
    await asyncio.wait_for(looking, 5)

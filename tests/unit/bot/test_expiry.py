"""Documents leave when their day is over, whatever else goes on."""

import asyncio

from adapters.database.transport import DatabaseError
from bot.serving import next_look_in_s, remove_expired
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


async def test_what_is_due_leaves_now_and_whenever_it_comes_to_be_until_the_end() -> None:
    library, stop = Troubled(), asyncio.Event()
    await library.enqueue(due())
    looking = asyncio.create_task(remove_expired(library, stop, every_s=0.01))
    await until(lambda: not library.sent)
    await library.enqueue(due())
    await until(lambda: not library.sent)
    stop.set()
    await asyncio.wait_for(looking, 5)


def test_it_looks_a_second_after_every_full_minute() -> None:
    minute = 1_780_000_020.0
    assert minute % 60 == 0
    looks = [next_look_in_s(minute + seconds, every_s=60.0) for seconds in (0.0, 0.75, 1.0, 1.5, 59.0)]
    assert looks == [1.0, 0.25, 60.0, 59.5, 2.0]

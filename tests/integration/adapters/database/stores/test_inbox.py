"""The inbox over both transports: `InboxStore`."""

import psycopg
import pytest

from adapters.database.stores.intake import InboxStore
from adapters.database.transport import Transport
from tests.integration.adapters.database.stores.material import ask

BOT, OTHER_BOT = 7, 8
LEFT_BEHIND = """
with kept as (
  insert into inbox (bot_id, update_id, chat_id, payload, handled_at)
  select bot, number, 1, jsonb_build_object('update_id', number), case when number % 2 = 0 then now() end
  from generate_series(1, 4000) number, (values (7), (8)) as bots (bot)
  returning 1)
select count(*) from kept
"""

HANDLED = """
with kept as (
  insert into inbox (bot_id, update_id, chat_id, handled_at)
  select 7, number, 1, now() - interval '{hours} hours' from generate_series(1, 30000) number returning 1)
select count(*) from kept
"""
MOST_BLOCKS = 150  # of 30,000 rows all were 250 and more
BLOCKS_READ = b"explain (analyze, buffers, format json) select * from finish_update(7, 1)"


async def receive(inbox: InboxStore, number: int, holder: str = "one", *, chat: int = 1, lease_s: float = 60) -> bool:
    update = {"update_id": number, "message": {"text": "Привет"}}
    return await inbox.receive(BOT, number, update, chat_id=chat, holder=holder, lease_s=lease_s)


async def hold(inbox: InboxStore, holder: str, *held: int, lease_s: float = 60, takes_more: bool = True) -> list[int]:
    found = await inbox.hold(BOT, holder, held, lease_s=lease_s, takes_more=takes_more)
    assert [update["update_id"] for update in found.values() if update is not None] == [
        number for number in found if number not in held
    ]
    return list(found)


@pytest.mark.over_rest
async def test_an_update_is_kept_once_until_it_is_handled(transport: Transport) -> None:
    inbox = InboxStore(transport)
    assert [await receive(inbox, 5) for _ in range(2)] == [True, False]
    await inbox.release(BOT, "one")
    assert await hold(inbox, "two") == [5]
    await inbox.finish(BOT, 5)
    await inbox.release(BOT, "two")
    assert await hold(inbox, "one") == []
    assert not await receive(inbox, 5)


async def test_however_many_were_left_behind_all_come_back_in_order(transport: Transport, database_url: str) -> None:
    ask(database_url, LEFT_BEHIND)
    inbox, held = InboxStore(transport), []
    while more := await hold(inbox, "one"):
        held += more
    assert held == list(range(1, 4000, 2))


@pytest.mark.over_rest
async def test_what_one_process_holds_no_other_takes_until_the_lease_is_over(transport: Transport) -> None:
    inbox = InboxStore(transport)
    await receive(inbox, 1, "one", lease_s=-1)  # it has expired
    await receive(inbox, 2, "one", chat=2)
    assert await hold(inbox, "two") == [1]
    assert await hold(inbox, "one", 1, 2) == [2]  # the first of the two is another's by now
    assert await inbox.begin(BOT, 1, "one") is None
    assert [await inbox.begin(BOT, 1, "two") for _ in range(2)] == [2, 3]


async def test_a_chat_belongs_to_one_process_at_a_time(transport: Transport) -> None:
    inbox = InboxStore(transport)
    assert await receive(inbox, 1, "one")
    assert not await receive(inbox, 2, "two")  # the first is being handled elsewhere
    assert await receive(inbox, 3, "two", chat=2)
    assert not await receive(inbox, 4, "one")  # nor past the second, which is nobody's yet
    assert await hold(inbox, "two", 3) == [3]
    assert await hold(inbox, "one", 1, takes_more=False) == [1]
    assert await hold(inbox, "one", 1) == [1, 2, 4]
    for number in (1, 2, 4):
        await inbox.finish(BOT, number)
    assert await receive(inbox, 5, "two")


async def test_what_was_handled_today_is_not_looked_through_with_each_update(
    transport: Transport, database_url: str
) -> None:
    """A busy bot handles a hundred thousand a day: looking through them all took longer than handling one."""
    ask(database_url, HANDLED.format(hours=23))
    with psycopg.connect(database_url, autocommit=True) as connection:
        plans = [next(connection.execute(BLOCKS_READ))[0][0]["Plan"] for _ in range(2)]
    blocks = plans[-1]["Shared Hit Blocks"] + plans[-1]["Shared Read Blocks"]  # the first looks into the catalogue, too
    assert blocks < MOST_BLOCKS


async def test_what_was_handled_long_ago_is_forgotten_little_by_little(transport: Transport, database_url: str) -> None:
    ask(database_url, HANDLED.format(hours=25))
    await InboxStore(transport).finish(BOT, 1)
    assert ask(database_url, "select count(*) from inbox") == [(29_000,)]

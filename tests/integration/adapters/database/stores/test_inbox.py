"""The inbox over both transports: `bot.ports.InboxKeeper`."""

import psycopg
import pytest

from adapters.database.stores.inbox import InboxStore
from adapters.database.transport import Transport
from tests.integration.adapters.database.stores.material import ask

BOT, OTHER_BOT = 7, 8
LEFT_BEHIND = """
with kept as (
  insert into inbox (bot_id, update_id, payload, handled_at)
  select bot, number, jsonb_build_object('update_id', number), case when number % 2 = 0 then now() end
  from generate_series(1, 4000) number, (values (7), (8)) as bots (bot)
  returning 1)
select count(*) from kept
"""

HANDLED = """
with kept as (
  insert into inbox (bot_id, update_id, handled_at)
  select 7, number, now() - interval '{hours} hours' from generate_series(1, 30000) number returning 1)
select count(*) from kept
"""
MOST_BLOCKS = 150  # of 30,000 rows all were 250 and more
BLOCKS_READ = b"explain (analyze, buffers, format json) select * from finish_update(7, 1)"


@pytest.mark.over_rest
async def test_an_update_is_kept_once_until_it_is_handled(transport: Transport) -> None:
    inbox = InboxStore(transport)
    update = {"update_id": 5, "message": {"text": "Привет"}}
    assert [await inbox.receive(BOT, 5, update) for _ in range(2)] == [True, False]
    assert await inbox.unfinished(BOT) == [update]
    await inbox.finish(BOT, 5)
    assert await inbox.unfinished(BOT) == []
    assert not await inbox.receive(BOT, 5, update)


async def test_however_many_were_left_behind_all_come_back_in_order(transport: Transport, database_url: str) -> None:
    ask(database_url, LEFT_BEHIND)
    updates = await InboxStore(transport).unfinished(BOT)
    assert [update["update_id"] for update in updates] == list(range(1, 4000, 2))


@pytest.mark.over_rest
async def test_a_handling_that_begins_again_is_counted(transport: Transport) -> None:
    inbox = InboxStore(transport)
    await inbox.receive(BOT, 5, {"update_id": 5})
    assert [await inbox.begin_again(BOT, 5) for _ in range(2)] == [2, 3]


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

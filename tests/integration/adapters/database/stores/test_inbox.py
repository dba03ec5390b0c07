"""The inbox over both transports: `bot.ports.InboxKeeper`."""

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


async def test_a_handling_that_begins_again_is_counted(transport: Transport) -> None:
    inbox = InboxStore(transport)
    await inbox.receive(BOT, 5, {"update_id": 5})
    assert [await inbox.begin_again(BOT, 5) for _ in range(2)] == [2, 3]

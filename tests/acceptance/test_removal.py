"""Documents that are removed while they are being read: their live messages say so, and promise nothing any more."""

from collections.abc import AsyncIterator

import pytest

from adapters.database.postgres import open_postgres
from adapters.database.stores.library import LibraryStore
from domain.ids import BaseId
from tests.acceptance.conftest import Start
from tests.acceptance.test_groups import ME
from tests.acceptance.test_whole_way import READ_S, enter
from tests.integration.adapters.database.stores.material import ask
from tests.servers.person import GROUP, YOU, Person, Seen
from tests.servers.web import Reply, WebServer, serve_web


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    """Pages that take their time."""
    async with serve_web() as server:
        for number in range(2):
            server.replies[f"/{number}"] = Reply(body=b"x", wait_s=60)
        yield server


async def send_pages(you: Person, web: WebServer, count: int) -> Seen:
    """The live message, as soon as it can be cancelled."""
    await enter(you, "base")
    called = ME if you.chat_id == GROUP else ""
    said = await you.say(" ".join([called, *(web.url(f"/{number}") for number in range(count))]))
    return await you.wait_for(lambda seen: seen.is_bot and "Отменить" in str(seen.buttons), READ_S, after=said)


async def clean_base(you: Person) -> None:
    said = await you.say("/clean")
    await you.press("Базу", await you.wait_for("Что очистить", after=said))
    await you.press("Удалить всё", await you.wait_for("Очистить базу", after=said))
    await you.wait_for("База пуста", after=said)


@pytest.mark.parametrize("chat", [YOU, GROUP], ids=["private", "group"])
async def test_cleaning_the_base_ends_its_live_messages(start: Start, web: WebServer, chat: int) -> None:
    async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page, YOU, chat) as you:
        live = await send_pages(you, web, 2)
        await clean_base(you)
        ended = await you.wait_for("^2 документа удалены из базы.$")
    assert (ended.message_id, ended.buttons) == (live.message_id, ())


async def test_deleting_a_document_ends_its_live_message(start: Start, web: WebServer) -> None:
    async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
        live = await send_pages(you, web, 1)
        await you.say("/docs")
        await you.press("1", await you.wait_for("ещё читаю: 1"))
        await you.press("Удалить", await you.wait_for("добавлен"))
        await you.press("Да, удалить", await you.wait_for("Вернуть его нельзя"))
        ended = await you.wait_for("^Документ удалён из базы.$")
    assert (ended.message_id, ended.buttons) == (live.message_id, ())


async def test_a_live_message_ends_also_when_the_bot_was_away(start: Start, web: WebServer, database_url: str) -> None:
    async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
        live = await send_pages(you, web, 1)
    ((base,),) = ask(database_url, "select base_id from documents")
    async with open_postgres(database_url, pool_size=1, timeout_s=30) as transport:
        await LibraryStore(transport).clean_base(BaseId(str(base)))
    async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
        ended = await you.wait_for("^Документ удалён из базы.$")
    assert (ended.message_id, ended.buttons) == (live.message_id, ())

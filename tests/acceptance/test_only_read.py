"""«Только прочитать сейчас»: a link in Чат, an answer from it, and a day later it is gone by itself."""

import asyncio

import psycopg

from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import PAGE, READ_S
from tests.integration.adapters.database.stores.material import ask
from tests.servers.person import Person, Seen
from tests.servers.web import Reply as Page
from tests.servers.web import WebServer, serve_web

QUESTION = "Сколько можно стоять во дворе?"


async def glance(you: Person, web: WebServer) -> Seen:
    """The receipt of a page that is only to be read."""
    web.replies["/rules"] = Page(body=PAGE.encode())
    await you.wait_for("В базе пока пусто", after=await you.say("/chat"))
    said = await you.say(web.url("/rules"))
    await you.press("Только прочитать сейчас", await you.wait_for("Это вопрос или документ", after=said))
    return await you.wait_for("✅ Правила парковки: прочитал(.|\\n)*до завтра, ", READ_S, after=said)


def let_the_day_pass(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("update documents set expires_at = now() - interval '1 minute' where expires_at is not null")


async def gone(database_url: str) -> None:
    """The worker's first upkeep has removed it."""
    async with asyncio.timeout(READ_S):
        while ask(database_url, "select id from documents"):
            await asyncio.sleep(0.2)


async def test_a_link_is_only_read_answers_at_once_and_leaves_in_a_day(start: Start, database_url: str) -> None:
    async with serve_web() as web, start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
        receipt = await glance(you, web)
        assert "Оставить в базе" in str(receipt.buttons)
        asked = await you.say(QUESTION)  # still in Чат
        assert "двух часов" in (await you.wait_for("Информация взята из", READ_S, after=asked)).text
        listed = await you.say("/docs")
        assert "⏱" in (await you.wait_for("Документы: 1", after=listed)).text
    let_the_day_pass(database_url)
    async with start() as page, Person(page) as you:
        await gone(database_url)
        said = await you.say("/docs")
        await you.wait_for("В базе пока пусто", after=said)
        asked = await you.say(QUESTION)
        await you.wait_for("В базе пока пусто, отвечать не по чему", READ_S, after=asked)
    for table in ("documents_chunks", "posting_lists", "document_blocks"):
        assert ask(database_url, f"select count(*) from {table}") == [(0,)]


async def test_what_was_only_read_can_be_kept(start: Start, database_url: str) -> None:
    async with serve_web() as web, start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
        receipt = await glance(you, web)
        await you.press("Оставить в базе", receipt)
        kept = await you.wait_for("✅ Правила парковки в базе")
    assert kept.message_id == receipt.message_id
    assert "Оставить в базе" not in str(kept.buttons)
    assert ask(database_url, "select count(*) from documents where expires_at is null") == [(1,)]

"""kill -9 of all of `baza run`, again and again, while a person sends documents: nothing is lost, nothing is doubled.

The person does what people do when a page does not answer: waits, looks whether the message went, sends it again if it
did not.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from tests.acceptance.installation import Installation
from tests.acceptance.test_whole_way import PAGE
from tests.servers.person import Person
from tests.servers.web import Reply, WebServer, serve_web

SEED = 20261121
KILLS = 3
LIFE_S = (0.2, 2.5)  # from ready to kill
PACE_S = (0.1, 0.4)  # between two deeds of the person
END_S = 240.0
QUICK = {"WORKER_LEASE_SECONDS": "2", "WORKER_POLL_SECONDS": "0.1", "WORKER_BACKOFF_SECONDS": "0.2"}
NOTES = ("Код от домофона 4512", "Сверло лежит в синем ящике")
FILES = ("Договор.txt", "Правила.md", "Журнал.txt")
READY = [("file", "ready", len(FILES)), ("link", "ready", 1), ("note", "ready", len(NOTES))]

Deed = Callable[[Person], Awaitable[object]]


@dataclass(frozen=True, kw_only=True)
class Sending:
    """One message of the person; `mark` is what it is recognised by in the chat."""

    mark: str
    deed: Deed

    async def is_there(self, you: Person) -> bool:
        return any(self.mark in (seen.text, seen.file_name) for seen in await you.messages() if not seen.is_bot)

    async def send(self, page: str) -> None:
        """Unless it is there."""
        async with Person(page) as you:
            if not await self.is_there(you):
                await self.deed(you)


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    """A page that takes its time, so that a kill may find it being fetched."""
    async with serve_web() as server:
        server.replies["/rules"] = Reply(body=PAGE.encode(), wait_s=0.7)
        yield server


@pytest.fixture
async def baza(fresh_home: Path, web: WebServer) -> AsyncIterator[Installation]:
    """Nothing of it is left running."""
    installation = Installation(home=fresh_home, settings={**QUICK, "FETCH_ALLOW_HOSTS": web.host})
    try:
        yield installation
    finally:
        await installation.leave_nothing_running()


def sendings(folder: Path, link: str) -> list[Sending]:
    """«База», then three files, two notes and a link."""
    files = [folder / name for name in FILES]
    for number, file in enumerate(files):
        lines = [
            f"Пункт {line} документа {number}: плата вносится до {line} числа." for line in range(200 * number + 1)
        ]
        file.write_text("\n\n".join(lines), encoding="utf-8")
    said = [Sending(mark=text, deed=partial(Person.say, text=text)) for text in (link, *NOTES)]
    sent = [Sending(mark=file.name, deed=partial(Person.send_file, path=file)) for file in files]
    first = Sending(mark="/base", deed=partial(Person.say, text="/base"))
    return [first, *(one for pair in zip(sent, said, strict=True) for one in pair)]


async def send_all(page: str, sent: list[Sending]) -> None:
    """One after another; between them, buttons are pressed."""
    chance = random.Random(SEED)
    for sending in sent:
        await until_sent(page, sending)
        await asyncio.sleep(chance.uniform(*PACE_S))
        with suppress(aiohttp.ClientError, ConnectionError, LookupError):
            async with Person(page) as you:
                await you.say("/docs")
                await you.press(chance.choice(["1", "К списку", "Исходное сообщение"]))


@asynccontextmanager
async def sending_in_background(page: str, sent: list[Sending]) -> AsyncIterator[asyncio.Task[None]]:
    """The person at work; ended when the test fails before that."""
    sender = asyncio.create_task(send_all(page, sent))
    try:
        yield sender
    finally:
        sender.cancel()
        await asyncio.wait({sender}, timeout=END_S)


async def until_sent(page: str, sending: Sending) -> None:
    """Send it until it is in the chat."""
    while True:
        with suppress(aiohttp.ClientError, ConnectionError):
            return await sending.send(page)
        await asyncio.sleep(0.2)


async def kill_again_and_again(baza: Installation) -> None:
    chance = random.Random(SEED)
    for _ in range(KILLS):
        process = await baza.start()
        await asyncio.sleep(chance.uniform(*LIFE_S))
        await baza.kill(process)


async def until_settled(baza: Installation) -> None:
    """All documents have come to an end, all of it was shown, and the inbox is empty."""
    waiting = """
        select (select count(*) from documents where phase in ('waiting', 'working'))
          + (select count(*) from batches where shown_revision < revision)
          + (select count(*) from inbox where handled_at is null)
    """
    async with asyncio.timeout(END_S):
        while await baza.ask(waiting) != [(0,)]:
            await asyncio.sleep(0.2)


async def test_nothing_is_lost_or_doubled_by_kill_9(baza: Installation, web: WebServer, tmp_path: Path) -> None:
    async with sending_in_background(baza.page, sendings(tmp_path, web.url("/rules"))) as sender:
        await kill_again_and_again(baza)
        async with baza.running():
            await asyncio.wait_for(sender, END_S)
            await until_settled(baza)
            async with Person(baza.page) as you:
                messages = await you.messages()

    assert await baza.ask("select source_type, status, count(*) from documents group by 1, 2 order by 1") == READY
    live = [number for (number,) in await baza.ask("select notice_message_id from batches order by 1")]
    assert [seen.message_id for seen in messages if seen.is_bot and seen.text.startswith("✅")] == live
    # One that was sent in the very moment of a kill is not known as ours: the Bot API cannot send "only once". Its
    # document has got another one, which became the receipt.
    assert len([seen for seen in messages if seen.is_bot and seen.text.startswith("⏳")]) <= KILLS
    assert [path.name for path in (baza.home / "scratch").iterdir()] == ["gate.lock"]

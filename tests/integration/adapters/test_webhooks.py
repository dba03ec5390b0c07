"""Webhooks whose teller dies, whose receiver is slow or broken, or lies inside: real processes, PostgreSQL and HTTP."""

import asyncio
import base64
import hmac
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import psycopg
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from adapters.database.stores.intake import WebhookStore
from adapters.database.transport import Transport
from adapters.webhooks import new_secret, tell_webhooks
from domain.ids import BaseId
from ingestion.fetch.guard import AddressGuard
from tests import waiting
from tests.integration.adapters.database.stores.material import open_base, publish

AND_LATER = """
insert into webhook_messages (webhook_id, base_id, body)
select m.webhook_id, m.base_id, m.body || '{"type": "later"}' from webhook_messages m
where m.body #>> '{data,document}' = %s
"""

Answer = Callable[[int], Awaitable[web.Response]]


@dataclass(kw_only=True)
class Receiver:
    """Who is told; `answer` gets how many came before."""

    answer: Answer
    told: list[tuple[dict[str, str], str]] = field(default_factory=list)  # headers in lower case, body

    async def receive(self, request: web.Request) -> web.Response:
        """One message."""
        self.told.append(({name.lower(): each for name, each in request.headers.items()}, await request.text()))
        return await self.answer(len(self.told) - 1)

    @property
    def ids(self) -> list[str]:
        """Of the messages, as they came."""
        return [headers["webhook-id"] for headers, _ in self.told]


@asynccontextmanager
async def receiving(answer: Answer) -> AsyncIterator[tuple[Receiver, str]]:
    """The receiver, and its `host:port`."""
    receiver, application = Receiver(answer=answer), web.Application()
    application.router.add_post("/told", receiver.receive)
    async with TestServer(application) as server:
        yield receiver, f"127.0.0.1:{server.port}"


@asynccontextmanager
async def teller(url: str, place: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that tells; killed at the end if it still lives."""
    command = (sys.executable, "-m", "tests.integration.adapters.webhooks_process", url, place)
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def webhook(stores: Stores, place: str) -> tuple[BaseId, str]:
    """A base with one, and its secret."""
    base, secret = await open_base(stores), new_secret()
    await stores.webhooks.add(base, url=f"http://{place}/told", secret=secret, most=1)
    return base, secret


async def is_over(transport: Transport) -> bool:
    """Whether nothing is to be told any more, now or later."""
    return await transport.call("due_webhook_messages", p_limit=9, p_hold_s=0) == []


async def test_who_is_killed_between_telling_and_noting_it_has_it_told_again(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    running: list[asyncio.subprocess.Process] = []

    async def kill_once(before: int) -> web.Response:
        if before == 0:
            running[0].kill()  # it has told, and has no answer yet
            await running[0].wait()
        return web.Response(status=204)

    async with receiving(kill_once) as (receiver, place):
        base, secret = await webhook(stores, place)
        await publish(stores, base, "слова")
        async with teller(database_url, place) as first:
            running.append(first)
            await first.wait()
        async with teller(database_url, place) as second:
            await waiting.until(lambda: len(receiver.told) == 2)
            await asyncio.sleep(2.5)  # longer than it was held
            second.kill()
            written = (await second.stderr.read() if second.stderr else b"").decode()
    assert len(set(receiver.ids)) == 1
    assert len(receiver.told) == 2  # what was noted is not told a third time
    assert len({body for _, body in receiver.told}) == 1
    assert all(is_signed(secret, headers, body) for headers, body in receiver.told)
    assert "204" in written  # it has logged all that it may
    assert secret not in written
    assert secret.removeprefix("whsec_") not in written


def is_signed(secret: str, headers: dict[str, str], body: str) -> bool:
    """As Standard Webhooks have it; each try has a time of its own, and so a signature."""
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return headers["webhook-signature"] == "v1," + base64.b64encode(hmac.digest(key, content, "sha256")).decode()


@asynccontextmanager
async def telling(stores: Stores, guard: AddressGuard) -> AsyncIterator[None]:
    """In this process; whatever it meets, it goes on."""
    stop = asyncio.Event()
    task = asyncio.create_task(tell_webhooks(stores.webhooks, guard, stop, every_s=0.05))
    try:
        yield
        assert not task.done()
    finally:
        stop.set()
        await task


async def test_a_receiver_that_is_slow_broken_or_cut_off_is_told_again_later_each_time(
    postgres_transport: PostgresTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = Stores(postgres_transport)
    monkeypatch.setattr("adapters.webhooks.ANSWER_S", 0.3)
    monkeypatch.setattr("adapters.webhooks.AGAIN_S", (0.1, 0.2, 0.4, 0.8))
    at: list[float] = []

    async def fail(before: int) -> web.Response:
        at.append(asyncio.get_running_loop().time())
        if before == 0:
            await asyncio.sleep(1)
        if before == 1:
            raise ConnectionAbortedError  # aiohttp: 500
        return web.Response(status=(200, 200, 503, 302, 204)[before], headers={"Location": "http://127.0.0.1:1/"})

    async with receiving(fail) as (receiver, place):
        base, _ = await webhook(stores, place)
        await publish(stores, base, "слова")
        async with telling(stores, AddressGuard(allow_hosts=frozenset({place}))):
            await waiting.until(lambda: len(receiver.told) == 5)
            await asyncio.sleep(0.3)
    assert len(set(receiver.ids)) == 1
    waits = [later - before for before, later in pairwise(at[1:])]
    assert waits == sorted(waits)
    assert await is_over(postgres_transport)


async def test_what_happened_to_a_document_is_told_in_order(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    store = WebhookStore(postgres_transport)
    base, _ = await webhook(stores, "example.com")
    document = await publish(stores, base, "слова")
    other = await publish(stores, base, "другие слова", name="другой")
    await postgres_transport.call("delete_document", p_base=base, p_document=other)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(AND_LATER, [document])
    first = await store.due(limit=9, hold_s=0)
    assert sorted('"later"' in each.body for each in first) == [False, False]  # of two documents
    held = next(each for each in first if document in each.body)
    await store.note(held.id, problem="HTTP 500", again_s=60)
    assert not any(document in each.body for each in await store.due(limit=9, hold_s=0))
    await store.note(held.id, problem=None, again_s=None)
    assert any('"later"' in each.body for each in await store.due(limit=9, hold_s=0))


@pytest.mark.parametrize("inside", ["127.0.0.1", "10.0.0.8", "169.254.169.254", "::1", "fd00::1"])
async def test_a_name_that_leads_inside_is_never_told(postgres_transport: PostgresTransport, inside: str) -> None:
    stores = Stores(postgres_transport)

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["93.184.215.14", inside]

    base, store = await open_base(stores), WebhookStore(postgres_transport)
    await store.add(base, url="https://told.example/told", secret=new_secret(), most=1)
    await publish(stores, base, "слова")
    async with telling(stores, AddressGuard(resolve=resolve)), asyncio.timeout(10):
        while (await store.all(base))[0].problem is None:
            await asyncio.sleep(0.05)
    assert (await store.all(base))[0].problem == "page-address-forbidden"

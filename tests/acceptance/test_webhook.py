"""Updates by webhook instead of polling: a local chat that the test serves, with a courier that posts them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from bot.inbox import SECRET_HEADER, WEBHOOK_PATH
from domain.ending import end
from localchat.server import LocalChat, serve_local_chat
from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import READ_S, enter
from tests.ports import free_port
from tests.servers.person import YOU, Person

SECRET = "a-secret_that-only_Telegram-knows"
NOTE = "Код от домофона 4512"


@dataclass
class Courier:
    """Posts what people do to the webhook, an update at a time until the bot answers 2xx, as Telegram does."""

    webhook: dict[str, str] | None = None

    @property
    def middleware(self) -> Middleware:
        """Takes and deletes the webhook."""

        @web.middleware
        async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
            method = request.path.rpartition("/")[2]
            if method in ("setWebhook", "deleteWebhook"):
                given = {name: str(value) for name, value in (await request.post()).items()}
                self.webhook = given if method == "setWebhook" else None
                return web.json_response({"ok": True, "result": True})
            return await handler(request)

        return answer

    async def run(self, chat: LocalChat) -> None:
        """Until it is cancelled."""
        offset, address = 0, f"{chat.api_url}/bot{chat.token}/getUpdates"
        while True:
            await asyncio.sleep(0.02)
            if (webhook := self.webhook) is None:
                continue
            asked = {"offset": str(offset), "limit": "1", "allowed_updates": webhook["allowed_updates"]}
            async with aiohttp.ClientSession() as session, session.post(address, data=asked) as answer:
                updates = (await answer.json())["result"]
            for update in updates:
                if await post(webhook["url"], update, webhook["secret_token"]) == 200:
                    offset = update["update_id"] + 1


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[LocalChat]:
    """Stands for Telegram; the bot does not serve it."""
    courier = Courier()
    async with serve_local_chat(tmp_path / "telegram", middlewares=[courier.middleware]) as served:
        running = asyncio.create_task(courier.run(served))
        yield served
        await end(running)


@asynccontextmanager
async def by_webhook(start: Start, chat: LocalChat) -> AsyncIterator[str]:
    """The bot with a webhook; yields the webhook's address."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    variables = {
        "BOT_TOKEN": chat.token,
        "TELEGRAM_API_URL": chat.api_url,
        "WEBHOOK_URL": address,
        "WEBHOOK_SECRET": SECRET,
        "WEBHOOK_PORT": str(port),
    }
    async with start(**variables):
        yield address + WEBHOOK_PATH


def help_wanted(update_id: int) -> dict[str, object]:
    """/help in the private chat, as Telegram posts it."""
    you = {"id": YOU, "is_bot": False, "first_name": "Вы", "language_code": "ru"}
    text = {"text": "/help", "entities": [{"type": "bot_command", "offset": 0, "length": 5}]}
    message = {"message_id": update_id, "date": 1, "chat": {"id": YOU, "type": "private"}, "from": you, **text}
    return {"update_id": update_id, "message": message}


async def post(address: str, update: object, secret: str | None = SECRET) -> int:
    """The status that Telegram would see."""
    headers = {SECRET_HEADER: secret} if secret is not None else {}
    async with aiohttp.ClientSession() as session, session.post(address, json=update, headers=headers) as answer:
        return answer.status


async def test_the_whole_way_goes_by_webhook(start: Start, chat: LocalChat) -> None:
    async with by_webhook(start, chat), Person(chat.page_url) as you:
        await enter(you, "base")
        await you.say(NOTE)
        await you.wait_for("✅ Код от домофона", READ_S)
        await enter(you, "chat")
        await you.say("Какой код от домофона?")
        answer = await you.wait_for("Информация взята из", READ_S)
    assert "4512" in answer.text


async def test_what_was_said_before_the_start_is_answered(start: Start, chat: LocalChat) -> None:
    async with Person(chat.page_url) as you:
        await you.say("/help")
        async with by_webhook(start, chat):
            await you.wait_for("Режим «База»", READ_S)


@pytest.mark.parametrize("secret", [None, "", "another-secret", SECRET + "x", "ё"])
async def test_whoever_does_not_know_the_secret_is_refused(start: Start, chat: LocalChat, secret: str | None) -> None:
    async with by_webhook(start, chat) as address, Person(chat.page_url) as you:
        await enter(you, "base")  # the webhook is up
        assert await post(address, help_wanted(900_000), secret) == 401
        said = await you.say("/privacy")
        answer = await you.wait_for(".", after=said)
    assert "Что хранится" in answer.text


async def test_the_same_update_is_handled_once(start: Start, chat: LocalChat) -> None:
    async with by_webhook(start, chat) as address, Person(chat.page_url) as you:
        await enter(you, "base")
        at_once = await asyncio.gather(*[post(address, help_wanted(900_000)) for _ in range(4)])
        later = await post(address, help_wanted(900_000))
        said = await you.say("/privacy")
        await you.wait_for("Что хранится", after=said)
        answers = [seen for seen in await you.messages() if seen.is_bot and "/clean: очистить" in seen.text]

    assert [*at_once, later] == [200] * 5
    assert len(answers) == 1


@pytest.mark.parametrize("body", [[], "text", {}, {"update_id": "x"}, None])
async def test_what_is_no_update_is_refused_and_harms_nothing(start: Start, chat: LocalChat, body: object) -> None:
    async with by_webhook(start, chat) as address, Person(chat.page_url) as you:
        await enter(you, "base")
        assert await post(address, body) == 400
        await enter(you, "base")


async def test_polling_takes_over_from_a_webhook(start: Start, chat: LocalChat) -> None:
    async with by_webhook(start, chat), Person(chat.page_url) as you:
        await enter(you, "base")
    async with start(BOT_TOKEN=chat.token, TELEGRAM_API_URL=chat.api_url), Person(chat.page_url) as you:
        await enter(you, "base")

"""The rest of the contract: the bot's card, the envelope, faults on demand, sending limits, who may connect."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest, TelegramNetworkError, TelegramRetryAfter, TelegramServerError
from aiogram.types import BotCommand

from localchat.exchange import Hub
from localchat.server import LocalChat, serve_local_chat
from tests.integration.localchat.conftest import connect
from tests.servers.person import ANNA, GROUP, PRIVATE, Person

START = BotCommand(command="start", description="начать")


async def test_the_bot_knows_itself(bot: Bot) -> None:
    me = await bot.get_me()
    assert (me.is_bot, me.first_name, me.username) == (True, "База", "baza_local_bot")


async def test_commands_are_shown_in_the_persons_language(bot: Bot, you: Person) -> None:
    await bot.set_my_commands([START])
    await bot.set_my_commands([BotCommand(command="start", description="begin")], language_code="en")
    await you.set_language("en")
    assert await you.commands() == {"start": "begin"}


@pytest.mark.parametrize(
    ("name", "description"), [("Start", "x"), ("a" * 33, "x"), ("start", ""), ("start", "x" * 257)]
)
async def test_wrong_commands_are_refused(bot: Bot, name: str, description: str) -> None:
    with pytest.raises(TelegramBadRequest, match="BOT_COMMAND"):
        await bot.set_my_commands([BotCommand(command=name, description=description)])


async def test_descriptions_are_shown(bot: Bot, own: aiohttp.ClientSession) -> None:
    await bot.set_my_description("Храню документы")
    await bot.set_my_short_description("База")
    async with own.get(f"/people/{PRIVATE}") as answer:
        shown = (await answer.json())["bot"]
    assert (shown["description"], shown["short_description"]) == ("Храню документы", "База")
    with pytest.raises(TelegramBadRequest):
        await bot.set_my_short_description("а" * 121)


async def test_members_are_known(bot: Bot) -> None:
    assert (await bot.get_chat_member(GROUP, ANNA)).status == "member"
    assert (await bot.get_chat_member(GROUP, PRIVATE)).status == "creator"


async def test_an_unknown_method_is_not_found(chat: LocalChat) -> None:
    url = f"{chat.api_url}/bot{chat.token}/sendNothing"
    async with aiohttp.ClientSession() as session, session.post(url) as answer:
        assert answer.status == 404
        assert await answer.json() == {"ok": False, "error_code": 404, "description": "Not Found"}


@pytest.mark.parametrize("kind", ["json", "data", "params"])
async def test_parameters_are_taken_as_json_form_and_query(chat: LocalChat, kind: str) -> None:
    body: dict[str, Any] = {kind: {"chat_id": str(PRIVATE), "text": "привет"}}
    url = f"{chat.api_url}/bot{chat.token}/SENDMESSAGE"
    async with aiohttp.ClientSession() as session, session.post(url, **body) as answer:
        assert (await answer.json())["result"]["text"] == "привет"


async def test_a_flood_refusal_on_demand_names_the_seconds(bot: Bot, you: Person) -> None:
    await you.break_method("sendMessage", error_code=429, retry_after=3, times=1)
    with pytest.raises(TelegramRetryAfter) as refused:
        await bot.send_message(PRIVATE, "раз")
    assert refused.value.retry_after == 3
    assert (await bot.send_message(PRIVATE, "два")).text == "два"


async def test_server_errors_and_dropped_connections_on_demand(bot: Bot, you: Person) -> None:
    await you.break_method("sendMessage", error_code=500)
    await you.break_method("sendMessage", drop=True)
    with pytest.raises(TelegramServerError):
        await bot.send_message(PRIVATE, "раз")
    with pytest.raises(TelegramNetworkError):
        await bot.send_message(PRIVATE, "раз")
    assert (await bot.send_message(PRIVATE, "раз")).text == "раз"


async def test_the_server_stops_at_once_with_a_poll_and_a_page_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, wake = asyncio.Event(), Hub.wake_bot

    def wake_and_tell(hub: Hub) -> None:  # a call that begins wakes the one before it
        begun.set()
        wake(hub)

    monkeypatch.setattr(Hub, "wake_bot", wake_and_tell)
    serving = serve_local_chat(tmp_path)
    chat = await serving.__aenter__()
    async with asyncio.timeout(40), connect(chat) as bot, Person(chat.page_url):
        poll = asyncio.create_task(bot.get_updates(timeout=50))
        await begun.wait()
        await serving.__aexit__(None, None, None)
        assert await poll == []

"""A running local chat, an unchanged aiogram client on it, and a person at the page."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer

from localchat.server import LocalChat
from tests.servers.local_chat import serve_faulty_chat
from tests.servers.person import Person


def connect(chat: LocalChat, token: str | None = None) -> Bot:
    """A bot as any program makes it; only the address differs from Telegram's."""
    return Bot(token or chat.token, session=AiohttpSession(api=TelegramAPIServer.from_base(chat.api_url)))


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[LocalChat]:
    async with serve_faulty_chat(tmp_path / "chat") as running:
        yield running


@pytest.fixture
async def bot(chat: LocalChat) -> AsyncIterator[Bot]:
    async with connect(chat) as connected:
        yield connected


@pytest.fixture
async def you(chat: LocalChat) -> AsyncIterator[Person]:
    async with Person(chat.page_url) as person:
        yield person


@pytest.fixture
async def own(chat: LocalChat) -> AsyncIterator[aiohttp.ClientSession]:
    """A browser that has opened the printed address."""
    jar = aiohttp.CookieJar(unsafe=True)  # the host is an address, not a name
    async with aiohttp.ClientSession(chat.api_url, cookie_jar=jar) as session:
        async with session.get(chat.page_url) as page:
            assert page.url.path_qs == "/", "the token stays in the address"
        yield session

"""Telegram's Bot API on loopback, for updates that the local chat does not know: topics, and who is in a group.

In: updates as Telegram writes them (`say`, `push`), and the bot's requests. Out: every request of the bot, kept in
`calls` with its chat and topic; `wait_for` gives the first text that the bot shows there. Only what these need is kept.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.fakes.telegram import ME, chat_json
from tests.fakes.telegram_html import read_html

TOKEN = f"{ME['id']}:{'T' * 35}"
Json = dict[str, Any]


@dataclass
class Telegram:
    """One bot's updates and requests."""

    url: str = ""
    calls: list[tuple[str, Json]] = field(default_factory=list)
    outside: set[int] = field(default_factory=set)  # who is not in any group (any more)
    administrators: set[int] = field(default_factory=set)
    _updates: list[Json] = field(default_factory=list)
    _last: int = 0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def _number(self) -> int:
        self._last += 1
        return self._last

    @property
    def environment(self) -> dict[str, str]:
        """Settings of a bot that talks here."""
        return {"BOT_TOKEN": TOKEN, "TELEGRAM_API_URL": self.url}

    async def push(self, **update: Json) -> None:
        """An update of any kind."""
        async with self._changed:
            self._updates.append({"update_id": self._number(), **update})
            self._changed.notify_all()

    async def say(
        self, text: str | None, *, by: int, chat: int | None = None, topic: int | None = None, **more: Any
    ) -> int:
        """A message of a person; in a topic where one is given. Returns its number."""
        number = self._number()
        message = self.message(number, by=by, chat=chat or by, topic=topic)
        if text is not None:
            message["text"] = text
            if text.startswith("/"):
                message["entities"] = [{"type": "bot_command", "offset": 0, "length": len(text.split()[0])}]
        await self.push(message={**message, **more})
        return number

    async def press(self, data: str, *, by: int, chat: int, topic: int | None = None, shown: Json) -> int:
        """A press of a button below a message of the bot. Returns the query's number."""
        message = {**self.message(shown["message_id"], by=ME["id"], chat=chat, topic=topic), "text": shown["text"]}
        person = self.message(0, by=by, chat=chat)["from"]
        number = self._number()
        query = {"id": str(number), "from": person, "chat_instance": "1", "data": data, "message": message}
        await self.push(callback_query=query)
        return number

    def message(self, number: int, *, by: int, chat: int, topic: int | None = None) -> Json:
        """The fields that every message has."""
        person = (
            ME if by == ME["id"] else {"id": by, "is_bot": False, "first_name": f"Лицо {by}", "language_code": "ru"}
        )
        where = {"message_thread_id": topic, "is_topic_message": True} if topic else {}
        return {"message_id": number, "date": 1_700_000_000, "chat": chat_json(chat), "from": person, **where}

    async def wait_for(self, pattern: str, *, chat: int, topic: int | None = None, after: int = 0) -> Json:
        """The first message of the bot there, newer than `after`, with such a text: sent, or as it was edited."""

        def is_it(name: str, sent: Json) -> bool:
            is_there = (int(sent.get("chat_id", 0)), sent.get("message_thread_id")) == (chat, topic)
            return (
                name in ("sendMessage", "editMessageText")
                and sent["message_id"] > after
                and (is_there or self._is_of(sent, chat, topic))
                and re.search(pattern, sent["text"]) is not None
            )

        def found() -> Json | None:
            return next((sent for name, sent in self.calls if is_it(name, sent)), None)

        try:
            async with asyncio.timeout(60), self._changed:
                while (message := found()) is None:
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"no {pattern!r}; the bot's last requests: {self.calls[-6:]}") from None
        return message

    def _is_of(self, edit: Json, chat: int, topic: int | None) -> bool:
        """An edit names no topic: it is where its message is."""
        return any(
            (name, sent["message_id"], int(sent["chat_id"]), sent.get("message_thread_id"))
            == ("sendMessage", edit["message_id"], chat, topic)
            for name, sent in self.calls
            if "message_id" in sent
        )

    async def wait_for_answer(self, query: int) -> str:
        """What the bot answers to this press."""

        def found() -> str | None:
            answers = (form for name, form in self.calls if name == "answerCallbackQuery")
            return next((str(form.get("text", "")) for form in answers if form["callback_query_id"] == query), None)

        async with asyncio.timeout(60), self._changed:
            while (said := found()) is None:
                await self._changed.wait()
        return said

    async def answer(self, request: web.Request) -> web.Response:
        """Any method."""
        name, form = request.match_info["method"], {key: _read(value) for key, value in (await request.post()).items()}
        if name == "getUpdates":
            return _ok(await self._due(int(form.get("offset", 0))))
        if name == "getChatMember":
            user = int(form["user_id"])
            kind = "left" if user in self.outside else "creator" if user in self.administrators else "member"
            person = {"id": user, "is_bot": False, "first_name": "Кто-то"}
            return _ok({"status": kind, "user": person, "is_anonymous": False})
        result: Any = True
        if name == "sendMessage":
            form["message_id"], topic = self._number(), form.get("message_thread_id")
            sent = self.message(form["message_id"], by=ME["id"], chat=int(form["chat_id"]), topic=topic)
            result = {**sent, "text": "?"}
        if name in ("sendMessage", "editMessageText"):
            form["text"] = read_html(str(form["text"]))[0]
        async with self._changed:
            self.calls.append((name, form))
            self._changed.notify_all()
        return _ok(ME if name == "getMe" else result)

    async def _due(self, offset: int) -> list[Json]:
        def due() -> list[Json]:
            return [update for update in self._updates if update["update_id"] >= offset]

        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait_for(lambda: bool(due())), 1)
            except TimeoutError:
                return []
            return due()


def _read(value: Any) -> Any:
    try:
        return json.loads(value) if str(value)[:1] in "{[" else int(value)
    except ValueError:
        return value


def _ok(result: Any) -> web.Response:
    return web.json_response({"ok": True, "result": result})


@asynccontextmanager
async def serve_telegram() -> AsyncIterator[Telegram]:
    """Served while the context is open."""
    telegram, application = Telegram(), web.Application()
    application.add_routes([web.post("/bot{token}/{method}", telegram.answer)])
    async with TestServer(application) as server:
        telegram.url = str(server.make_url("/")).rstrip("/")
        yield telegram

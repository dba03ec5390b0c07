"""The Bot API without a network: a session that records what a bot sends and answers as Telegram would.

In: real aiogram methods, serialised as they would go over the wire. Out: `Call`s to look at, and results built from
what was sent. It checks what Telegram checks of HTML, lengths and buttons, and fails the test when a check fails.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any

from aiogram import Bot
from aiogram.client.default import DefaultBotProperties
from aiogram.client.session.base import BaseSession
from aiogram.enums import ParseMode
from aiogram.exceptions import TelegramNetworkError
from aiogram.methods import TelegramMethod
from aiogram.methods.base import TelegramType

from tests.fakes.telegram_html import read_html

BOT_ID = 42
BOT_NAME = "baza_bot"
ME: dict[str, Any] = {"id": BOT_ID, "is_bot": True, "first_name": "База", "username": BOT_NAME}
_TEXT_METHODS = ("sendMessage", "editMessageText", "sendMessageDraft")


@dataclass(frozen=True)
class Call:
    """A request: `params` as the server reads them, with JSON decoded."""

    name: str
    params: dict[str, Any]

    @property
    def text(self) -> str:
        """What the person reads, without formatting."""
        return read_html(self.params.get("text", ""))[0]

    @property
    def html(self) -> str:
        """What was sent."""
        return str(self.params.get("text", ""))

    @property
    def buttons(self) -> dict[str, str]:
        """Inline buttons: label -> callback data."""
        rows = self.params.get("reply_markup", {}).get("inline_keyboard", [])
        return {button["text"]: button["callback_data"] for row in rows for button in row}

    @property
    def keyboard(self) -> list[str]:
        """Labels of the reply keyboard."""
        rows = self.params.get("reply_markup", {}).get("keyboard", [])
        return [button["text"] for row in rows for button in row]

    @property
    def reply_to(self) -> int | None:
        """The message that it answers."""
        found = self.params.get("reply_parameters", {}).get("message_id")
        return int(found) if found is not None else None


@dataclass
class _Trouble:
    """An error on demand."""

    status: int | None  # None: the connection breaks
    description: str = ""
    retry_after: int | None = None
    times: int = 1


@dataclass
class _Sent:
    chat: int
    text: str
    markup: Any
    reply_to: int | None = None


class RecordingSession(BaseSession):
    """Records every request; knows the messages that it was given, so that edits are answered truthfully."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.messages: dict[int, _Sent] = {}
        self.files: dict[str, dict[str, Any]] = {}
        self.contents: dict[str, bytes] = {}
        self.administrators: set[int] = set()
        self._troubles: dict[str, list[_Trouble]] = {}
        self._last_id = 1000

    def fail(
        self, name: str, status: int = 400, *, description: str = "", retry_after: int | None = None, times: int = 1
    ) -> None:
        """Let the next `times` requests of this name end with an error."""
        self._troubles.setdefault(name, []).append(_Trouble(status, description, retry_after, times))

    def break_connection(self, name: str, *, times: int = 1) -> None:
        """Let the next requests of this name end without an answer."""
        self._troubles.setdefault(name, []).append(_Trouble(None, times=times))

    def forget(self, message_id: int) -> None:
        """The person deleted this message."""
        del self.messages[message_id]

    def named(self, *names: str) -> list[Call]:
        """The requests with these names, in order."""
        return [call for call in self.calls if call.name in names]

    @property
    def said(self) -> list[Call]:
        """Messages sent and edited."""
        return self.named("sendMessage", "editMessageText")

    async def close(self) -> None:
        """Nothing is open."""

    async def make_request(
        self,
        bot: Bot,
        method: TelegramMethod[TelegramType],
        timeout: int | None = None,  # noqa: ASYNC109 - aiogram names it
    ) -> TelegramType:
        call = Call(method.__api_method__, self._on_the_wire(bot, method))
        self.calls.append(call)
        await asyncio.sleep(0)
        if trouble := self._take(call.name):
            return self._fail(bot, method, trouble)
        status, body = self._answer(call)
        response = self.check_response(bot=bot, method=method, status_code=status, content=json.dumps(body))
        return response.result  # type: ignore[return-value] # as aiogram's own session does

    async def stream_content(
        self,
        url: str,
        headers: dict[str, Any] | None = None,
        timeout: int = 30,  # noqa: ASYNC109 - aiogram names it
        chunk_size: int = 65536,
        raise_for_status: bool = True,
    ) -> AsyncGenerator[bytes, None]:
        yield self.contents[url.rsplit("/", 1)[-1]]

    def _on_the_wire(self, bot: Bot, method: TelegramMethod[Any]) -> dict[str, Any]:
        """As `AiohttpSession` builds the form; every value is a string there."""
        form: dict[str, Any] = {}
        for name, value in method.model_dump(warnings=False).items():
            prepared = self.prepare_value(value, bot=bot, files={})
            if prepared:
                form[name] = _decoded(prepared)
        _check(Call(method.__api_method__, form))
        return form

    def _take(self, name: str) -> _Trouble | None:
        waiting = self._troubles.get(name, [])
        if not waiting:
            return None
        waiting[0].times -= 1
        return waiting.pop(0) if waiting[0].times == 0 else waiting[0]

    def _fail(self, bot: Bot, method: TelegramMethod[TelegramType], trouble: _Trouble) -> TelegramType:
        if trouble.status is None:
            raise TelegramNetworkError(method=method, message="ClientOSError: connection reset")
        parameters = {"retry_after": trouble.retry_after} if trouble.retry_after else None
        body = {
            "ok": False,
            "error_code": trouble.status,
            "description": trouble.description or "an error on demand",
            "parameters": parameters,
        }
        self.check_response(bot=bot, method=method, status_code=trouble.status, content=json.dumps(body))
        raise AssertionError("an error status must raise")

    def _answer(self, call: Call) -> tuple[int, dict[str, Any]]:
        answers: dict[str, Callable[[Call], tuple[int, dict[str, Any]]]] = {
            "getMe": lambda _: _ok(ME),
            "sendMessage": self._send,
            "editMessageText": self._edit,
            "editMessageReplyMarkup": self._edit,
            "deleteMessage": self._delete,
            "getFile": self._file,
            "copyMessage": lambda _: _ok({"message_id": 1}),
            "getChatMember": self._member,
            "sendDocument": lambda call: _ok(_bare(call)),
            "sendPhoto": lambda call: _ok(_bare(call)),
        }
        answer = answers.get(call.name)
        return answer(call) if answer else _ok(True)

    def _member(self, call: Call) -> tuple[int, dict[str, Any]]:
        """Everybody is a plain member, but those of `administrators`."""
        user = int(call.params["user_id"])
        person = {"id": user, "is_bot": False, "first_name": "Анна"}
        if user not in self.administrators:
            return _ok({"status": "member", "user": person})
        return _ok({"status": "creator", "user": person, "is_anonymous": False})

    def _send(self, call: Call) -> tuple[int, dict[str, Any]]:
        self._last_id += 1
        chat = int(call.params["chat_id"])
        self.messages[self._last_id] = _Sent(chat, call.html, call.params.get("reply_markup"), call.reply_to)
        return _ok(self.message(self._last_id))

    def message(self, message_id: int) -> dict[str, Any]:
        """A message of the bot, as an update or a result would carry it."""
        sent = self.messages[message_id]
        markup = sent.markup if sent.markup and "inline_keyboard" in sent.markup else None
        return {
            "message_id": message_id,
            "date": 1_700_000_000,
            "chat": chat_json(sent.chat),
            "from": ME,
            "text": read_html(sent.text)[0],
            "reply_markup": markup,
        }

    def _edit(self, call: Call) -> tuple[int, dict[str, Any]]:
        message_id = int(call.params["message_id"])
        sent = self.messages.get(message_id)
        if sent is None:
            return _refused("Bad Request: message to edit not found")
        text, markup = call.params.get("text", sent.text), call.params.get("reply_markup")
        if (text, markup) == (sent.text, sent.markup):
            return _refused("Bad Request: message is not modified: specified new message content and reply markup")
        sent.text, sent.markup = text, markup
        return _ok(self.message(message_id))

    def _delete(self, call: Call) -> tuple[int, dict[str, Any]]:
        gone = self.messages.pop(int(call.params["message_id"]), None)
        return _ok(True) if gone else _refused("Bad Request: message to delete not found")

    def _file(self, call: Call) -> tuple[int, dict[str, Any]]:
        found = self.files.get(call.params["file_id"])
        return _ok(found) if found else _refused("Bad Request: wrong file_id or the file is temporarily unavailable")


def _bare(call: Call) -> dict[str, Any]:
    """A message with nothing in it."""
    return {"message_id": 1, "date": 1_700_000_000, "chat": chat_json(int(call.params["chat_id"])), "from": ME}


@dataclass
class RecordedBot:
    """A bot with its session."""

    session: RecordingSession = field(default_factory=RecordingSession)

    def __post_init__(self) -> None:
        default = DefaultBotProperties(parse_mode=ParseMode.HTML, link_preview_is_disabled=True)
        self.bot = Bot(f"{BOT_ID}:TEST", session=self.session, default=default)


def chat_json(chat: int) -> dict[str, Any]:
    """A private chat, or a group for negative ids."""
    return (
        {"id": chat, "type": "private", "first_name": "Анна"}
        if chat > 0
        else {"id": chat, "type": "supergroup", "title": "Группа"}
    )


def _ok(result: Any) -> tuple[int, dict[str, Any]]:
    return 200, {"ok": True, "result": result}


def _refused(description: str) -> tuple[int, dict[str, Any]]:
    return 400, {"ok": False, "error_code": 400, "description": description}


def _decoded(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in "{[":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _check(call: Call) -> None:
    """What Telegram would refuse."""
    if call.name in _TEXT_METHODS:
        assert call.params["parse_mode"] == "HTML"
        assert 0 < len(call.text.strip().encode("utf-16-le")) // 2 <= 4096
    for label, data in call.buttons.items():
        assert label.strip()
        assert 1 <= len(data.encode()) <= 64, data
    if call.name == "sendPhoto":
        assert len(read_html(call.params.get("caption", ""))[0].encode("utf-16-le")) // 2 <= 1024
    if call.name == "answerCallbackQuery":
        assert len(call.params.get("text", "")) <= 200

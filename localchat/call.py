"""The argument of every Bot API method: its parameters, and the readers that several methods share.

In: the request (a query string, JSON, a form or multipart, as the live service accepts them). Out: `Params` with typed
getters, the call's chat, text with entities, keyboard; a value against Telegram's rules is `Refused`. It sends and
stores nothing.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from aiohttp import web

from localchat.checks import Refused, bad, canonical, check_inline_keyboard, check_reply_keyboard, read_number
from localchat.exchange import Exchange
from localchat.markup import parse_html
from localchat.records import ROOM_BY_ID, FormattedText, Json, Room
from localchat.text import tidy


@dataclass(frozen=True, kw_only=True)
class Params:
    """Values by name, and the uploaded files by the name of their form field."""

    values: Mapping[str, object]
    uploads: Mapping[str, web.FileField] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """The value as text; None when it was not given."""
        value = self.values.get(name)
        return None if value is None else str(value)

    def flag(self, name: str) -> bool:
        return str(self.values.get(name, "")).lower() in ("true", "1", "yes")

    def whole(self, name: str, default: int = 0) -> int:
        """An integer; `default` when it was not given or is empty."""
        value = self.values.get(name)
        return default if value in (None, "") else read_number(value, name)

    def json(self, name: str) -> object:
        """Decoded JSON; None when it was not given or is empty."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise bad(f"can't parse {name.replace('_', ' ')} JSON object") from None

    def record(self, name: str) -> Mapping[str, object] | None:
        """A decoded JSON object; None when it was not given."""
        value = self.json(name)
        if value is None or isinstance(value, dict):
            return value
        raise bad(f"object expected as {name.replace('_', ' ')}")

    def upload(self, name: str) -> web.FileField | None:
        """The file of a parameter: uploaded in its own field, or referenced with attach://."""
        if name in self.uploads:
            return self.uploads[name]
        return self.uploads.get((self.text(name) or "").removeprefix("attach://"))


async def read_params(request: web.Request) -> Params:
    """All parameters of the request; the body overrides the query string."""
    values: dict[str, object] = dict(request.query)
    uploads: dict[str, web.FileField] = {}
    if request.content_type == "application/json":
        values.update(await _json_body(request))
    elif request.can_read_body:
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                uploads[name] = value
            else:
                values[name] = value.decode() if isinstance(value, bytes | bytearray) else value
    return Params(values=values, uploads=uploads)


async def _json_body(request: web.Request) -> Mapping[str, object]:
    try:
        body = json.loads(await request.text() or "{}")
    except ValueError:
        raise bad("can't parse JSON object") from None
    if not isinstance(body, dict):
        raise Refused("Bad Request: expected an Object")
    return body


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a method."""

    params: Params
    exchange: Exchange


Method = Callable[[Call], Awaitable[object]]


def read_room(call: Call) -> Room:
    """The chat of the call; an unknown one is refused."""
    if not call.params.text("chat_id"):
        raise bad("chat_id is empty")
    room = ROOM_BY_ID.get(call.params.whole("chat_id"))
    if room is None:
        raise bad("chat not found")
    return room


def read_formatted(call: Call, name: str = "text") -> FormattedText:
    """The text of a call in its final form, formatted by its parse mode."""
    source = call.params.text(name) or ""
    mode = (call.params.text("parse_mode") or "").lower()
    if mode == "html":
        return tidy(parse_html(source))
    if mode:
        raise bad("unsupported parse_mode")  # Baza never uses the Markdown modes
    return tidy(FormattedText(text=source))


def read_reply(call: Call, room: Room) -> int | None:
    """The id of the message to reply to; None without a reply."""
    reply = call.params.record("reply_parameters")
    if not reply:
        return None
    target = call.exchange.messages.find(room.chat_id, read_number(reply.get("message_id"), "message_id"))
    if target is None and not reply.get("allow_sending_without_reply"):
        raise bad("message to be replied not found")
    return target.message_id if target else None


def read_inline_markup(call: Call) -> str | None:
    """The inline keyboard of an edit; no other kind is allowed there."""
    markup = call.params.record("reply_markup")
    if not markup:
        return None
    if "inline_keyboard" not in markup:
        raise bad("inline keyboard expected")
    return check_inline_keyboard(markup)


@dataclass(frozen=True, kw_only=True)
class Markup:
    """The reply_markup of a new message: an inline keyboard, or a change of the reply keyboard."""

    inline: str | None = None
    changes_keyboard: bool = False
    keyboard: Json | None = None


def read_markup(call: Call) -> Markup:
    """The reply_markup of a call, checked by the rules for its kind of keyboard."""
    markup = call.params.record("reply_markup")
    if not markup:
        return Markup()
    if "inline_keyboard" in markup:
        return Markup(inline=check_inline_keyboard(markup))
    if "keyboard" in markup:
        return Markup(changes_keyboard=True, keyboard=check_reply_keyboard(markup))
    if markup.get("remove_keyboard"):
        return Markup(changes_keyboard=True)
    if markup.get("force_reply"):
        return Markup(changes_keyboard=True, keyboard=markup)
    raise bad("can't parse reply keyboard markup JSON object")


def read_preview(call: Call) -> str | None:
    """The link_preview_options as canonical JSON."""
    options = call.params.record("link_preview_options")
    return canonical(options) if options else None

"""The argument of every Bot API method: all parameters that Baza's methods have, typed and checked.

In: a request (its address, a query string, JSON, a form or multipart, as the live service accepts them). Out: a `Call`
with its chat, its text with entities, its keyboard; a value against Telegram's rules is `Refused`. What people do on
the page comes in the same way (`people.Act`). It sends and stores nothing.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Self, TypeVar

from aiohttp import web
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from localchat.exchange import Exchange
from localchat.records import ROOMS, FormattedText, Json, Room
from localchat.text import bad, check_length, parse_html, tidy

CALLBACK_DATA_BYTES = 64
INLINE_BUTTONS = 100
REPLY_BUTTONS = 300
COMMANDS = 100
COMMAND_DESCRIPTION_UNITS = 256
MOST_NUMBER = 2**53  # what a database and a JavaScript client can hold; Telegram's ids have 52 bits at most
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")

Number = Annotated[int, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)]


def _decoded(value: object) -> object:
    """In forms objects come as JSON text."""
    if not isinstance(value, str):
        return value
    return json.loads(value) if value.strip() else None


Decoded = BeforeValidator(_decoded)


class Given(BaseModel):
    """What was sent, with fields that the local chat only passes on."""

    model_config = ConfigDict(extra="allow", frozen=True)

    def to_json(self) -> Json:
        """As it was sent."""
        return self.model_dump(exclude_unset=True, exclude_none=True)


class Button(Given):
    """A button of either keyboard."""

    text: Annotated[str, Field(pattern=r"\S")]


class InlineButton(Button):
    """Only one with callback data: Baza has no others."""

    callback_data: str | None = None

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if self.callback_data is None:
            raise bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
        if not 1 <= len(self.callback_data.encode()) <= CALLBACK_DATA_BYTES:
            raise bad("BUTTON_DATA_INVALID")
        return self


class Markup(Given):
    """The reply_markup of a message: an inline keyboard, or a change of the reply keyboard."""

    inline_keyboard: list[list[InlineButton]] | None = None
    keyboard: list[list[Button]] | None = None
    remove_keyboard: bool = False

    @model_validator(mode="after")
    def _is_not_too_long(self) -> Self:
        for rows, most in ((self.inline_keyboard, INLINE_BUTTONS), (self.keyboard, REPLY_BUTTONS)):
            if sum(map(len, rows or ())) > most:
                raise bad("reply markup is too long")
        return self


class Reply(BaseModel):
    """The message to reply to."""

    message_id: Number
    allow_sending_without_reply: bool = False


class Command(BaseModel):
    """A line of the bot's menu."""

    command: str
    description: str = ""

    @model_validator(mode="after")
    def _is_valid(self) -> Self:
        if not _COMMAND.fullmatch(self.command):
            raise bad("BOT_COMMAND_INVALID")
        if not self.description:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        check_length(self.description, COMMAND_DESCRIPTION_UNITS, "BOT_COMMAND_DESCRIPTION_INVALID")
        return self


class Parameters(BaseModel):
    """What every request has."""

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    exchange: Exchange
    uploads: Mapping[str, web.FileField] = {}  # by the name of their form field


class Call(Parameters):
    """One call of a method. What was not given is 0, empty or None."""

    chat_id: Number = 0
    from_chat_id: Number = 0
    message_id: Number = 0
    user_id: Number = 0
    draft_id: Number = 0
    offset: Number = 0
    limit: Number = 100
    timeout: Number = 0
    text: str = ""
    caption: str = ""
    parse_mode: str = ""
    action: str = ""
    callback_query_id: str = ""
    document: str = ""
    photo: str = ""
    file_id: str = ""
    language_code: str = ""
    description: str = ""
    short_description: str = ""
    can_stop: bool = False
    keep_on_stop: bool = False
    show_alert: bool = False
    reply_parameters: Annotated[Reply | None, Decoded] = None
    reply_markup: Annotated[Markup | None, Decoded] = None
    link_preview_options: Annotated[dict[str, Any] | None, Decoded] = None
    commands: Annotated[list[Command] | None, Decoded, Field(max_length=COMMANDS)] = None
    allowed_updates: Annotated[list[str] | None, Decoded] = None

    @property
    def room(self) -> Room:
        """The chat of the call. Raises Refused for an unknown one."""
        if self.chat_id not in ROOMS:
            raise bad("chat not found")
        return ROOMS[self.chat_id]

    def formatted(self, source: str) -> FormattedText:
        """The text or caption in its final form, by the parse mode. Raises Refused."""
        if self.parse_mode.lower() == "html":
            return tidy(parse_html(source))
        if self.parse_mode:
            raise bad("unsupported parse_mode")  # Baza never uses the Markdown modes
        return tidy(FormattedText(text=source))

    @property
    def reply_to(self) -> int | None:
        """The id of the message to reply to; None without a reply."""
        reply = self.reply_parameters
        if reply is None or self.exchange.store.find(self.chat_id, reply.message_id):
            return reply.message_id if reply else None
        if not reply.allow_sending_without_reply:
            raise bad("message to be replied not found")
        return None

    @property
    def inline_markup(self) -> Json | None:
        """The inline keyboard of a message; None when it has no buttons."""
        rows = [row for row in self.reply_markup.inline_keyboard or () if row] if self.reply_markup else []
        return {"inline_keyboard": [[button.to_json() for button in row] for row in rows]} if rows else None


Method = Callable[[Call], Awaitable[object]]
Kind = TypeVar("Kind", bound=Parameters)
EXCHANGE = web.AppKey("exchange", Exchange)


async def read_request(request: web.Request, kind: type[Kind]) -> Kind:
    """All parameters of the request; the body overrides the query string, the address both. Raises Refused."""
    values: dict[str, object] = dict(request.query)
    try:
        if request.content_type == "application/json":
            values |= json.loads(await request.text() or "{}")
        elif request.can_read_body:
            values |= await request.post()
        values |= request.match_info
        uploads = {name: value for name, value in values.items() if isinstance(value, web.FileField)}
        sent = {name: value for name, value in values.items() if value is not None and name not in uploads}
        return kind.model_validate({**sent, "uploads": uploads, "exchange": request.app[EXCHANGE]})
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        raise bad(f"invalid parameter {'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None
    except (ValueError, TypeError):
        raise bad("can't parse JSON object") from None

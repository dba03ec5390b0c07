"""Telegram's own checks: lengths, keyboards, commands. A violation is refused with Telegram's sentence.

In: texts, decoded JSON. Out: checked and canonical values, or `Refused`. Limits are from core.telegram.org/bots/api;
sentences are those of the live service, or our own where no source is known.
"""

import json
import re
from collections.abc import Mapping, Sequence

from localchat.records import FormattedText
from localchat.text import utf16_length

TEXT_UNITS = 4096
CAPTION_UNITS = 1024
CALLBACK_DATA_BYTES = 64
INLINE_BUTTONS = 100
REPLY_BUTTONS = 300
COMMANDS = 100
COMMAND_DESCRIPTION_UNITS = 256
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")


class Refused(Exception):
    """The Bot API's error response to a call that it rejects."""

    def __init__(self, description: str, *, code: int = 400, retry_after: int | None = None) -> None:
        super().__init__(description)
        self.description = description
        self.code = code
        self.retry_after = retry_after


MOST_NUMBER = 2**53  # Telegram's ids have 52 significant bits at most


def read_number(value: object, name: str) -> int:
    """A whole number that a database and a JavaScript client can hold. Raises Refused."""
    try:
        number = int(str(value))
    except ValueError:
        number = MOST_NUMBER + 1
    if abs(number) > MOST_NUMBER:
        raise bad(f'invalid parameter "{name}": expected an Integer')
    return number


def bad(sentence: str) -> Refused:
    """A refusal of the most common kind, 400 Bad Request."""
    return Refused(f"Bad Request: {sentence}")


def check_text(formatted: FormattedText) -> None:
    """1-4096 units after the formatting is taken out."""
    if not formatted.text:
        raise bad("text must be non-empty")
    if utf16_length(formatted.text) > TEXT_UNITS:
        raise bad("message is too long")


def check_caption(formatted: FormattedText) -> None:
    """0-1024 units after the formatting is taken out."""
    if utf16_length(formatted.text) > CAPTION_UNITS:
        raise bad("message caption is too long")


def canonical(value: object) -> str:
    """Canonical JSON: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def check_inline_keyboard(markup: Mapping[str, object]) -> str | None:
    """The keyboard as canonical JSON, None when it has no buttons."""
    rows = [[_inline_button(button) for button in row] for row in _rows(markup["inline_keyboard"]) if row]
    if sum(map(len, rows)) > INLINE_BUTTONS:
        raise bad("reply markup is too long")
    return canonical({"inline_keyboard": rows}) if rows else None


def check_reply_keyboard(markup: Mapping[str, object]) -> dict[str, object]:
    """The keyboard with every button as an object."""
    rows = [
        [{"text": button} if isinstance(button, str) and button else _button(button) for button in row]
        for row in _rows(markup["keyboard"])
    ]
    if not any(rows):
        raise bad("reply keyboard is empty")
    if sum(map(len, rows)) > REPLY_BUTTONS:
        raise bad("reply markup is too long")
    return {**markup, "keyboard": rows}


def _rows(value: object) -> Sequence[Sequence[object]]:
    if not isinstance(value, list):
        raise bad('can\'t parse inline keyboard: Field "inline_keyboard" must be of type Array')
    if not all(isinstance(row, list) for row in value):
        raise bad('can\'t parse inline keyboard: Field "inline_keyboard" must be an Array of Arrays')
    return value


def _inline_button(value: object) -> Mapping[str, object]:
    """Only buttons with callback data: Baza has no others."""
    button = _button(value)
    if (data := button.get("callback_data")) is None:
        raise bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    if not 1 <= len(str(data).encode()) <= CALLBACK_DATA_BYTES:
        raise bad("BUTTON_DATA_INVALID")
    return {key: part for key, part in button.items() if part is not None}


def _button(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise bad("can't parse keyboard button: Button must be an Object")
    if not isinstance(value.get("text"), str) or not value["text"].strip():
        raise bad("can't parse keyboard button: Can't find field \"text\"")
    return value


def check_commands(value: object) -> list[dict[str, str]]:
    """The bot's menu: at most 100 lower-case names with a description."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise bad("expected an Array of BotCommand")
    if len(value) > COMMANDS:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    commands = []
    for item in value:
        name, description = str(item.get("command", "")).removeprefix("/"), str(item.get("description", ""))
        if not _COMMAND.fullmatch(name):
            raise bad("BOT_COMMAND_INVALID")
        if not 1 <= utf16_length(description) <= COMMAND_DESCRIPTION_UNITS:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        commands.append({"command": name, "description": description})
    return commands

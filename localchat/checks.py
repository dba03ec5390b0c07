"""Telegram's own checks of numbers and texts. A violation is refused with Telegram's sentence.

In: numbers, texts. Out: what was checked, or `Refused`. Limits are from core.telegram.org/bots/api; sentences are those
of the live service, or our own where no source is known.
"""

import json

from localchat.records import FormattedText
from localchat.text import utf16_length

TEXT_UNITS = 4096
CAPTION_UNITS = 1024


class Refused(Exception):
    """The Bot API's error response to a call that it rejects."""

    def __init__(self, description: str, *, code: int = 400) -> None:
        super().__init__(description)
        self.description = description
        self.code = code


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
    check_length(formatted.text, TEXT_UNITS, "message is too long")


def check_length(text: str, units: int, sentence: str) -> None:
    """Raises Refused with the sentence."""
    if utf16_length(text) > units:
        raise bad(sentence)


def canonical(value: object) -> str:
    """Canonical JSON: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

"""What Telegram refuses, with its sentence: that of the live service, or our own where no source is known.

In: a text. Out: nothing, or `Refused`. The limits are those of core.telegram.org/bots/api.
"""

from localchat.text import utf16_length

TEXT_UNITS = 4096
CAPTION_UNITS = 1024


class Refused(Exception):
    """The Bot API's error response to a call that it rejects."""

    def __init__(self, description: str, *, code: int = 400) -> None:
        super().__init__(description)
        self.description = description
        self.code = code


def bad(sentence: str) -> Refused:
    """A refusal of the most common kind, 400 Bad Request."""
    return Refused(f"Bad Request: {sentence}")


def check_length(text: str, units: int, sentence: str) -> None:
    """Raises Refused with the sentence."""
    if utf16_length(text) > units:
        raise bad(sentence)

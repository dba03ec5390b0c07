"""Which handler an event belongs to.

In: events and the state that the middlewares read. Out: yes or no, and for a button the message that it belongs to.
"""

from collections.abc import Callable, Mapping

from aiogram.enums import ContentType
from aiogram.types import CallbackQuery, Message

from bot.keyboards import BEFORE_BASE
from bot.services import Talk
from domain.people import Mode

SENT_BY_PEOPLE = frozenset(
    {
        ContentType.TEXT,
        ContentType.DOCUMENT,
        ContentType.PHOTO,
        ContentType.VIDEO,
        ContentType.VIDEO_NOTE,
        ContentType.ANIMATION,
        ContentType.AUDIO,
        ContentType.VOICE,
        ContentType.STICKER,
        ContentType.LOCATION,
        ContentType.VENUE,
        ContentType.CONTACT,
        ContentType.POLL,
        ContentType.DICE,
        ContentType.STORY,
        ContentType.PAID_MEDIA,
        ContentType.CHECKLIST,
        ContentType.LIVE_PHOTO,
        ContentType.RICH_MESSAGE,
        ContentType.GAME,
        ContentType.GIVEAWAY,
    }
)
"""Content that people send. All else («Анна закрепила сообщение») is a service message and is not answered."""


def in_mode(mode: Mode | None) -> Callable[[Message, Talk], bool]:
    """Matches messages of people while this mode is on."""

    def matches(message: Message, talk: Talk) -> bool:
        return talk.state.mode == mode and message.content_type in SENT_BY_PEOPLE

    return matches


def names_mode(modes: Mapping[str, Mode]) -> Callable[[Message | CallbackQuery], bool | dict[str, Mode]]:
    """Matches presses of a mode button; `modes` maps texts or callback data to modes. The handler gets `mode`."""

    def matches(event: Message | CallbackQuery) -> bool | dict[str, Mode]:
        said = event.text if isinstance(event, Message) else event.data
        mode = modes.get((said or "").partition(BEFORE_BASE)[0])
        return {"mode": mode} if mode else False

    return matches


def own_words(message: Message) -> bool:
    """Whether the text is the person's own words to the bot: a caption or a forwarded message is never a command or a
    button label, whatever it says."""
    return message.text is not None and message.forward_origin is None


def is_command(message: Message) -> bool:
    """Matches whatever the person writes that looks like a command; known commands were handled before."""
    return own_words(message) and (message.text or "").startswith("/")


def has_message(query: CallbackQuery) -> bool | dict[str, Message]:
    """Matches buttons whose message Telegram still delivers; the handler gets it as `shown`."""
    return {"shown": query.message} if isinstance(query.message, Message) else False

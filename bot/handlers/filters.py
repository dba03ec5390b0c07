"""Which handler an event belongs to.

In: events and the state that the middlewares read. Out: yes or no, and for buttons the message they hang under.
"""

from collections.abc import Callable, Mapping

from aiogram.enums import ContentType
from aiogram.types import CallbackQuery, Message

from bot.talk import Talk
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
"""Everything else («Анна закрепила сообщение») is Telegram's own and is not answered."""


def in_mode(mode: Mode | None) -> Callable[[Message, Talk], bool]:
    """Messages of people, while this mode is on."""

    def matches(message: Message, talk: Talk) -> bool:
        return talk.state.mode == mode and message.content_type in SENT_BY_PEOPLE

    return matches


def names_mode(modes: Mapping[str, Mode]) -> Callable[[Message | CallbackQuery], bool | dict[str, Mode]]:
    """Presses of a mode button; `modes` says which text or data stands for which. Handed on as `mode`."""

    def matches(event: Message | CallbackQuery) -> bool | dict[str, Mode]:
        said = event.text if isinstance(event, Message) else event.data
        mode = modes.get(said or "")
        return {"mode": mode} if mode else False

    return matches


def own_words(message: Message) -> bool:
    """What the person says to the bot: neither the caption of a file nor a line of a conversation that is forwarded is
    a command or a button, whatever it says."""
    return message.text is not None and message.forward_origin is None


def is_command(message: Message) -> bool:
    """Anything that looks like a command of the person's own; known ones were handled before."""
    return own_words(message) and (message.text or "").startswith("/")


def has_message(query: CallbackQuery) -> bool | dict[str, Message]:
    """Buttons under a message that we can still see; it is handed on as `shown`."""
    return {"shown": query.message} if isinstance(query.message, Message) else False

"""Questions of the bot that people answer by replying: a new name, a part of a name to search for.

In: a question and its subject. Out: a message whose invisible link holds the subject, and a filter for replies to it.
No state is stored: the reply carries the question along, also after a restart.
"""

from collections.abc import Callable
from html import escape
from urllib.parse import urlsplit

from aiogram import Bot
from aiogram.types import ForceReply, Message

from bot.replies.sending import NO_PREVIEW, Place
from bot.texts import Words

_HOST = "baza.invalid"  # RFC 2606: leads nowhere
_MARK = "\u2060"  # takes no room in the text


async def ask(bot: Bot, place: Place, html: str, words: Words, *, about: str, subject: str = "") -> None:
    """Ask for a text; `about` and `subject` (letters, digits and "-") come back with the reply."""
    marked = f'<a href="https://{_HOST}/{about}/{escape(subject)}">{_MARK}</a>{html}'
    await bot.send_message(
        place.chat,
        marked,
        message_thread_id=place.thread,
        link_preview_options=NO_PREVIEW,
        reply_markup=ForceReply(selective=True, input_field_placeholder=words.plain("write-here")),
    )


def answers(about: str) -> Callable[[Message], bool | dict[str, str]]:
    """A filter for replies to questions about `about`; the handler gets the question's subject as `subject`."""

    def matches(message: Message) -> bool | dict[str, str]:
        asked = message.reply_to_message
        if asked is None or not message.text or message.text.startswith("/"):
            return False
        for entity in asked.entities or []:
            parts = urlsplit(entity.url or "")
            if parts.hostname == _HOST and parts.path.startswith(f"/{about}/"):
                return {"subject": parts.path.removeprefix(f"/{about}/")}
        return False

    return matches

"""Answers an event with one sentence, before or instead of a handler.

In: a message or a button press, and the key of a text. Out: a message, or a pop-up for a button. It does not read the
state of the chat: that costs a database call, or is the very call that failed.
"""

from aiogram.enums import ParseMode
from aiogram.types import CallbackQuery, Message, ReplyParameters

from bot.replies.sending import acknowledge
from bot.services import Services
from bot.texts import Value, Words, language_of
from domain.ids import ChatId


def words_for(event: Message | CallbackQuery, services: Services) -> Words:
    """Texts in the language that the chat has chosen, if it is known; else in that of the person's Telegram."""
    message = event.message if isinstance(event, CallbackQuery) else event
    chosen = services.languages.of(ChatId(message.chat.id)) if message else None
    code = event.from_user.language_code if event.from_user else None
    return services.texts.for_language(chosen or language_of(code, default=services.default_language))


async def answer_event(
    event: Message | CallbackQuery, words: Words, key: str, *, in_reply: bool = False, **values: Value
) -> None:
    """Answer a press with a pop-up, a message with a message; with `in_reply` the answer is a reply to it."""
    if isinstance(event, CallbackQuery):
        await acknowledge(event, words.plain(key, **values), alert=True)
        return
    answered = ReplyParameters(message_id=event.message_id, allow_sending_without_reply=True) if in_reply else None
    await event.answer(words(key, **values), parse_mode=ParseMode.HTML, reply_parameters=answered)

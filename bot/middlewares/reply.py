"""One sentence in answer to whatever came, before or instead of a handler.

In: a message or a button press and the key of a text. Out: a message, or a pop-up for a button.
"""

from aiogram.enums import ParseMode
from aiogram.types import CallbackQuery, Message, ReplyParameters

from bot.replies.sending import acknowledge
from bot.texts import Value, Words


async def answer_event(
    event: Message | CallbackQuery, words: Words, key: str, *, in_reply: bool = False, **values: Value
) -> None:
    """Say it where the person looks; `in_reply` shows which message is meant."""
    if isinstance(event, CallbackQuery):
        await acknowledge(event, words.plain(key, **values), alert=True)
        return
    answered = ReplyParameters(message_id=event.message_id, allow_sending_without_reply=True) if in_reply else None
    await event.answer(words(key, **values), parse_mode=ParseMode.HTML, reply_parameters=answered)

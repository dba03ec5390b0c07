"""One sentence in answer to whatever came, before or instead of a handler.

In: a message or a button press and the key of a text. Out: a message, or a pop-up for a button.
"""

from aiogram.enums import ParseMode
from aiogram.types import CallbackQuery, Message

from bot.replies.sending import acknowledge
from bot.texts import Value, Words


async def answer_event(event: Message | CallbackQuery, words: Words, key: str, **values: Value) -> None:
    """Say it where the person looks."""
    if isinstance(event, CallbackQuery):
        await acknowledge(event, words.plain(key, **values), alert=True)
        return
    await event.answer(words(key, **values), parse_mode=ParseMode.HTML)

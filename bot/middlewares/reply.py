"""One sentence in answer to whatever came, before or instead of a handler.

In: a message or a button press and the key of a text. Out: a message, or a pop-up for a button.
"""

from aiogram.enums import ParseMode
from aiogram.types import CallbackQuery, Message

from bot.texts import Value, Words

POPUP_CHARACTERS = 200  # Telegram's limit for answerCallbackQuery


async def answer_event(event: Message | CallbackQuery, words: Words, key: str, **values: Value) -> None:
    """Say it where the person looks."""
    if isinstance(event, CallbackQuery):
        await event.answer(words.plain(key, **values)[:POPUP_CHARACTERS], show_alert=True)
        return
    await event.answer(words(key, **values), parse_mode=ParseMode.HTML)

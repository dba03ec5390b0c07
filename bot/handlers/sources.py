"""Buttons under an answer: the passage behind a source, and thumbs.

In: button presses. Out: the exact passage as an expandable quote, in reply to the upload it comes from; a row of
`answer_feedback` and a tick on the thumb.
"""

from aiogram import Bot, Router
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import CallbackQuery, InlineKeyboardButton, InlineKeyboardMarkup, Message

from bot.handlers.document import original_here
from bot.handlers.filters import has_message
from bot.keyboards import Rate, ShowSource
from bot.replies.answer_buttons import RATINGS
from bot.replies.citations import passage_quote
from bot.replies.rich import split_rich, to_html
from bot.replies.sending import Place, acknowledge, place_at, send
from bot.services import Services, Talk
from domain.ids import ChatId, ChunkId, MessageId
from rag.records import Passage


def build_router() -> Router:
    """Source buttons and thumbs."""
    router = Router(name="sources")
    router.callback_query.register(show_source, ShowSource.filter())
    router.callback_query.register(rate, Rate.filter(), has_message)
    return router


async def show_source(
    query: CallbackQuery, callback_data: ShowSource, bot: Bot, services: Services, talk: Talk
) -> None:
    """The passage, word for word; in bold what carries the answer."""
    passage = await services.passages.passage(talk.base_id, ChunkId(callback_data.chunk))
    if passage is None:
        await acknowledge(query, talk.words.plain("source-gone"), alert=True)
        return
    await acknowledge(query)
    place = await _place_of(passage, services, talk)
    for piece in split_rich(passage_quote(passage, talk.words, bold=callback_data.bold)):
        await send(bot, place, to_html(piece))


async def rate(query: CallbackQuery, callback_data: Rate, shown: Message, services: Services, talk: Talk) -> None:
    """Save the rating for the person who pressed; their last press counts."""
    chat, message = ChatId(shown.chat.id), MessageId(shown.message_id)
    rating = 1 if callback_data.rating > 0 else -1
    await services.library.save_feedback(talk.person, talk.base_id, chat, message, rating=rating)
    services.measures.answer_rated(rating)
    await acknowledge(query, talk.words.plain("feedback-saved"))
    if shown.reply_markup:
        await _tick(shown, shown.reply_markup, rating, talk)


async def _place_of(passage: Passage, services: Services, talk: Talk) -> Place:
    card = await services.library.card(talk.base_id, passage.document_id)
    original = original_here(card, talk.place.chat) if card else None
    return place_at(talk.place, original) if original is not None else talk.place


async def _tick(shown: Message, markup: InlineKeyboardMarkup, rating: int, talk: Talk) -> None:
    ticked = [[_thumb(button, rating, talk) for button in line] for line in markup.inline_keyboard]
    try:
        await shown.edit_reply_markup(reply_markup=InlineKeyboardMarkup(inline_keyboard=ticked))
    except TelegramBadRequest:
        return  # pressed twice, or the message is gone; the rating is saved already


def _thumb(button: InlineKeyboardButton, rating: int, talk: Talk) -> InlineKeyboardButton:
    for value, sign in RATINGS.items():
        if button.callback_data == Rate(rating=value).pack():
            label = talk.words.plain("button-chosen", mode=sign) if value == rating else sign
            return button.model_copy(update={"text": label})
    return button

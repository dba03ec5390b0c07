"""Sends and edits messages, and handles the Telegram errors that are to be expected.

In: HTML and a place. Out: message ids. `bot.telegram` does the retries.
"""

import contextlib
from dataclasses import dataclass

from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import CallbackQuery, InlineKeyboardMarkup, Message, ReplyKeyboardMarkup, ReplyParameters

from domain.ids import ChatId, MessageId, ThreadId

POPUP_CHARACTERS = 200  # Telegram's limit for answerCallbackQuery

Keyboard = InlineKeyboardMarkup | ReplyKeyboardMarkup


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an answer goes."""

    chat: ChatId
    thread: ThreadId | None = None
    reply_to: MessageId | None = None
    is_private: bool = True


def answering(place: Place) -> ReplyParameters | None:
    """What makes a message a reply to another, as long as that one is there."""
    return ReplyParameters(message_id=place.reply_to, allow_sending_without_reply=True) if place.reply_to else None


async def send(bot: Bot, place: Place, html: str, keyboard: Keyboard | None = None) -> MessageId:
    """Send `html`; when the message to reply to is gone, it is sent without the reply."""
    sent = await bot.send_message(
        place.chat,
        html,
        message_thread_id=place.thread,
        reply_parameters=answering(place),
        reply_markup=keyboard,
    )
    return MessageId(sent.message_id)


async def edit(
    bot: Bot, chat: ChatId, message: MessageId, html: str, keyboard: InlineKeyboardMarkup | None = None
) -> bool:
    """Make the message show `html`; False when it can no longer be edited (deleted, too old)."""
    try:
        await bot.edit_message_text(html, chat_id=chat, message_id=message, reply_markup=keyboard)
    except TelegramBadRequest as error:
        return "message is not modified" in error.message
    return True


async def take_away(shown: Message) -> bool:
    """Delete a message; False when it was deleted already, for instance by a first press of its button."""
    try:
        await shown.delete()
    except TelegramBadRequest as refused:  # gone, or too old to be deleted: then it stays
        return "message to delete not found" not in refused.message
    return True


async def acknowledge(query: CallbackQuery, text: str | None = None, *, alert: bool = False) -> None:
    """Answer a press, so that its button stops spinning; for an old one Telegram rejects it, and nobody waits."""
    with contextlib.suppress(TelegramBadRequest):
        await query.answer(text[:POPUP_CHARACTERS] if text else None, show_alert=alert)

"""Sending and editing, with the answers of Telegram that are no mistakes of ours.

In: rich text or HTML and a place. Out: message ids. Waiting and trying again is `bot.telegram_session`'s.
"""

import contextlib
from dataclasses import dataclass, replace

from aiogram import Bot
from aiogram.enums import ParseMode
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import (
    CallbackQuery,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    Message,
    ReplyKeyboardMarkup,
    ReplyParameters,
)

from domain.ids import ChatId, MessageId, ThreadId

_UNCHANGED = "message is not modified"
_GONE = "message to delete not found"
POPUP_CHARACTERS = 200  # Telegram's limit for answerCallbackQuery
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an answer goes."""

    chat: ChatId
    thread: ThreadId | None = None
    reply_to: MessageId | None = None
    is_private: bool = True


async def send(
    bot: Bot, place: Place, html: str, keyboard: InlineKeyboardMarkup | ReplyKeyboardMarkup | None = None
) -> MessageId:
    """Send `html`; a message that it should reply to and that is gone does not hinder it."""
    reply = ReplyParameters(message_id=place.reply_to, allow_sending_without_reply=True) if place.reply_to else None
    sent = await bot.send_message(
        place.chat,
        html,
        message_thread_id=place.thread,
        parse_mode=ParseMode.HTML,
        link_preview_options=NO_PREVIEW,
        reply_parameters=reply,
        reply_markup=keyboard,
    )
    return MessageId(sent.message_id)


async def edit(
    bot: Bot, chat: ChatId, message: MessageId, html: str, keyboard: InlineKeyboardMarkup | None = None
) -> bool:
    """Make the message say `html`; False when it can no longer be edited (deleted, too old)."""
    try:
        await bot.edit_message_text(
            html,
            chat_id=chat,
            message_id=message,
            parse_mode=ParseMode.HTML,
            link_preview_options=NO_PREVIEW,
            reply_markup=keyboard,
        )
    except TelegramBadRequest as error:
        return _UNCHANGED in error.message
    return True


def place_at(place: Place, message: MessageId) -> Place:
    """The same place, in reply to `message` also in a private chat."""
    return replace(place, reply_to=message)


async def take_away(shown: Message) -> bool:
    """Delete a message; False when it was gone already, as when its button was pressed twice."""
    try:
        await shown.delete()
    except TelegramBadRequest as refused:  # or it is too old to be deleted, and stays
        return _GONE not in refused.message
    return True


async def acknowledge(query: CallbackQuery, text: str | None = None, *, alert: bool = False) -> None:
    """Answer a button press, so that it stops spinning. A press that is too old (handled again after a restart) has
    nobody waiting for the answer."""
    with contextlib.suppress(TelegramBadRequest):
        await query.answer(text[:POPUP_CHARACTERS] if text else None, show_alert=alert)

"""Switches between Чат and База, whether by command, label or button.

In: a mode. Out: the mode stored in `user_state`, a short hint, and the keyboard that shows which mode is on.
"""

from aiogram import Bot
from aiogram.types import InlineKeyboardMarkup, ReplyKeyboardMarkup

from bot.handlers.holdings import Lack, lack_of
from bot.keyboards import mode_choice, mode_keyboard
from bot.replies.bases import open_name
from bot.replies.sending import send
from bot.services import Services
from bot.talk import Talk
from bot.texts import Words
from domain.people import Mode


async def switch_mode(bot: Bot, services: Services, talk: Talk, mode: Mode) -> None:
    """Store the mode and say what it means."""
    await services.people.set_mode(talk.state.user_id, mode, thread=talk.state.thread)
    hint = await _hint(services, talk, mode)
    promised = {"hears": services.hears} if hint == "documents-hint" else {}
    await send(bot, talk.place, talk.words(hint, **promised), mode_sign(talk, mode))


def mode_sign(talk: Talk, mode: Mode | None, words: Words | None = None) -> ReplyKeyboardMarkup | InlineKeyboardMarkup:
    """What shows the current mode and the open base: the keyboard in a private chat, buttons under the message in a
    group. `words`: of a language that was chosen just now."""
    show = mode_keyboard if talk.place.is_private else mode_choice
    return show(words or talk.words, mode, base=open_name(talk.state))


async def _hint(services: Services, talk: Talk, mode: Mode) -> str:
    suffix = "" if talk.place.is_private else "-group"
    if mode is Mode.DOCUMENTS:
        return f"documents-hint{suffix}"
    lack = await lack_of(services, talk.base_id)
    if lack is None:
        return f"chat-hint{suffix}"
    if lack is Lack.READING:
        return "chat-hint-reading"
    return "chat-hint-empty" if services.answers_generally else "chat-hint-empty-strict"

"""What this installation has no model for, told to its owner once, and the button that brings search by meaning.

In: the first answer by quotes; a press of the button, which there is only on the page of this machine. Out: a live
message with what `baza models add search` says, which runs as a process of its own. Whoever stops it goes on with the
same button.
"""

import time

from aiogram import Bot, Router
from aiogram.types import CallbackQuery, InlineKeyboardMarkup, Message

from adapters.local.fetching import KNOWN, Task
from bot.cli.errors import CommandError
from bot.handlers.filters import has_message
from bot.inbox import Ticket
from bot.keyboards import ADD_SEARCH, button, rows
from bot.replies.sending import acknowledge, edit, send
from bot.services import Services, Talk

SHOWN_EVERY_S = 1.0  # Telegram allows a bot about one edit a second in a chat


def build_router() -> Router:
    """The button."""
    router = Router(name="models")
    router.callback_query.register(add_search, lambda query: query.data == ADD_SEARCH, has_message)
    return router


async def tell_about_models(bot: Bot, services: Services, talk: Talk) -> None:
    """That answers are quotes, and the two lines that change it; the button where it does something."""
    text = talk.words("answer-full-answers")
    if services.add_search is None:
        await send(bot, talk.place, text)
        return
    model = next(each for each in KNOWN if each.task is Task.SEARCH)
    offer = _offer(talk.words.plain("button-add-search", megabytes=model.megabytes))
    await send(bot, talk.place, f"{text}\n\n{talk.words('search-model-offer')}", offer)


async def add_search(
    query: CallbackQuery, bot: Bot, services: Services, talk: Talk, ticket: Ticket | None = None
) -> None:
    """Download the model, and move the bases to it; the chat goes on meanwhile."""
    if services.add_search is None or not services.is_owner(talk):
        await acknowledge(query, talk.words.plain("search-model-is-there"), alert=True)
        return
    if ticket:
        ticket.release()
    await acknowledge(query)
    if isinstance(query.message, Message):
        await query.message.edit_reply_markup(reply_markup=None)  # a second press would wait for the first
    live = await send(bot, talk.place, talk.words("search-model-going", told=""))
    shown_at = time.monotonic()
    try:
        async for told in services.add_search():
            if time.monotonic() - shown_at >= SHOWN_EVERY_S:
                shown_at = time.monotonic()
                await edit(bot, talk.place.chat, live, talk.words("search-model-going", told=told))
    except CommandError as error:
        text, keyboard = talk.words("search-model-failed", reason=str(error)), _offer(talk.words.plain("button-go-on"))
        await edit(bot, talk.place.chat, live, text, keyboard)
        return
    await edit(bot, talk.place.chat, live, talk.words("search-model-added"))


def _offer(label: str) -> InlineKeyboardMarkup | None:
    return rows([button(label, ADD_SEARCH)])

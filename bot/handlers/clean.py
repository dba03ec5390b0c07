"""/clean: erases the conversation, empties the base, or removes all that is a person's (in their private chat), each
after a confirmation and with a report.

In: the command and buttons. Out: one message that turns from the question into the report; after the conversation was
erased no mode is chosen, and it also shows the menu «Выберите режим работы:» (seed 1, section 4.1.1).
"""

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot.handlers.filters import has_message, may_tidy, own_words
from bot.keyboards import Clean, button, mode_choice, rows
from bot.replies.bases import open_name
from bot.services import Refusal, Talk
from bot.texts import Words
from domain.bases import Role

CHAT, BASE, ALL, NOTHING = "chat", "base", "all", "nothing"


def build_router() -> Router:
    """The command and its buttons."""
    router = Router(name="clean")
    router.message.filter(own_words)
    router.message.register(offer, Command("clean"))
    router.callback_query.register(clean, Clean.filter(), has_message)
    return router


async def offer(talk: Talk) -> None:
    """Ask what to clear."""
    words = talk.words
    choices = [button(words.plain(f"button-clean-{what}"), Clean(what=what)) for what in (CHAT, BASE)]
    all_of_theirs = [button(words.plain("button-clean-all"), Clean(what=ALL))] if talk.place.is_private else []
    await talk.tell("clean-what", rows(choices, all_of_theirs, [_no(words)]))


async def clean(talk: Talk, callback_data: Clean) -> None:
    """Confirm, clear and report, all in the same message."""
    if callback_data.what != NOTHING and not await may_tidy(talk):
        raise Refusal("only-administrators")
    steps = {CHAT: (_ask_chat, _do_chat), BASE: (_ask_base, _do_base)}
    if talk.place.is_private:
        steps[ALL] = (_ask_all, _do_all)
    step = steps.get(callback_data.what, (_leave, _leave))[callback_data.sure]
    html, keyboard = await step(talk)
    await talk.redraw(html, keyboard)


_Shown = tuple[str, InlineKeyboardMarkup | None]


async def _ask_chat(talk: Talk) -> _Shown:
    return talk.words("clean-chat-sure"), _sure_or_no(CHAT, talk.words)


async def _do_chat(talk: Talk) -> _Shown:
    """Erase the conversation. A running turn is ended first: its answer would be remembered afterwards."""
    async with talk.services.turns.at_rest(talk.room):
        removed = await talk.stores.people.clean_chat(talk.state.user_id, base=talk.base_id)
        await talk.stores.people.set_mode(talk.state.user_id, None, thread=talk.state.thread)
    report = talk.words("clean-chat-done", messages=removed.messages)
    return f"{report}\n\n{talk.words('choose-mode')}", mode_choice(talk.words, None, base=open_name(talk.state))


async def _ask_base(talk: Talk) -> _Shown:
    held = await talk.stores.library.count(talk.base_id)
    others = held.others
    if not (held.documents or others):
        return talk.words("clean-base-empty"), None
    sure = talk.words("clean-base-sure", count=held.documents or others)
    unread = f" {talk.words('clean-base-others', count=others)}" if held.documents and others else ""
    return f"{sure}{unread}", _sure_or_no(BASE, talk.words)


async def _do_base(talk: Talk) -> _Shown:
    removed = await talk.stores.library.clean_base(talk.base_id)
    talk.services.wake()  # live messages of documents that were being read show their removal
    return talk.words("clean-base-done", documents=removed.documents, passages=removed.chunks), None


async def _ask_all(talk: Talk) -> _Shown:
    own = [each for each in await talk.stores.bases.all(talk.person) if each.role is Role.OWNER]
    documents, others = sum(each.documents for each in own), sum(each.others for each in own)
    sure = talk.words("clean-all-sure", bases=len(own), documents=documents, others=others)
    return sure, _sure_or_no(ALL, talk.words)


async def _do_all(talk: Talk) -> _Shown:
    async with talk.services.turns.at_rest(talk.room):
        bases, documents = await talk.stores.people.forget(talk.person)
    talk.services.wake()
    return talk.words("clean-all-done", bases=bases, documents=documents), None


async def _leave(talk: Talk) -> _Shown:
    return talk.words("clean-cancelled"), None


def _sure_or_no(what: str, words: Words) -> InlineKeyboardMarkup | None:
    return rows([button(words.plain(f"button-clean-{what}-sure"), Clean(what=what, sure=True)), _no(words)])


def _no(words: Words) -> InlineKeyboardButton:
    return button(words.plain("button-no"), Clean(what=NOTHING))

"""/clean: erases the conversation, empties the base, or removes all that is a person's (in their private chat), each
after a confirmation and with a report.

In: the command and buttons. Out: one message that turns from the question into the report; after the conversation was
erased no mode is chosen, and it also shows the menu «Выберите режим работы:» (seed 1, section 4.1.1).
"""

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import InlineKeyboardButton

from bot.handlers.filters import may_tidy, register_pressed
from bot.keyboards import Clean, Shown, mode_choice, rows, worded
from bot.replies.bases import open_name
from bot.services import Refusal, Talk
from bot.texts import Words
from domain.bases import Role

CHAT, BASE, ALL, NOTHING = "chat", "base", "all", "nothing"


def register(router: Router) -> None:
    router.message.register(offer, Command("clean"))
    register_pressed(router, clean)


async def offer(talk: Talk) -> None:
    words = talk.words
    choices = [worded(words, f"clean-{what}", Clean(what=what)) for what in (CHAT, BASE)]
    all_of_theirs = [worded(words, "clean-all", Clean(what=ALL))] if talk.place.is_private else []
    await talk.tell("clean-what", rows(choices, all_of_theirs, [_no(words)]))


async def clean(talk: Talk, callback_data: Clean) -> None:
    """Confirm, clear and report, all in the same message."""
    what = callback_data.what
    if what != NOTHING and not await may_tidy(talk):
        raise Refusal("only-administrators")
    if what not in (CHAT, BASE) and not (what == ALL and talk.place.is_private):
        await talk.show(talk.words("clean-cancelled"))
    elif callback_data.sure:
        await talk.show(*await _cleaned(talk, what))
        talk.services.wake()  # live messages of documents that were being read show their removal
    elif question := await _question(talk, what):
        sure = worded(talk.words, f"clean-{what}-sure", Clean(what=what, sure=True))
        await talk.show(question, rows([sure, _no(talk.words)]))
    else:
        await talk.show(talk.words("clean-base-empty"))


async def _question(talk: Talk, what: str) -> str:
    """What would be gone; empty where a base holds nothing."""
    if what == CHAT:
        return talk.words("clean-chat-sure")
    if what == ALL:
        own = [each for each in await talk.stores.bases.all(talk.person) if each.role is Role.OWNER]
        documents, others = sum(each.documents for each in own), sum(each.others for each in own)
        return talk.words("clean-all-sure", bases=len(own), documents=documents, others=others)
    held = await talk.stores.library.count(talk.base_id)
    if not (held.documents or held.others):
        return ""
    sure = talk.words("clean-base-sure", count=held.documents or held.others)
    return f"{sure} {talk.words('clean-base-others', count=held.others)}" if held.documents and held.others else sure


async def _cleaned(talk: Talk, what: str) -> Shown:
    """Clear it, and report."""
    words, people = talk.words, talk.stores.people
    if what == BASE:
        gone = await talk.stores.library.clean_base(talk.base_id)
        return words("clean-base-done", documents=gone.documents, passages=gone.chunks), None
    async with talk.services.turns.at_rest(talk.room):  # the answer of a running turn would be remembered afterwards
        if what == ALL:
            bases, documents = await people.forget(talk.person)
            return words("clean-all-done", bases=bases, documents=documents), None
        removed = await people.clean_chat(talk.state.user_id, base=talk.base_id)
        await people.set_mode(talk.state.user_id, None, thread=talk.state.thread)
    report = words("clean-chat-done", messages=removed.messages)
    return f"{report}\n\n{words('choose-mode')}", mode_choice(words, None, base=open_name(talk.state))


def _no(words: Words) -> InlineKeyboardButton:
    return worded(words, "no", Clean(what=NOTHING))

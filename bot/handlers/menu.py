"""The menu: /start, switching between Чат and База, help, privacy, language, a new dialogue, and /clean.

In: commands, mode buttons (inline and of the reply keyboard). Out: the menu; the mode in `user_state`, a short hint,
which depends on whether the base has anything to answer from, and the keyboard that shows which mode is on. /clean asks
and reports in one message; once the conversation is erased it shows the menu, too (seed 1, section 4.1.1).
"""

from dataclasses import replace
from functools import partial
from typing import Literal

from aiogram import F, Router
from aiogram.filters import Command, CommandObject, CommandStart
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, ReplyKeyboardMarkup

from bot.handlers.filters import may_tidy, names_mode, register_pressed
from bot.keyboards import ChooseLanguage, Clean, Shown, button, labelled_modes, mode_choice, mode_keyboard, rows, worded
from bot.replies.bases import open_name
from bot.services import Refusal, Talk
from bot.texts import LANGUAGES, Texts, Words
from domain.bases import Role
from domain.people import Mode

_COMMANDS = {"chat": Mode.CHAT, "base": Mode.DOCUMENTS}
_DEEP_LINKS = {**_COMMANDS, "documents": Mode.DOCUMENTS}  # t.me/<bot>?start=base
CHAT, BASE, ALL, NOTHING = "chat", "base", "all", "nothing"  # what /clean removes
Lack = Literal["empty", "reading"]  # the first documents have come, and none of them can be searched yet


def register(router: Router, texts: Texts) -> None:
    """`texts` serves to recognise the keyboard's buttons by their labels in every language."""
    router.message.register(start, CommandStart())
    router.message.register(greet, F.text == "")
    for command, mode in _COMMANDS.items():
        router.message.register(partial(switch_mode, mode=mode), Command(command))
    router.message.register(switch_mode, names_mode(labelled_modes(texts)))
    router.message.register(help_, Command("help", "privacy"))
    router.message.register(begin_dialogue, Command("new"))
    router.message.register(offer_languages, Command("language"))
    router.callback_query.register(switch_mode, names_mode({mode.value: mode for mode in Mode}))
    router.message.register(offer_cleaning, Command("clean"))
    register_pressed(router, clean)
    register_pressed(router, choose_language, anywhere=True)


async def start(talk: Talk, command: CommandObject) -> None:
    """Greet and ask for a mode; a deep link may name the mode already."""
    if mode := _DEEP_LINKS.get(command.args or ""):
        await switch_mode(talk, mode)
    else:
        await greet(talk)


async def greet(talk: Talk) -> None:
    """Greet. Also used for a bare mention in a group: whoever calls the bot wants to know what it can do."""
    text = f"{talk.words('hello', hears=talk.services.hears)}\n\n{talk.words('choose-mode')}"
    await talk.say(text, mode_choice(talk.words, talk.state.mode, base=open_name(talk.state)))


async def help_(talk: Talk, command: CommandObject) -> None:
    """What works on this installation; /privacy: what is stored."""
    if command.command == "help":
        await talk.tell("help", hears=talk.services.hears)
    else:
        await talk.tell("privacy")


async def begin_dialogue(talk: Talk) -> None:
    """/new: begin a new dialogue; the old one is stored but no longer used. Before the first question there is none."""
    await talk.stores.people.new_session(talk.state.user_id, thread=talk.state.thread)
    past = await talk.stores.dialogue.sessions(talk.state.user_id, base=talk.base_id, limit=1)
    await talk.tell("new-dialogue" if past else "new-dialogue-first")


async def offer_languages(talk: Talk) -> None:
    names = {each: talk.services.texts.for_language(each).plain("language-name") for each in LANGUAGES}
    line = [button(name, ChooseLanguage(language=language)) for language, name in names.items()]
    await talk.tell("language-choose", rows(line))


async def choose_language(talk: Talk, callback_data: ChooseLanguage) -> None:
    language = callback_data.language
    await talk.stores.people.set_language(talk.state.user_id, language)
    talk.services.languages[talk.place.chat] = language
    now = replace(talk, state=replace(talk.state, language=language))
    await now.tell("language-set", mode_sign(now, now.state.mode))


async def switch_mode(talk: Talk, mode: Mode) -> None:
    await talk.acknowledge(f"mode-set-{mode.value}")
    await talk.stores.people.set_mode(talk.state.user_id, mode, thread=talk.state.thread)
    suffix = "" if talk.place.is_private else "-group"
    if mode is Mode.DOCUMENTS:
        promised = {} if suffix else {"hears": talk.services.hears}
        await talk.tell(f"documents-hint{suffix}", mode_sign(talk, mode), **promised)
        return
    lack = await lack_of(talk)
    hint = f"chat-hint-{lack}" if lack else f"chat-hint{suffix}"
    settings = talk.services.settings
    is_strict = lack == "empty" and not (settings.model.configured and settings.answer.general_knowledge)
    await talk.tell("chat-hint-empty-strict" if is_strict else hint, mode_sign(talk, mode))


def mode_sign(talk: Talk, mode: Mode | None) -> ReplyKeyboardMarkup | InlineKeyboardMarkup:
    """What shows the mode and the open base: the keyboard in a private chat, in a group buttons under the message."""
    show = mode_keyboard if talk.place.is_private else mode_choice
    return show(talk.words, mode, base=open_name(talk.state))


async def lack_of(talk: Talk) -> Lack | None:
    """Why nothing can be found in a base; None when it has searchable documents. Raises DatabaseAway."""
    if await talk.stores.search.holds_documents(talk.base_id):
        return None
    newest = await talk.stores.library.documents(talk.base_id, limit=8)
    return "empty" if all(card.status.is_final for card in newest) else "reading"


async def offer_cleaning(talk: Talk) -> None:
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

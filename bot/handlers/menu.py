"""The menu: /start, switching between Чат and База, help, privacy, language, a new dialogue.

In: commands, mode buttons (inline and of the reply keyboard). Out: the menu; the mode in `user_state`, a short hint,
which depends on whether the base has anything to answer from, and the keyboard that shows which mode is on.
"""

from enum import StrEnum

from aiogram import Bot, F, Router
from aiogram.filters import Command, CommandObject, CommandStart
from aiogram.types import CallbackQuery, InlineKeyboardMarkup, Message, ReplyKeyboardMarkup

from bot.handlers.filters import names_mode, own_words
from bot.keyboards import ChooseLanguage, labelled_modes, language_choice, mode_choice, mode_keyboard
from bot.replies.bases import open_name
from bot.replies.sending import acknowledge, send
from bot.services import Services, Talk
from bot.texts import LANGUAGES, Texts, Words
from domain.ids import BaseId
from domain.people import Mode

_COMMANDS = {"chat": Mode.CHAT, "base": Mode.DOCUMENTS}
_DEEP_LINKS = {**_COMMANDS, "documents": Mode.DOCUMENTS}  # t.me/<bot>?start=base

NEWEST = 8  # how many of the newest documents are checked for one that is still being read


def build_router(texts: Texts) -> Router:
    """`texts` serves to recognise the keyboard's buttons by their labels in every language."""
    router = Router(name="menu")
    router.message.filter(own_words)
    router.message.register(start, CommandStart())
    router.message.register(greet, F.text == "")
    router.message.register(switch_by_command, Command(*_COMMANDS))
    router.message.register(switch_by_label, names_mode(labelled_modes(texts)))
    router.message.register(help_, Command("help"))
    router.message.register(say_what_is_stored, Command("privacy"))
    router.message.register(begin_dialogue, Command("new"))
    router.message.register(offer_languages, Command("language"))
    router.callback_query.register(switch_by_button, names_mode({mode.value: mode for mode in Mode}))
    router.callback_query.register(choose_language, ChooseLanguage.filter())
    return router


async def start(message: Message, command: CommandObject, bot: Bot, services: Services, talk: Talk) -> None:
    """Greet and ask for a mode; a deep link may name the mode already."""
    if mode := _DEEP_LINKS.get(command.args or ""):
        await switch_mode(bot, services, talk, mode)
        return
    await greet(message, bot, services, talk)


async def greet(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """Greet. Also used for a bare mention in a group: whoever calls the bot wants to know what it can do."""
    text = f"{talk.words('hello', hears=services.hears)}\n\n{talk.words('choose-mode')}"
    await send(bot, talk.place, text, mode_choice(talk.words, talk.state.mode, base=open_name(talk.state)))


async def switch_by_command(message: Message, command: CommandObject, bot: Bot, services: Services, talk: Talk) -> None:
    """/chat and /base."""
    await switch_mode(bot, services, talk, _COMMANDS[command.command])


async def switch_by_label(message: Message, mode: Mode, bot: Bot, services: Services, talk: Talk) -> None:
    """The mode buttons of the reply keyboard."""
    await switch_mode(bot, services, talk, mode)


async def switch_by_button(query: CallbackQuery, mode: Mode, bot: Bot, services: Services, talk: Talk) -> None:
    """The two buttons of «Выберите режим работы:»."""
    await acknowledge(query, talk.words.plain(f"mode-set-{mode.value}"))
    await switch_mode(bot, services, talk, mode)


async def help_(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """/help: what works on this installation."""
    await send(bot, talk.place, talk.words("help", hears=services.hears))


async def say_what_is_stored(message: Message, bot: Bot, talk: Talk) -> None:
    """/privacy."""
    await send(bot, talk.place, talk.words("privacy"))


async def begin_dialogue(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """/new: begin a new dialogue; the old one is stored but no longer used. Before the first question there is none."""
    await services.people.new_session(talk.state.user_id, thread=talk.state.thread)
    past = await services.dialogues.sessions(talk.state.user_id, base=talk.base_id, limit=1)
    await send(bot, talk.place, talk.words("new-dialogue" if past else "new-dialogue-first"))


async def offer_languages(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """/language."""
    await send(bot, talk.place, talk.words("language-choose"), language_choice(services.texts))


async def choose_language(
    query: CallbackQuery, callback_data: ChooseLanguage, bot: Bot, services: Services, talk: Talk
) -> None:
    """Switch the language; the reply and the keyboard use it at once."""
    if callback_data.language not in LANGUAGES:
        await acknowledge(query, talk.words.plain("unknown-button"), alert=True)
        return
    await services.people.set_language(talk.state.user_id, callback_data.language)
    services.languages.note(talk.place.chat, callback_data.language)
    chosen = services.texts.for_language(callback_data.language)
    await acknowledge(query)
    await send(bot, talk.place, chosen("language-set"), mode_sign(talk, talk.state.mode, chosen))


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


class Lack(StrEnum):
    """Why nothing can be found in a base."""

    EMPTY = "empty"
    READING = "reading"  # the first documents have come, and none of them can be searched yet


async def lack_of(services: Services, base: BaseId) -> Lack | None:
    """None when the base has searchable documents. Raises DatabaseAway."""
    if await services.passages.holds_documents(base):
        return None
    newest = await services.library.documents(base, limit=NEWEST)
    return Lack.EMPTY if all(card.status.is_final for card in newest) else Lack.READING

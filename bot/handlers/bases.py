"""The bases of a person or a group: the list, opening one, a new one, its name, deleting it, a file for another one.

In: /bases and buttons. Out: one message that is edited into what was pressed. What somebody may do is decided in SQL: a
button that was made up ends with BaseClosed or BaseReadOnly. Sharing is in `sharing`.
"""

from contextlib import suppress
from dataclasses import replace

from aiogram import F, Router
from aiogram.filters import Command

from bot.handlers.base import take
from bot.handlers.filters import answers, ask, changeable, has_message, is_in_group, may_tidy, own_words
from bot.handlers.menu import mode_sign
from bot.handlers.received import original_of, receive
from bot.keyboards import ListPage, SendOver, button, rows
from bot.replies.bases import (
    BASES,
    NEW_BASE,
    AddTo,
    BaseAction,
    OpenBase,
    SendTo,
    base_html,
    base_keyboard,
    list_of_bases,
    name_of_base,
    send_keyboard,
    short_id,
    sure_keyboard,
)
from bot.replies.sending import send, take_away
from bot.services import Refusal, Talk
from domain.bases import NAME_CHARACTERS, ListedBase, Role
from domain.errors import BaseClosed, NoRoom
from domain.ids import BaseId
from ingestion.errors import IngestionError

NAME_NEW, NAME_AGAIN = "newbase", "basename"


def build_router() -> Router:
    """/bases and its buttons."""
    router = Router(name="bases")
    router.message.filter(own_words)
    router.message.register(show_list, Command("bases"))
    router.message.register(make, answers(NAME_NEW))
    router.message.register(rename, answers(NAME_AGAIN))
    router.callback_query.register(show_list, F.data == BASES, has_message)
    router.callback_query.register(ask_for_name, F.data == NEW_BASE)
    router.callback_query.register(open_base, OpenBase.filter(), has_message)
    router.callback_query.register(add_to, AddTo.filter(), has_message)
    router.callback_query.register(ask_where, SendOver.filter(), has_message)
    router.callback_query.register(send_over, SendTo.filter(), has_message)
    router.callback_query.register(ask_for_name, BaseAction.filter(F.what == "rename"))
    router.callback_query.register(delete, BaseAction.filter(F.what.in_({"delete", "erase"})), has_message)
    return router


async def show_list(talk: Talk) -> None:
    """/bases, and back to the list."""
    bases = await talk.stores.bases.all(talk.state.user_id, thread=talk.state.thread)
    await talk.show(*list_of_bases(bases, talk.words))


async def open_base(talk: Talk, callback_data: OpenBase) -> None:
    """A number of the list: open the base in this chat or topic, and show it. In a group administrators may. A group's
    is open in a private chat while Telegram says that they are in the group."""
    base = await _listed(talk, BaseId(callback_data.base))
    if base is None:
        raise BaseClosed
    if base.group and talk.place.is_private:
        if not await is_in_group(talk.bot, base.group, talk.person):
            await talk.stores.bases.leave_group(base.group, talk.person)
            raise BaseClosed
        if not await talk.stores.bases.confirm_member(talk.person, base.id):
            raise BaseClosed
    if not await may_tidy(talk):
        raise Refusal("only-administrators-choose")
    await talk.stores.bases.open(talk.state.user_id, base.id, thread=talk.state.thread)
    base = replace(base, is_open=True)
    await talk.redraw(base_html(base, talk.words), base_keyboard(base, talk.words, is_private=talk.place.is_private))
    if base.id != talk.base_id:
        await say_open(talk, base)


async def say_open(talk: Talk, base: ListedBase) -> None:
    """Tell that the base is open now, with the keyboard that shows it."""
    state = await talk.stores.people.state(
        talk.state.user_id, base=talk.base_id, language=talk.state.language, thread=talk.state.thread
    )
    now = replace(talk, state=state, base_id=state.base_id)
    text = talk.words("base-opened", name=name_of_base(base, talk.words))
    await send(talk.bot, replace(talk.place, reply_to=None), text, mode_sign(now, state.mode))


async def ask_for_name(talk: Talk, callback_data: BaseAction | None = None) -> None:
    """«➕ Новая», or «Переименовать» on a base."""
    about, base = (NAME_AGAIN, callback_data.base) if callback_data else (NAME_NEW, "")
    await ask(talk, talk.words("base-name-question"), about=about, subject=base)


async def make(talk: Talk) -> None:
    """The name of a new base: it is made and opened."""
    name = _name(talk)
    if not name or not await may_tidy(talk):
        await talk.tell("base-unnamed" if not name else "only-administrators-choose")
        return
    made = await talk.stores.bases.make(talk.state.user_id, name)
    if made is None:
        await talk.tell("bases-too-many")
        return
    await talk.stores.bases.open(talk.state.user_id, made, thread=talk.state.thread)
    await say_open(talk, ListedBase(id=made, name=name, role=Role.OWNER))


async def rename(talk: Talk, subject: str) -> None:
    """Another name of a base."""
    name = _name(talk)
    if not name:
        await talk.tell("base-unnamed")
        return
    await talk.stores.bases.rename(BaseId(subject), name)
    base = await talk.stores.bases.show(BaseId(subject))
    if base:
        text = talk.words("base-renamed", name=name)
        await talk.say(text, base_keyboard(base, talk.words, is_private=talk.place.is_private))


async def delete(talk: Talk, callback_data: BaseAction) -> None:
    """«Удалить»: what would be gone is told first."""
    base = await base_of(talk, callback_data.base)
    name = name_of_base(base, talk.words)
    if callback_data.what == "delete":
        text = talk.words("base-delete-sure", name=name, count=base.documents, others=base.others)
        await talk.redraw(text, sure_keyboard(base.id, "erase", talk.words))
        return
    gone = await talk.stores.bases.delete(base.id)
    talk.services.wake()  # live messages of documents that were being read show their removal
    if gone is None:
        raise Refusal("base-first-stays")
    await talk.redraw(talk.words("base-deleted", name=name, count=gone))
    await go_home(talk, base.id)


async def add_to(talk: Talk, callback_data: AddTo) -> None:
    """A base under «в этой базе вы только читаете»: the message goes there, and the open base stays open."""
    original, base = await original_of(talk), await _listed(talk, BaseId(callback_data.base))
    if base is None:
        raise Refusal("original-gone")
    there = replace(talk, base_id=base.id, state=replace(talk.state, base_id=base.id, role=base.role))
    await take(there, receive(original, talk.words))
    await take_away(talk.message)


async def ask_where(talk: Talk, callback_data: SendOver) -> None:
    """«В другую базу» on a document's card."""
    card = await changeable(talk, callback_data.document)
    bases = [each for each in await _writable(talk) if each.id != talk.base_id]
    html = talk.words("send-where" if bases else "send-nowhere", title=card.name)
    may_move = talk.state.role is not Role.READER
    await talk.redraw(html, send_keyboard(card.id, bases, talk.words, may_move=may_move))


async def send_over(talk: Talk, callback_data: SendTo) -> None:
    """A base for the document: it is there as it was read, nothing is read again."""
    bases = [each for each in await _writable(talk) if short_id(each.id) == callback_data.base]
    card = await changeable(talk, callback_data.document)
    if not bases:
        raise Refusal("document-gone")
    to, name = bases[0].id, name_of_base(bases[0], talk.words)
    try:
        if card.kept_file and (copy := await talk.stores.bases.keep_copy(card.base_id, card.id, to)):
            with suppress(IngestionError):  # without its original the text goes there alone
                await talk.services.kept_files.copy(card.base_id, card.kept_file, to, copy)
        sent = await talk.stores.bases.send(talk.base_id, card.id, to, move=callback_data.move)
    except NoRoom as full:
        raise Refusal("send-no-room", name=name) from full
    key = "send-there" if sent and sent.was_there else "send-moved" if callback_data.move else "send-copied"
    text = talk.words(key, title=sent.title, name=name) if sent else talk.words("document-gone")
    await talk.redraw(text, rows([button(talk.words.plain("button-back"), ListPage(page=0))]))


async def _writable(talk: Talk) -> list[ListedBase]:
    bases = await talk.stores.bases.all(talk.state.user_id)
    return [each for each in bases if each.role in (Role.OWNER, Role.WRITER)]


async def base_of(talk: Talk, base: str) -> ListedBase:
    """The base of a button. Raises BaseClosed."""
    found = await talk.stores.bases.show(BaseId(base))
    if found is None:
        raise BaseClosed
    return found


async def go_home(talk: Talk, left: BaseId) -> None:
    """Where the open base is no longer theirs, their first one is open now: tell it."""
    if left == talk.base_id:
        (home, *_) = [each for each in await talk.stores.bases.all(talk.state.user_id) if each.is_first]
        await say_open(talk, home)


async def _listed(talk: Talk, base: BaseId) -> ListedBase | None:
    bases = await talk.stores.bases.all(talk.state.user_id, thread=talk.state.thread)
    return next((each for each in bases if each.id == base), None)


def _name(talk: Talk) -> str:
    return " ".join((talk.message.text or "").split())[:NAME_CHARACTERS]

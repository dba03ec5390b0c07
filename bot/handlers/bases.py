"""The bases of a person or a group: the list, opening one, a new one, its name, deleting it, a file for another one.

In: /bases and buttons. Out: one message that is edited into what was pressed. Sharing is in `sharing`. What somebody
may do is decided in SQL: a button of an old message, or one that was made up, ends with BaseClosed or BaseReadOnly.
"""

from contextlib import suppress
from dataclasses import replace

from aiogram import Bot, F, Router
from aiogram.filters import Command
from aiogram.types import CallbackQuery, InlineKeyboardMarkup, Message

from bot.handlers.base import take
from bot.handlers.filters import answers, ask, changeable, has_message, is_in_group, may_change, may_tidy, own_words
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
    list_html,
    list_keyboard,
    name_of_base,
    send_keyboard,
    short_id,
    sure_keyboard,
)
from bot.replies.sending import acknowledge, redraw, send, take_away
from bot.services import Services, Talk
from domain.bases import NAME_CHARACTERS, ListedBase, Role
from domain.documents import DocumentCard
from domain.errors import BaseClosed, NoRoom
from domain.ids import BaseId, DocumentId
from ingestion.errors import IngestionError

NAME_NEW, NAME_AGAIN = "newbase", "basename"


def build_router() -> Router:
    """/bases and its buttons."""
    router = Router(name="bases")
    router.message.filter(own_words)
    router.message.register(show_list, Command("bases"))
    router.message.register(make, answers(NAME_NEW))
    router.message.register(rename, answers(NAME_AGAIN))
    router.callback_query.register(list_again, F.data == BASES, has_message)
    router.callback_query.register(ask_for_new, F.data == NEW_BASE)
    router.callback_query.register(open_base, OpenBase.filter(), has_message)
    router.callback_query.register(add_to, AddTo.filter(), has_message)
    router.callback_query.register(ask_where, SendOver.filter(), has_message)
    router.callback_query.register(send_over, SendTo.filter(), has_message)
    router.callback_query.register(ask_for_name, BaseAction.filter(F.what == "rename"))
    router.callback_query.register(ask_before_deleting, BaseAction.filter(F.what == "delete"), has_message)
    router.callback_query.register(delete, BaseAction.filter(F.what == "erase"), has_message)
    return router


async def show_list(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """/bases."""
    await send(bot, talk.place, *await _list(services, talk))


async def list_again(query: CallbackQuery, shown: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """Back to the list."""
    await redraw(bot, shown, *await _list(services, talk))
    await acknowledge(query)


async def open_base(
    query: CallbackQuery, callback_data: OpenBase, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """A number of the list: open the base in this chat or topic, and show it. In a group administrators may."""
    base = await _listed(services, talk, BaseId(callback_data.base))
    if base is None or not await _is_theirs(bot, services, talk, base):
        raise BaseClosed
    if not await may_tidy(bot, talk):
        await acknowledge(query, talk.words.plain("only-administrators-choose"), alert=True)
        return
    await services.bases.open(talk.state.user_id, base.id, thread=talk.state.thread)
    base = replace(base, is_open=True)
    await redraw(
        bot, shown, base_html(base, talk.words), base_keyboard(base, talk.words, is_private=talk.place.is_private)
    )
    await acknowledge(query)
    if base.id != talk.base_id:
        await say_open(bot, services, talk, base)


async def say_open(bot: Bot, services: Services, talk: Talk, base: ListedBase) -> None:
    """Tell that the base is open now, with the keyboard that shows it."""
    state = await services.people.state(
        talk.state.user_id, base=talk.base_id, language=talk.state.language, thread=talk.state.thread
    )
    now = replace(talk, state=state, base_id=state.base_id)
    text = talk.words("base-opened", name=name_of_base(base, talk.words))
    await send(bot, replace(talk.place, reply_to=None), text, mode_sign(now, state.mode))


async def ask_for_new(query: CallbackQuery, bot: Bot, services: Services, talk: Talk) -> None:
    """«➕ Новая»."""
    await acknowledge(query)
    await ask(bot, services, talk, talk.words("base-name-question"), about=NAME_NEW)


async def make(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """The name of a new base: it is made and opened."""
    name = _name(message)
    if not name or not await may_tidy(bot, talk):
        await send(bot, talk.place, talk.words("base-unnamed" if not name else "only-administrators-choose"))
        return
    made = await services.bases.make(talk.state.user_id, name)
    if made is None:
        await send(bot, talk.place, talk.words("bases-too-many"))
        return
    await services.bases.open(talk.state.user_id, made, thread=talk.state.thread)
    await say_open(bot, services, talk, ListedBase(id=made, name=name, role=Role.OWNER))


async def ask_for_name(
    query: CallbackQuery, callback_data: BaseAction, bot: Bot, services: Services, talk: Talk
) -> None:
    """«Переименовать»."""
    await acknowledge(query)
    await ask(bot, services, talk, talk.words("base-name-question"), about=NAME_AGAIN, subject=callback_data.base)


async def rename(message: Message, subject: str, bot: Bot, services: Services, talk: Talk) -> None:
    """The answer to it."""
    name = _name(message)
    if not name:
        await send(bot, talk.place, talk.words("base-unnamed"))
        return
    await services.bases.rename(BaseId(subject), name)
    base = await services.bases.show(BaseId(subject))
    if base:
        text = talk.words("base-renamed", name=name)
        await send(bot, talk.place, text, base_keyboard(base, talk.words, is_private=talk.place.is_private))


async def ask_before_deleting(
    query: CallbackQuery, callback_data: BaseAction, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """«Удалить»: what would be gone."""
    base = await services.bases.show(BaseId(callback_data.base))
    if base is None:
        raise BaseClosed
    text = talk.words("base-delete-sure", name=name_of_base(base, talk.words), count=base.documents, others=base.others)
    await redraw(bot, shown, text, sure_keyboard(base.id, "erase", talk.words))
    await acknowledge(query)


async def delete(
    query: CallbackQuery, callback_data: BaseAction, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """«Удалить» once more."""
    base = await services.bases.show(BaseId(callback_data.base))
    gone = await services.bases.delete(BaseId(callback_data.base))
    services.wake()  # live messages of documents that were being read show their removal
    if base is None or gone is None:
        await acknowledge(query, talk.words.plain("base-first-stays"), alert=True)
        return
    text = talk.words("base-deleted", name=name_of_base(base, talk.words), count=gone)
    await redraw(bot, shown, text, rows([]))
    await acknowledge(query)
    if base.id == talk.base_id:
        (home, *_) = [each for each in await services.bases.all(talk.state.user_id) if each.is_first]
        await say_open(bot, services, talk, home)


async def add_to(
    query: CallbackQuery, callback_data: AddTo, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """A base under «в этой базе вы только читаете»: the message goes there, and the open base stays open."""
    base, original = await _listed(services, talk, BaseId(callback_data.base)), await original_of(shown, bot)
    if original is None or base is None:
        await acknowledge(query, talk.words.plain("original-gone"), alert=True)
        return
    there = replace(talk, base_id=base.id, state=replace(talk.state, base_id=base.id, role=base.role))
    await take(receive(original, talk.words), bot, services, there)
    await acknowledge(query)
    await take_away(shown)


async def ask_where(
    query: CallbackQuery, callback_data: SendOver, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """«В другую базу» on a document's card."""
    card = await changeable(callback_data.document, query, bot, services, talk)
    if card is None:
        return
    bases = [each for each in await _writable(services, talk) if each.id != talk.base_id]
    html = talk.words("send-where" if bases else "send-nowhere", title=card.name)
    may_move = talk.state.role is not Role.READER
    await redraw(bot, shown, html, send_keyboard(card.id, bases, talk.words, may_move=may_move))
    await acknowledge(query)


async def send_over(
    query: CallbackQuery, callback_data: SendTo, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """A base for the document: it is there as it was read, nothing is read again."""
    bases = [each for each in await _writable(services, talk) if short_id(each.id) == callback_data.base]
    card = await services.library.card(talk.base_id, DocumentId(callback_data.document))
    if card is None or not bases or not await may_change(bot, talk, card):
        await acknowledge(query, talk.words.plain("document-gone"), alert=True)
        return
    name = name_of_base(bases[0], talk.words)
    try:
        await _copy_file(services, card, bases[0].id)
        sent = await services.bases.send(talk.base_id, card.id, bases[0].id, move=callback_data.move)
    except NoRoom:
        await acknowledge(query, talk.words.plain("send-no-room", name=name), alert=True)
        return
    await acknowledge(query)
    key = "send-there" if sent and sent.was_there else "send-moved" if callback_data.move else "send-copied"
    text = talk.words(key, title=sent.title, name=name) if sent else talk.words("document-gone")
    await redraw(bot, shown, text, rows([button(talk.words.plain("button-back"), ListPage(page=0))]))


async def _copy_file(services: Services, card: DocumentCard, to: BaseId) -> None:
    """Its original for another base, where Baza keeps it. Without it the text goes there alone."""
    copy = await services.bases.keep_copy(card.base_id, card.id, to) if card.kept_file else None
    if card.kept_file and copy:
        with suppress(IngestionError):
            await services.kept_files.copy(card.base_id, card.kept_file, to, copy)


_Shown = tuple[str, InlineKeyboardMarkup | None]


async def _list(services: Services, talk: Talk) -> _Shown:
    bases = await services.bases.all(talk.state.user_id, thread=talk.state.thread)
    return list_html(bases, talk.words), list_keyboard(bases, talk.words)


async def _writable(services: Services, talk: Talk) -> list[ListedBase]:
    return [each for each in await services.bases.all(talk.state.user_id) if each.role in (Role.OWNER, Role.WRITER)]


async def _listed(services: Services, talk: Talk, base: BaseId) -> ListedBase | None:
    bases = await services.bases.all(talk.state.user_id, thread=talk.state.thread)
    return next((each for each in bases if each.id == base), None)


async def _is_theirs(bot: Bot, services: Services, talk: Talk, base: ListedBase) -> bool:
    """Whether it is open to them: a group's, in a private chat, while Telegram says that they are in the group."""
    if base.group is None or not talk.place.is_private:
        return True
    if not await is_in_group(bot, base.group, talk.person):
        await services.bases.leave_group(base.group, talk.person)
        return False
    return await services.bases.confirm_member(talk.person, base.id)


def _name(message: Message) -> str:
    return " ".join((message.text or "").split())[:NAME_CHARACTERS]

"""The bases of a person or a group: the list, opening one, a new one, its name, deleting and sharing it, its members,
and the tokens with which a person's programs reach the open base, or all of theirs, over HTTP.

In: /bases, /api and buttons, t.me/<bot>?start=join-…, and Telegram's word that somebody, or the bot itself, left a
group, or that a topic has another name. Out: one message that is edited into what was pressed. What somebody may do is
decided in SQL: a button that was made up ends with BaseClosed or BaseReadOnly, and a token may do no more than whoever
made it. A link's secret and a token are shown once and stored as hashes.
"""

import secrets
from contextlib import suppress
from dataclasses import replace

from aiogram import Bot, F, Router
from aiogram.enums import ChatType
from aiogram.exceptions import TelegramAPIError
from aiogram.filters import Command, CommandObject, CommandStart
from aiogram.filters.callback_data import CallbackData
from aiogram.types import ChatMemberUpdated

from bot.handlers.filters import (
    answers,
    ask,
    changeable,
    has_message,
    is_administrator,
    is_in_group,
    is_inside,
    may_tidy,
    register_pressed,
    writable_bases,
)
from bot.handlers.menu import mode_sign
from bot.handlers.messages import take
from bot.handlers.received import original_of, receive
from bot.keyboards import ListPage, SendOver, button, rows, worded
from bot.replies import bases as view
from bot.services import Refusal, Services, Talk
from bot.telegram import Place, send, take_away
from domain.bases import NAME_CHARACTERS, ListedBase, Role
from domain.errors import BaseClosed, NoRoom
from domain.ids import BaseId, ChatId, UserId
from domain.people import new_token, token_hash
from ingestion.errors import IngestionError

NAME_NEW, NAME_AGAIN = "newbase", "basename"
JOIN = "join-"


def register(router: Router) -> None:
    router.message.register(show_list, Command("bases"))
    router.message.register(make, answers(NAME_NEW))
    router.message.register(rename, answers(NAME_AGAIN))
    router.callback_query.register(show_list, F.data == view.BASES, has_message)
    router.callback_query.register(ask_for_name, F.data == view.NEW_BASE)
    router.callback_query.register(ask_for_name, view.BaseAction.filter(F.what == "rename"))
    router.callback_query.register(delete, view.BaseAction.filter(F.what.in_({"delete", "erase"})), has_message)
    router.callback_query.register(leave, view.BaseAction.filter(F.what.in_({"leave", "quit"})), has_message)
    router.callback_query.register(show_groups, view.BaseAction.filter(F.what == "groups"), has_message)
    router.callback_query.register(show_members, view.BaseAction.filter(F.what == "members"), has_message)
    router.callback_query.register(show_members, view.TakeOff.filter(), has_message)
    router.message.register(show_tokens, Command("api"))
    router.callback_query.register(make_token, NewToken.filter(), F.message.chat.type == "private", has_message)
    router.callback_query.register(revoke_token, RevokeToken.filter(), F.message.chat.type == "private", has_message)
    register_pressed(router, open_base, add_to, ask_where, send_over, share, revoke, bind)


def register_joining(router: Router) -> None:
    """It comes before the menu, whose /start takes any parameter."""
    router.message.register(left, F.left_chat_member)
    router.message.register(name_topic, F.forum_topic_edited.name)
    router.chat_member.register(member_changed)  # told to administrators only; in large groups nobody else is told
    router.my_chat_member.register(member_changed, F.chat.type != ChatType.PRIVATE)
    router.message.register(join, CommandStart(deep_link=True, magic=F.args.startswith(JOIN)))


async def show_list(talk: Talk) -> None:
    bases = await talk.stores.bases.all(talk.state.user_id, thread=talk.state.thread)
    await talk.show(*view.list_of_bases(bases, talk.words))


async def open_base(talk: Talk, callback_data: view.OpenBase) -> None:
    """A number of the list: open the base in this chat or topic, and show it. In a group administrators may. A group's
    is open in a private chat while Telegram says that they are in the group."""
    bases = await talk.stores.bases.all(talk.state.user_id, thread=talk.state.thread)
    base = next((each for each in bases if each.id == callback_data.base), None)
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
    await talk.show(
        view.base_html(base, talk.words), view.base_keyboard(base, talk.words, is_private=talk.place.is_private)
    )
    if base.id != talk.base_id:
        await say_open(talk, base)


async def say_open(talk: Talk, base: ListedBase) -> None:
    """Tell that the base is open now, with the keyboard that shows it."""
    state = await talk.stores.people.state(
        talk.state.user_id, base=talk.base_id, language=talk.state.language, thread=talk.state.thread
    )
    now = replace(talk, state=state)
    text = talk.words("base-opened", name=view.name_of_base(base, talk.words))
    await send(talk.bot, replace(talk.place, reply_to=None), text, mode_sign(now, state.mode))


async def ask_for_name(talk: Talk, callback_data: view.BaseAction | None = None) -> None:
    """«➕ Новая», or «Переименовать» on a base."""
    about, base = (NAME_AGAIN, callback_data.base) if callback_data else (NAME_NEW, "")
    await ask(talk, talk.words("base-name-question"), about=about, subject=base)


async def make(talk: Talk) -> None:
    name = _name(talk)
    if not name or not await may_tidy(talk):
        raise Refusal("only-administrators-choose" if name else "base-unnamed")
    made = await talk.stores.bases.make(talk.state.user_id, name)
    if made is None:
        raise Refusal("bases-too-many")
    await talk.stores.bases.open(talk.state.user_id, made, thread=talk.state.thread)
    await say_open(talk, ListedBase(id=made, name=name, role=Role.OWNER))


async def rename(talk: Talk, subject: str) -> None:
    name = _name(talk)
    if not name:
        raise Refusal("base-unnamed")
    await talk.stores.bases.rename(BaseId(subject), name)
    base = await talk.stores.bases.show(BaseId(subject))
    if base:
        text = talk.words("base-renamed", name=name)
        await talk.say(text, view.base_keyboard(base, talk.words, is_private=talk.place.is_private))


async def delete(talk: Talk, callback_data: view.BaseAction) -> None:
    """«Удалить»: what would be gone is told first."""
    base = await base_of(talk, callback_data.base)
    name = view.name_of_base(base, talk.words)
    if callback_data.what == "delete":
        text = talk.words("base-delete-sure", name=name, count=base.documents, others=base.others)
        await talk.show(text, view.sure_keyboard(base.id, "erase", talk.words))
        return
    gone = await talk.stores.bases.delete(base.id)
    talk.services.wake()  # live messages of documents that were being read show their removal
    if gone is None:
        raise Refusal("base-first-stays")
    await talk.show(talk.words("base-deleted", name=name, count=gone))
    await go_home(talk, base.id)


async def add_to(talk: Talk, callback_data: view.AddTo) -> None:
    """A base under «в этой базе вы только читаете»: the message goes there, and the open base stays open."""
    original, base = await original_of(talk), await base_of(talk, callback_data.base)
    there = replace(talk, state=replace(talk.state, base_id=base.id, role=base.role))
    await take(there, receive(original, talk.words))
    await take_away(talk.message)


async def ask_where(talk: Talk, callback_data: SendOver) -> None:
    """«В другую базу» on a document's card."""
    card = await changeable(talk, callback_data.document)
    bases = [each for each in await writable_bases(talk) if each.id != talk.base_id]
    html = talk.words("send-where" if bases else "send-nowhere", title=card.name)
    may_move = talk.state.role is not Role.READER
    await talk.show(html, view.send_keyboard(card.id, bases, talk.words, may_move=may_move))


async def send_over(talk: Talk, callback_data: view.SendTo) -> None:
    """A base for the document: it is there as it was read, nothing is read again."""
    bases = [each for each in await writable_bases(talk) if view.short_id(each.id) == callback_data.base]
    card = await changeable(talk, callback_data.document)
    if not bases:
        raise Refusal("document-gone")
    to, name = bases[0].id, view.name_of_base(bases[0], talk.words)
    try:
        if card.kept_file and (copy := await talk.stores.bases.keep_copy(card.base_id, card.id, to)):
            with suppress(IngestionError):  # without its original the text goes there alone
                await talk.services.kept_files.copy(card.base_id, card.kept_file, to, copy)
        sent = await talk.stores.bases.send(talk.base_id, card.id, to, move=callback_data.move)
    except NoRoom as full:
        raise Refusal("send-no-room", name=name) from full
    key = "send-there" if sent and sent.was_there else "send-moved" if callback_data.move else "send-copied"
    text = talk.words(key, title=sent.title, name=name) if sent else talk.words("document-gone")
    await talk.show(text, rows([worded(talk.words, "back", ListPage(page=0))]))


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


def _name(talk: Talk) -> str:
    return " ".join((talk.message.text or "").split())[:NAME_CHARACTERS]


async def join(talk: Talk, command: CommandObject) -> None:
    """A link was followed: the person joins, sees whose base it is, and it is open."""
    secret = (command.args or "").removeprefix(JOIN)
    person = talk.message.from_user
    joined = await talk.stores.bases.accept(talk.person, token_hash(secret), name=person.full_name if person else "")
    if joined is None or not talk.place.is_private:
        raise Refusal("share-gone")
    base = ListedBase(id=joined.base, name=joined.name, role=joined.role, owner_name=joined.owner_name)
    await talk.stores.bases.open(talk.state.user_id, base.id, thread=talk.state.thread)
    name = view.name_of_base(base, talk.words)
    if joined.role is Role.OWNER:
        await talk.tell("share-own", name=name)
    else:
        leave_it = worded(talk.words, "leave-base", view.BaseAction(base=base.id, what="leave"))
        await talk.tell(f"share-joined-{joined.role}", rows([leave_it]), name=name, owner=joined.owner_name or "")
    await say_open(talk, base)


async def share(talk: Talk, callback_data: view.ShareBase) -> None:
    """«Поделиться»: what the link is to allow; a choice of it, or «Создать ссылку»."""
    if not callback_data.make:
        await _show_choice(talk, callback_data)
        return
    base, secret = await base_of(talk, callback_data.base), secrets.token_urlsafe(24)
    link = await talk.stores.bases.invite(
        base.id,
        token_hash(secret),
        role=Role.WRITER if callback_data.writes else Role.READER,
        once=callback_data.once,
        days=callback_data.days or None,
    )
    address = f"https://t.me/{(await talk.bot.me()).username}?start={JOIN}{secret}"
    what, name = view.said_of_link(link, talk.words), view.name_of_base(base, talk.words)
    text = talk.words("share-made", name=name, address=address, what=what)
    revoke_it = worded(talk.words, "revoke-this", view.RevokeLink(base=base.id, link=link.id))
    await talk.show(text, rows([revoke_it], [worded(talk.words, "back", view.OpenBase(base=base.id))]))


async def revoke(talk: Talk, callback_data: view.RevokeLink) -> None:
    revoked = await talk.stores.bases.revoke(BaseId(callback_data.base), callback_data.link)
    await talk.acknowledge("share-revoked" if revoked else "share-gone")
    await _show_choice(talk, view.ShareBase(base=callback_data.base))


async def show_members(talk: Talk, callback_data: view.BaseAction | view.TakeOff) -> None:
    """«Участники»; «Исключить» takes one off first, who from now on sees nothing of the base."""
    base = BaseId(callback_data.base)
    if isinstance(callback_data, view.TakeOff):
        await talk.stores.bases.remove_member(base, UserId(callback_data.member))
        await talk.acknowledge("member-gone")
    await talk.show(*view.members_shown(base, await talk.stores.bases.members(base), talk.words))


async def leave(talk: Talk, callback_data: view.BaseAction) -> None:
    """«Выйти из базы»: asked for once more."""
    base = await base_of(talk, callback_data.base)
    name = view.name_of_base(base, talk.words)
    if callback_data.what == "leave":
        await talk.show(talk.words("base-leave-sure", name=name), view.sure_keyboard(base.id, "quit", talk.words))
        return
    await talk.stores.bases.remove_member(base.id, talk.state.user_id)
    await talk.show(talk.words("base-quit", name=name))
    await go_home(talk, base.id)


async def left(talk: Talk) -> None:
    """Somebody left a group, or was taken out: its bases are closed to them."""
    if gone := talk.message.left_chat_member:
        await talk.stores.bases.leave_group(talk.place.chat, UserId(gone.id))


async def member_changed(event: ChatMemberUpdated, bot: Bot, services: Services) -> None:
    """The same by an update of its own. Where the bot itself is out, nobody can be asked for any more."""
    gone = event.new_chat_member
    if not is_inside(gone):
        person = None if gone.user.id == bot.id else UserId(gone.user.id)
        await services.stores.bases.leave_group(ChatId(event.chat.id), person)


async def name_topic(talk: Talk) -> None:
    """A topic has another name, and so has its own base."""
    edited = talk.message.forum_topic_edited
    if talk.place.thread and edited:
        own = await talk.stores.people.open_base(talk.place.chat, thread=talk.place.thread, member=talk.person)
        await talk.stores.bases.rename(own, (edited.name or "")[:NAME_CHARACTERS])


async def show_groups(talk: Talk, callback_data: view.BaseAction) -> None:
    base = await base_of(talk, callback_data.base)
    lines = [
        [button(view.name_of_base(each, talk.words), view.BindBase(base=base.id, group=view.short_id(each.id)))]
        for each in await _groups(talk)
    ]
    key = "base-groups" if lines else "base-groups-none"
    back = [worded(talk.words, "back", view.OpenBase(base=base.id))]
    await talk.show(talk.words(key, name=view.name_of_base(base, talk.words)), rows(*lines, back))


async def bind(talk: Talk, callback_data: view.BindBase) -> None:
    """A group of that list: its administrators may open a base of their own there, for all who write in it."""
    base = await base_of(talk, callback_data.base)
    groups = [each for each in await _groups(talk) if view.short_id(each.id) == callback_data.group]
    if not groups or groups[0].group is None or not await is_administrator(talk.bot, groups[0].group, talk.person):
        raise Refusal("only-administrators-bind")
    group, name = groups[0].group, view.name_of_base(base, talk.words)
    await talk.stores.bases.bind(base.id, group, thread=None, name=groups[0].name or str(group))
    await talk.show(talk.words("base-bound", name=name, group=groups[0].name or ""))
    try:
        await send(talk.bot, Place(chat=group, is_private=False), talk.words("base-bound-group", name=name))
    except TelegramAPIError:  # the bot may not write there; the base is open to those who ask it
        return


async def _groups(talk: Talk) -> list[ListedBase]:
    return [each for each in await talk.stores.bases.all(talk.person) if each.group and each.is_first]


async def _show_choice(talk: Talk, chosen: view.ShareBase) -> None:
    base, links = await base_of(talk, chosen.base), await talk.stores.bases.invitations(BaseId(chosen.base))
    text = talk.words("share-choose", name=view.name_of_base(base, talk.words))
    await talk.show(text, view.share_keyboard(chosen, links, talk.words))


class NewToken(CallbackData, prefix="token"):
    everything: bool  # else for the open base
    writes: bool


class RevokeToken(CallbackData, prefix="untoken"):
    token: int


async def show_tokens(talk: Talk) -> None:
    if talk.place.is_private:
        await _list_tokens(talk)
    else:
        await talk.tell("tokens-private")


async def make_token(talk: Talk, callback_data: NewToken) -> None:
    """A new token, in a message of its own, which the person may delete."""
    if len(await talk.stores.tokens.all(None)) >= 20:
        raise Refusal("tokens-too-many")
    token, base = new_token(), None if callback_data.everything else talk.base_id
    await talk.stores.tokens.add(base, token_hash(token), is_read_only=not callback_data.writes, days=None)
    await _list_tokens(talk)
    await talk.tell("token-made", token=token)


async def revoke_token(talk: Talk, callback_data: RevokeToken) -> None:
    await talk.stores.tokens.revoke(None, UserId(callback_data.token))
    await talk.acknowledge("token-revoked")
    await _list_tokens(talk)


async def _list_tokens(talk: Talk) -> None:
    words, may_write = talk.words, talk.state.role is not Role.READER
    lines, off = [words("tokens-title")], []
    for at, each in enumerate(await talk.stores.tokens.all(None), start=1):
        where = words.plain("token-all") if each.base is None else each.base_name or words.plain("base-own")
        way = words.plain("role-reader" if each.is_read_only else "role-writer")
        used = [words.plain("token-used", day=each.used_at)] if each.used_at else []
        lines.append(words("token-line", number=at, what=" · ".join([where, way, *used])))
        off.append([button(words.plain("button-token-revoke", number=at), RevokeToken(token=each.id))])
    new = [
        [
            worded(words, f"token-{what}-{way}", NewToken(everything=what == "all", writes=way == "write"))
            for way in (("read", "write") if may_write or what == "all" else ("read",))
        ]
        for what in ("base", "all")
    ]
    await talk.show("\n".join(lines), rows(*new, *off))

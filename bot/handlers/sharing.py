"""Sharing a base: links, who has joined by them, joining and leaving; and opening a base in a group.

In: buttons of a base, t.me/<bot>?start=join-…, and Telegram's word that somebody, or the bot itself, left a group, or
that a topic has another name. Out: messages. A link's secret is shown once and stored as a hash.
"""

from aiogram import Bot, F, Router
from aiogram.enums import ChatType
from aiogram.exceptions import TelegramAPIError
from aiogram.filters import CommandObject, CommandStart
from aiogram.types import ChatMemberUpdated

from bot.handlers.bases import base_of, go_home, say_open
from bot.handlers.filters import has_message, is_administrator, is_inside
from bot.keyboards import button, rows
from bot.replies.bases import (
    BaseAction,
    BindBase,
    OpenBase,
    RevokeLink,
    ShareBase,
    TakeOff,
    members_shown,
    name_of_base,
    said_of_link,
    share_keyboard,
    short_id,
    sure_keyboard,
)
from bot.replies.sending import Place, send
from bot.services import Refusal, Services, Talk
from domain.bases import NAME_CHARACTERS, ListedBase, Role, new_secret
from domain.ids import BaseId, ChatId, UserId
from domain.people import token_hash

JOIN = "join-"


def build_router() -> Router:
    """It comes before the menu, whose /start takes any parameter."""
    router = Router(name="sharing")
    router.message.register(left, F.left_chat_member)
    router.message.register(name_topic, F.forum_topic_edited.name)
    router.chat_member.register(member_changed)  # told to administrators only; in large groups nobody else is told
    router.my_chat_member.register(member_changed, F.chat.type != ChatType.PRIVATE)
    router.message.register(join, CommandStart(deep_link=True, magic=F.args.startswith(JOIN)))
    router.callback_query.register(share, BaseAction.filter(F.what == "share"), has_message)
    router.callback_query.register(share, ShareBase.filter(), has_message)
    router.callback_query.register(revoke, RevokeLink.filter(), has_message)
    router.callback_query.register(show_members, BaseAction.filter(F.what == "members"), has_message)
    router.callback_query.register(show_members, TakeOff.filter(), has_message)
    router.callback_query.register(leave, BaseAction.filter(F.what.in_({"leave", "quit"})), has_message)
    router.callback_query.register(show_groups, BaseAction.filter(F.what == "groups"), has_message)
    router.callback_query.register(bind, BindBase.filter(), has_message)
    return router


async def join(talk: Talk, command: CommandObject) -> None:
    """A link was followed: the person joins, sees whose base it is, and it is open."""
    secret = (command.args or "").removeprefix(JOIN)
    person = talk.message.from_user
    joined = await talk.stores.bases.accept(talk.person, token_hash(secret), name=person.full_name if person else "")
    if joined is None or not talk.place.is_private:
        await talk.tell("share-gone")
        return
    base = ListedBase(id=joined.base, name=joined.name, role=joined.role, owner_name=joined.owner_name)
    await talk.stores.bases.open(talk.state.user_id, base.id, thread=talk.state.thread)
    name = name_of_base(base, talk.words)
    if joined.role is Role.OWNER:
        await talk.tell("share-own", name=name)
    else:
        leave_it = button(talk.words.plain("button-leave-base"), BaseAction(base=base.id, what="leave"))
        await talk.tell(f"share-joined-{joined.role}", rows([leave_it]), name=name, owner=joined.owner_name or "")
    await say_open(talk, base)


async def share(talk: Talk, callback_data: ShareBase | BaseAction) -> None:
    """«Поделиться»: what the link is to allow; a choice of it, or «Создать ссылку»."""
    if isinstance(callback_data, BaseAction) or not callback_data.make:
        chosen = ShareBase(base=callback_data.base) if isinstance(callback_data, BaseAction) else callback_data
        await _show_choice(talk, chosen)
        return
    base, secret = await base_of(talk, callback_data.base), new_secret()
    link = await talk.stores.bases.invite(
        base.id,
        token_hash(secret),
        role=Role.WRITER if callback_data.writes else Role.READER,
        once=callback_data.once,
        days=callback_data.days or None,
    )
    address = f"https://t.me/{(await talk.bot.me()).username}?start={JOIN}{secret}"
    what, name = said_of_link(link, talk.words), name_of_base(base, talk.words)
    text = talk.words("share-made", name=name, address=address, what=what)
    revoke_it = button(talk.words.plain("button-revoke-this"), RevokeLink(base=base.id, link=link.id))
    await talk.redraw(text, rows([revoke_it], [button(talk.words.plain("button-back"), OpenBase(base=base.id))]))


async def revoke(talk: Talk, callback_data: RevokeLink) -> None:
    """«Отозвать»."""
    revoked = await talk.stores.bases.revoke(BaseId(callback_data.base), callback_data.link)
    await talk.acknowledge("share-revoked" if revoked else "share-gone")
    await _show_choice(talk, ShareBase(base=callback_data.base))


async def show_members(talk: Talk, callback_data: BaseAction | TakeOff) -> None:
    """«Участники»; «Исключить» takes one off first, who from now on sees nothing of the base."""
    base = BaseId(callback_data.base)
    if isinstance(callback_data, TakeOff):
        await talk.stores.bases.remove_member(base, UserId(callback_data.member))
        await talk.acknowledge("member-gone")
    await talk.redraw(*members_shown(base, await talk.stores.bases.members(base), talk.words))


async def leave(talk: Talk, callback_data: BaseAction) -> None:
    """«Выйти из базы»: asked for once more."""
    base = await base_of(talk, callback_data.base)
    name = name_of_base(base, talk.words)
    if callback_data.what == "leave":
        await talk.redraw(talk.words("base-leave-sure", name=name), sure_keyboard(base.id, "quit", talk.words))
        return
    await talk.stores.bases.remove_member(base.id, talk.state.user_id)
    await talk.redraw(talk.words("base-quit", name=name))
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


async def show_groups(talk: Talk, callback_data: BaseAction) -> None:
    """«Открыть в группе»: the groups where the person has talked to Baza."""
    base = await base_of(talk, callback_data.base)
    lines = [
        [button(name_of_base(each, talk.words), BindBase(base=base.id, group=short_id(each.id)))]
        for each in await _groups(talk)
    ]
    key = "base-groups" if lines else "base-groups-none"
    back = [button(talk.words.plain("button-back"), OpenBase(base=base.id))]
    await talk.redraw(talk.words(key, name=name_of_base(base, talk.words)), rows(*lines, back))


async def bind(talk: Talk, callback_data: BindBase) -> None:
    """A group of that list: its administrators may open a base of their own there, for all who write in it."""
    base = await base_of(talk, callback_data.base)
    groups = [each for each in await _groups(talk) if short_id(each.id) == callback_data.group]
    if not groups or groups[0].group is None or not await is_administrator(talk.bot, groups[0].group, talk.person):
        raise Refusal("only-administrators-bind")
    group, name = groups[0].group, name_of_base(base, talk.words)
    await talk.stores.bases.bind(base.id, group, thread=None, name=groups[0].name or str(group))
    await talk.redraw(talk.words("base-bound", name=name, group=groups[0].name or ""))
    try:
        await send(talk.bot, Place(chat=group, is_private=False), talk.words("base-bound-group", name=name))
    except TelegramAPIError:  # the bot may not write there; the base is open to those who ask it
        return


async def _groups(talk: Talk) -> list[ListedBase]:
    return [each for each in await talk.stores.bases.all(talk.person) if each.group and each.is_first]


async def _show_choice(talk: Talk, chosen: ShareBase) -> None:
    base, links = await base_of(talk, chosen.base), await talk.stores.bases.invitations(BaseId(chosen.base))
    text = talk.words("share-choose", name=name_of_base(base, talk.words))
    await talk.redraw(text, share_keyboard(chosen, links, talk.words))

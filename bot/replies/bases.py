"""Bases on the screen: the list, one base with what can be done with it, links, members.

In: records of `domain.bases`. Out: HTML and buttons. The types below keep `callback_data` within 64 bytes.
"""

from collections.abc import Sequence

from aiogram.filters.callback_data import CallbackData
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot.keyboards import OpenDocument, Shown, button, in_rows, rows, worded
from bot.replies.names import shortened
from bot.texts import Words
from domain.bases import Invitation, ListedBase, Member, Role
from domain.ids import ChatId
from domain.people import UserState

BASES = "bases"  # show the list
NEW_BASE = "newbase"  # ask for the name of a new base
NAME_CHARACTERS = 40


class OpenBase(CallbackData, prefix="open"):
    base: str


class BaseAction(CallbackData, prefix="base"):
    base: str
    what: str  # rename, delete, erase (sure), members, leave, quit (sure), groups


class ShareBase(CallbackData, prefix="link"):
    """A link as it is being chosen; made when `make`."""

    base: str
    writes: bool = False
    once: bool = False
    days: int = 0
    make: bool = False


class RevokeLink(CallbackData, prefix="unlink"):
    base: str
    link: int


class TakeOff(CallbackData, prefix="off"):
    base: str
    member: int


class BindBase(CallbackData, prefix="bind"):
    base: str
    group: str  # the group's own base, by the last 12 digits of its id


class AddTo(CallbackData, prefix="addto"):
    base: str


class SendTo(CallbackData, prefix="to"):
    """Move or copy a document: ids without their hyphens would be too long for two, so the base is one of the list."""

    document: str
    base: str  # the last 12 digits of its id
    move: bool


def name_of_base(base: ListedBase, words: Words) -> str:
    """Plain text: its name, or whose first base it is."""
    if base.name:
        return base.name
    return words.plain("base-of", owner=base.owner_name) if base.owner_name else words.plain("base-own")


def open_name(state: UserState) -> str | None:
    """The name of the open base, where it is not simply the chat's own."""
    if state.base_name is None and state.base_owner is None:
        return None
    is_own_group = state.base_group is not None and state.base_group == ChatId(state.user_id)
    return None if is_own_group else shortened(state.base_name or state.base_owner or "", NAME_CHARACTERS // 2)


def list_of_bases(bases: Sequence[ListedBase], words: Words) -> Shown:
    lines = [words("base-line", number=at, **_facts(base, words)) for at, base in enumerate(bases, start=1)]
    numbers = [button(str(at), OpenBase(base=base.id)) for at, base in enumerate(bases, start=1)]
    keyboard = rows(*in_rows(numbers, 5), [worded(words, "new-base", NEW_BASE)])
    return "\n".join([words("bases-title"), *lines]), keyboard


def base_html(base: ListedBase, words: Words) -> str:
    facts = _facts(base, words)
    return words("base-card", name=facts["name"], facts=facts["facts"])


def base_keyboard(base: ListedBase, words: Words, *, is_private: bool) -> InlineKeyboardMarkup | None:
    """What can be done with it: more for its owner, who does it in the private chat."""
    back = [worded(words, "bases", BASES)]
    if not is_private:
        return rows(back)
    if base.role is not Role.OWNER:
        leave = None if base.group else worded(words, "leave-base", BaseAction(base=base.id, what="leave"))
        return rows([leave], back)

    def action(what: str) -> InlineKeyboardButton:
        return worded(words, f"base-{what}", BaseAction(base=base.id, what=what))

    link = worded(words, "base-share", ShareBase(base=base.id))
    delete = None if base.is_first else action("delete")
    return rows([link, action("members")], [action("groups")], [action("rename"), delete], back)


def sure_keyboard(base: str, what: str, words: Words) -> InlineKeyboardMarkup | None:
    """Yes, or back to the base."""
    yes = worded(words, f"base-{what}", BaseAction(base=base, what=what))
    return rows([yes, worded(words, "no", OpenBase(base=base))])


def share_keyboard(chosen: ShareBase, links: Sequence[Invitation], words: Words) -> InlineKeyboardMarkup | None:
    """What the link allows, for how many and how long; then the links there are, to be revoked."""

    def option(key: str, is_on: bool, **change: object) -> InlineKeyboardButton:
        label = words.plain(key)
        return button(words.plain("button-chosen", mode=label) if is_on else label, chosen.model_copy(update=change))

    revoke = [
        [worded(words, "revoke", RevokeLink(base=chosen.base, link=each.id), link=said_of_link(each, words))]
        for each in links
    ]
    return rows(
        [option("share-read", not chosen.writes, writes=False), option("share-write", chosen.writes, writes=True)],
        [option("share-many", not chosen.once, once=False), option("share-once", chosen.once, once=True)],
        [option(f"share-days-{days}", chosen.days == days, days=days) for days in (0, 7, 30)],
        [worded(words, "make-link", chosen.model_copy(update={"make": True}))],
        *revoke,
        [worded(words, "back", OpenBase(base=chosen.base))],
    )


def members_shown(base: str, members: Sequence[Member], words: Words) -> Shown:
    lines, off = [words("members-title" if members else "members-none")], []
    for at, each in enumerate(members, start=1):
        name, until = each.name or str(each.id), words.plain("base-until", day=each.until) if each.until else ""
        facts = " · ".join(filter(None, [words.plain(f"role-{each.role}"), until]))
        lines.append(words("member-line", number=at, name=name, facts=facts))
        taken = TakeOff(base=base, member=each.id)
        off.append([worded(words, "take-off", taken, name=shortened(name, NAME_CHARACTERS))])
    return "\n".join(lines), rows(*off[:50], [worded(words, "back", OpenBase(base=base))])


def send_keyboard(
    document: str, bases: Sequence[ListedBase], words: Words, *, may_move: bool
) -> InlineKeyboardMarkup | None:
    """For each base: copy, and where the person may, move."""
    ways = ("copy", "move") if may_move else ("copy",)
    lines = []
    for each in bases:
        name = shortened(name_of_base(each, words), NAME_CHARACTERS // 2)
        to = {way: SendTo(document=document, base=short_id(each.id), move=way == "move") for way in ways}
        lines.append([worded(words, f"send-{way}", data, name=name) for way, data in to.items()])
    return rows(*lines, [worded(words, "back", OpenDocument(document=document))])


def short_id(base: str) -> str:
    return base[-12:]


def said_of_link(link: Invitation, words: Words) -> str:
    parts = [words.plain("share-write" if link.role is Role.WRITER else "share-read")]
    parts += [words.plain("share-once")] if link.once else []
    parts += [words.plain("base-until", day=link.until)] if link.until else []
    return ", ".join(parts)


def _facts(base: ListedBase, words: Words) -> dict[str, str]:
    facts = [words.plain("base-documents", count=base.documents)]
    if base.role is Role.READER or base.role is None:
        facts.append(words.plain("role-reader"))
    if base.owner_name and base.name:
        facts.append(words.plain("base-owner", owner=base.owner_name))
    elif base.others and base.role is Role.OWNER:
        facts.append(words.plain("base-others", count=base.others))
    if base.until and not base.group:
        facts.append(words.plain("base-until", day=base.until))
    name = shortened(name_of_base(base, words), NAME_CHARACTERS)
    return {"sign": "●" if base.is_open else "○", "name": name, "facts": " · ".join(facts)}

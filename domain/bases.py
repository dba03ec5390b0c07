"""Bases as people see them: their own, shared ones, those of groups; who else is in them, and links to join.

In: rows of the database. Out: frozen records. What a role may do stands in SQL (`require`), not here.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.ids import BaseId, ChatId, UserId

NAME_CHARACTERS = 60


class Role(StrEnum):
    """What somebody may do with a base; each may do what those before it may."""

    READER = "reader"
    WRITER = "writer"
    OWNER = "owner"


@dataclass(frozen=True, kw_only=True)
class ListedBase:
    """A base in somebody's list."""

    id: BaseId
    name: str | None  # None: the first base of a private chat, which nobody has named
    role: Role | None  # None: a group's base, and Telegram has to be asked whether the person is still there
    owner_name: str | None = None  # None: it is their own
    group: ChatId | None = None  # whose base it is
    until: datetime | None = None  # when the right ends
    documents: int = 0
    others: int = 0  # people and groups besides them
    is_open: bool = False
    is_first: bool = False  # of a chat: it can be emptied, not deleted


@dataclass(frozen=True, kw_only=True)
class Member:
    """Somebody else in a base."""

    id: UserId  # negative: a group, with all who write in it
    name: str | None
    role: Role
    until: datetime | None


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """A link by which people join; its secret is shown once and stored as a hash."""

    id: int
    role: Role
    once: bool
    until: datetime | None


@dataclass(frozen=True, kw_only=True)
class Joined:
    """What following a link has led to."""

    base: BaseId
    name: str | None
    role: Role
    owner_name: str | None  # None: it is their own
    is_new: bool


@dataclass(frozen=True, kw_only=True)
class SentOver:
    """A document that was sent to another base."""

    title: str
    was_there: bool  # the other base has its content, or its address, already: nothing was changed

"""Who is talking, in which mode, for whom a base is read or changed, and the tokens with which programs do it.

In: rows of the database; who it is, from the front that received a request. Out: frozen records; a token's hash, the
only thing that is stored (SHA-256 without salt is enough for 32 random bytes); and who acts, for the database, which
checks their rights in every call. That holds through everything that a request starts.
"""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.bases import Role
from domain.ids import BaseId, ChatId, DocumentId, SessionId, ThreadId, UserId

_PREFIX = "baza_"  # so that programs that look for leaked secrets know it
_acting: ContextVar[UserId] = ContextVar("acting")


class Mode(StrEnum):
    """The two modes of seed 1, §4.1; the values are the ones its `user_state.current_mode` holds."""

    CHAT = "chat"
    DOCUMENTS = "documents"


@dataclass(frozen=True, kw_only=True)
class UserState:
    """The state of one person or one group (then `user_id` is the group's chat id), in one topic of the chat."""

    user_id: UserId
    mode: Mode | None  # None until a mode was chosen, and after a reset
    session_id: SessionId  # the current dialogue
    base_id: BaseId  # the active base
    language: str  # ru or en: the language of the interface
    only: DocumentId | None = None  # questions are asked of this document alone
    thread: ThreadId | None = None  # the topic; None: the chat has none, or it is outside of them
    role: Role | None = Role.OWNER  # in the base; None: it was closed to them meanwhile
    base_name: str | None = None  # None: the first base of the chat, which nobody has named
    base_group: ChatId | None = None  # whose base it is
    base_owner: str | None = None  # None: it is their own


@dataclass(frozen=True, kw_only=True)
class PendingQuestion:
    """What the bot has asked a person and waits to be told."""

    about: str  # the kind of question, for instance "name"
    subject: str = ""  # what it is about, for instance a document's id


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token as its owner sees it in a list."""

    id: UserId  # a token is a person of its own: it has its dialogues and its bounds
    base: BaseId | None  # None: all bases of the person who made it
    base_name: str | None
    is_read_only: bool
    created_at: datetime
    expires_at: datetime | None  # None: it does not end
    used_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Whose token came with a request."""

    token: UserId
    person: UserId | None  # who made it; None: the command line
    opens_all: bool  # every base of that person; `base` is their first one until a request names another
    base: BaseId
    base_name: str | None  # None: the base of a chat
    is_read_only: bool
    wait_s: int | None  # set once the token has made too many requests in this minute

    @property
    def payer(self) -> UserId:
        """In whose day counts what it asks."""
        return self.person or self.token


def new_token() -> str:
    """Shown once."""
    return _PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """What is stored of a token, and what it is found by."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class NobodyActs(Exception):
    """A base was to be read or changed for somebody, and nobody said for whom."""


def act_for(person: UserId) -> None:
    """From here on, as long as this task and what it starts run."""
    _acting.set(person)


@contextmanager
def acting_for(person: UserId) -> Iterator[None]:
    """The same for a while."""
    token = _acting.set(person)
    try:
        yield
    finally:
        _acting.reset(token)


def acting_person() -> UserId:
    """Raises NobodyActs."""
    try:
        return _acting.get()
    except LookupError:
        raise NobodyActs from None

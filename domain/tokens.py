"""Tokens, with which programs reach one base, or all of a person, over HTTP.

In: random bytes, or a token as a program shows it. Out: the token, its hash, and frozen records. Only the hash is
stored; SHA-256 without salt is enough for 32 random bytes, which nobody can guess from it.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime

from domain.ids import BaseId, UserId

_BYTES = 32
_PREFIX = "baza_"  # so that programs that look for leaked secrets know it


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


def new_token() -> str:
    """Shown once."""
    return _PREFIX + secrets.token_urlsafe(_BYTES)


def token_hash(token: str) -> str:
    """What is stored of a token, and what it is found by."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()

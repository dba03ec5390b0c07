"""For whom a base is read or changed: a person, a group by its chat id, or a token of the HTTP API.

In: who it is, from the front (`bot`, `api`) that received their request. Out: the same for the database
(`adapters.database.acting`), which checks their rights in every call. It holds through everything that a request
starts, as the context variables of structlog do, so that no stage in between has to pass it on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from domain.ids import UserId

_acting: ContextVar[UserId] = ContextVar("acting")


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

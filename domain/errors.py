"""What every part can meet: the database does not do what it was asked, or the person may not, a service asks to wait.

In: driver errors, translated by `adapters.database.transport`; a `Retry-After` header (RFC 9110, 10.2.3). Out:
exceptions that may be caught without knowing the adapter; seconds.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


class DatabaseTrouble(Exception):
    """It is away, or it refuses. Where something is only remembered or counted, it must not cost an answer."""

    @property
    def reason(self) -> str:
        """For the log: what kind of trouble, and nothing of what the database was given."""
        return type(self).__name__


class DatabaseAway(DatabaseTrouble):
    """The database did not answer, or not in time; the call may be made again later."""


class BaseClosed(DatabaseTrouble):
    """The base is not there for whoever acts: never was, or not any more."""


class BaseReadOnly(DatabaseTrouble):
    """Whoever acts may read this base, and not do what they asked."""


class NoRoom(DatabaseTrouble):
    """The base may not hold as many passages (BASE_PASSAGES)."""


def retry_after_s(value: str | None, *, now: datetime) -> float | None:
    """Seconds from `now`, never negative: a number, or an HTTP date; None when there is none or it is unreadable."""
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())

"""Expected errors of commands, as sentences.

In: an exception. Out: what happened and what to do next. Any other exception is a bug and keeps its traceback.
"""

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from adapters.database.embedded import EmbeddedDatabaseError
from adapters.database.migrate import MigrationError
from adapters.database.transport import DatabaseAway, DatabaseError
from adapters.local.fetching import LocalModelError
from bot.settings import SettingsError


class CommandError(Exception):
    """A command cannot do its work; the message is the sentence to print."""


def no_such_base(name: str, filled: Sequence[str]) -> str:
    """The sentence for a base name without documents; `filled` are names of some bases that have documents."""
    there = ", ".join(map(repr, filled)) or "none yet"
    return f"There is no base {name!r}. Bases with documents: {there}."


EXPECTED: tuple[type[Exception], ...] = (
    CommandError,
    DatabaseAway,
    DatabaseError,
    EmbeddedDatabaseError,
    LocalModelError,
    MigrationError,
    SettingsError,
)


def sentence(trouble: Exception) -> str:
    """One sentence for a person at a terminal."""
    if isinstance(trouble, DatabaseAway):
        return f"The database does not answer ({trouble}). Check DATABASE_URL or SUPABASE_URL, and that it is running."
    return str(trouble)


@contextmanager
def port_named(port: int, setting: str) -> Iterator[None]:
    """Raises CommandError, a sentence for the engineer, when another program uses the port."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise CommandError(
            f"Port {port} of this machine is taken. Is Baza running already? Else set {setting} to another."
        ) from error

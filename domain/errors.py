"""What every part can meet: the database does not do what it was asked, or the person may not ask it.

In: driver errors, translated by the transports of `adapters.database`. Out: exceptions that `ingestion`, `rag` and
`bot` may catch without knowing the adapter.
"""


class DatabaseTrouble(Exception):
    """It is away, or it refuses. Caught where something is only remembered or counted, which must not cost an
    answer."""

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

"""What a call of the database can end with, whichever transport made it.

In: driver errors, translated by the transports. Out: exceptions that callers decide by.
"""

from domain.errors import DatabaseAway, DatabaseTrouble

__all__ = ["DatabaseAway", "DatabaseError", "RolledBack"]


class RolledBack(DatabaseAway):
    """PostgreSQL rolled the call back because of a concurrent one: nothing was done, and it may be retried at once."""


class DatabaseError(DatabaseTrouble):
    """The database refused a call; the message says which function and why, never the arguments."""

    def __init__(self, function: str, *, code: str, message: str) -> None:
        super().__init__(f"{function}: {code} {message}")
        self.function = function
        self.code = code  # SQLSTATE, or PostgREST's PGRST…

    @property
    def reason(self) -> str:
        """Which function, and the code."""
        return f"{self.function} {self.code}"

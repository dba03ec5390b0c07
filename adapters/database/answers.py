"""What both transports make of an answer, so that a store cannot tell them apart.

In: a driver's code and message, or the rows. Out: DatabaseAway, DatabaseError, or the rows when they are whole.
"""

from adapters.database.errors import DatabaseAway, DatabaseError, RolledBack
from adapters.database.transport import Row
from domain.errors import BaseClosed, BaseReadOnly, DatabaseTrouble

ROWS_MAX = 999
"""PostgREST cuts an answer at `max-rows` (Supabase: 1000) without an error; functions page below it."""
PAGE_ROWS = 900  # rows of a page, where a store reads everything there is

UNKNOWN_FUNCTION = "42883"
TOO_MANY_ROWS = "BZ002"
BASE_CLOSED = "BZ005"
BASE_READ_ONLY = "BZ006"
BAD_TEXT = "22021"
"""SQLSTATE character_not_in_repertoire: a text that PostgreSQL cannot hold (a zero character, half a surrogate)."""

_ROLLED_BACK = ("40001", "40P01")
"""SQLSTATE serialization_failure and deadlock_detected: the transaction, and so the whole call, was rolled back."""

# SQLSTATE classes (appendix A of PostgreSQL's manual): connection, rolled back by a rival, out of resources, stopped
# or timed out, system error. And PostgREST's own: no connection, none in time, schema cache not loaded.
_AWAY_CLASSES = ("08", "40", "53", "57", "58")
_AWAY_CODES = ("PGRST000", "PGRST001", "PGRST002", "PGRST003", "408", "429")
# The same errors, found by PostgREST a step earlier: the name in its schema cache, the text in its JSON body.
_AS_SQLSTATE = {"PGRST202": UNKNOWN_FUNCTION, "22P05": BAD_TEXT}
_SQLSTATE_LENGTH = 5
_HTTP_LENGTH = 3
_DATA_CLASS = "22"
_RIGHTS = {BASE_CLOSED: BaseClosed, BASE_READ_ONLY: BaseReadOnly}


def refused(function: str, *, code: str, message: str) -> DatabaseTrouble:
    """The exception for a call that ended with `code`: a SQLSTATE, PostgREST's, or a proxy's HTTP status."""
    code = _AS_SQLSTATE.get(code, code)
    if code in _RIGHTS:
        return _RIGHTS[code](function)
    if code in _ROLLED_BACK:
        return RolledBack(f"{function}: {code} {message}")
    if _means_away(code):
        return DatabaseAway(f"{function}: {code} {message}")
    if code.startswith(_DATA_CLASS):  # such messages end by quoting the argument: type uuid: "…"
        message = message.partition(': "')[0]
    return DatabaseError(function, code=code, message=message)


def _means_away(code: str) -> bool:
    if len(code) == _SQLSTATE_LENGTH:
        return code.startswith(_AWAY_CLASSES)
    return code in _AWAY_CODES or (len(code) == _HTTP_LENGTH and code.startswith("5"))


def whole(function: str, rows: list[Row]) -> list[Row]:
    """The rows, when nothing can have been cut off. Raises DatabaseError."""
    if len(rows) > ROWS_MAX:
        reason = f"more than {ROWS_MAX} rows; the function must be called page by page"
        raise DatabaseError(function, code=TOO_MANY_ROWS, message=reason)
    return rows

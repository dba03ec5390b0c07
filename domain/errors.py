"""The one trouble that every part can meet: the database does not answer.

In: driver errors, translated by the transports of `adapters.database`. Out: an exception that `ingestion`, `rag` and
`bot` may catch without knowing the adapter.
"""


class DatabaseAway(Exception):
    """The database did not answer, or not in time; the call may be made again later."""

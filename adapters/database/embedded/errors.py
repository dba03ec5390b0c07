"""Why the embedded database cannot run.

In: nothing. Out: one exception, whose message is a whole sentence for the person who started Baza.
"""


class EmbeddedDatabaseError(Exception):
    """The embedded database cannot be started here; the message says why and what to do."""

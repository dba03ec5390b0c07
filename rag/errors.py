"""What can go wrong on the way to an answer, by what is done about it.

In: nothing. Out: exceptions that adapters raise and `rag.conversation` turns into a degraded answer.
"""


class ModelError(Exception):
    """A model service did not do its work."""


class ModelAway(ModelError):
    """It did not answer, or answered 429 or 5xx, also after the retries that the adapter makes."""


class ModelRefused(ModelError):
    """It refuses this key or account (401, 402, 403): a retry is useless until somebody pays or changes the key."""


class ModelNonsense(ModelError):
    """It answered, but not in the shape that was asked for, also after being asked again."""


class ModelMisfit(ModelNonsense):
    """An answer of the wrong shape; the caller may show it to the model and ask once more."""

    def __init__(self, message: str, *, answer: str, problems: str) -> None:
        """`problems`: what does not fit, one problem per line."""
        super().__init__(message)
        self.answer = answer
        self.problems = problems

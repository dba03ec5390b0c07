"""What can be wrong with a local model.

In: nothing. Out: the exception, whose message is a sentence for whoever set the model up.
"""


class LocalModelError(Exception):
    """The model cannot be found, read or used; the message says which and what to do."""

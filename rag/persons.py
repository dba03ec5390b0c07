"""Names of authors and senders, cleaned for a prompt.

In: a name as a file or a message gives it. Out: the name in one line. It does not identify people.
"""

from domain.visible import visible

NAME_CHARS = 100  # a channel's title and a signature have no more


def person_name(name: str | None) -> str:
    """The name of a person, a channel or an author; empty without one."""
    return " ".join(visible(name or "").split())[:NAME_CHARS]

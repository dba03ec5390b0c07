"""A word as the registry of entities sees it.

In: nothing. Out: a frozen record into which both the names of documents and the questions of people are read, so that
they can be matched. It folds nothing itself; `adapters.entities.names` does.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NameWord:
    """One word of a name or of a question."""

    form: str  # as it is written
    keys: tuple[str, ...]  # what it may be found under, in Latin letters: endings and spellings folded, surest first
    is_ordinary: bool  # a dictionary knows it, and not as a name
    is_written_as_name: bool  # capitals where none are due, quotation marks, Latin letters in a Russian text

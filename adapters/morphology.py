"""pymorphy3's analyzer, one for the whole process, with types for the part of it that is used: it has none itself.

In: a word. Out: its readings, the likeliest first. What they are worth is decided by the callers.
"""

import threading
from functools import cache
from typing import Protocol

_loading = threading.Lock()  # otherwise threads that come first together would each load one


class Tag(Protocol):
    """The grammemes of a reading, such as «NOUN» and «Name», with its case and gender."""

    grammemes: frozenset[str]
    case: str | None
    gender: str | None


class Parse(Protocol):
    """One reading of a word."""

    word: str
    normal_form: str
    tag: Tag

    @property
    def lexeme(self) -> "list[Parse]":
        """All forms of the word."""
        ...

    def inflect(self, grammemes: set[str]) -> "Parse | None":
        """The form that has these grammemes; None where the word has none."""
        ...


class Morphology(Protocol):
    """The analyzer, with its dictionary loaded."""

    def parse(self, word: str) -> list[Parse]:
        """At least one; words that stand in no dictionary are guessed."""
        ...

    def word_is_known(self, word: str) -> bool:
        """Whether the dictionary has the form."""
        ...


def dictionary() -> Morphology:
    """The analyzer, loaded at the first call and shared, since each copy takes 18 MB. Threads may share it: once it is
    loaded, only caches of single tags change in it, which every thread would fill alike."""
    with _loading:
        return _load()


@cache
def _load() -> Morphology:
    import pymorphy3  # a tenth of a second, and not every command reads words

    analyzer: Morphology = pymorphy3.MorphAnalyzer()
    return analyzer

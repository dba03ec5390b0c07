"""pymorphy3's analyzer, one for the whole process, with types for the part of it that is used: it has none itself.

In: a word. Out: its readings, the likeliest first. What they are worth is decided by the callers.
"""

import threading
from collections.abc import Iterator
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


class Words(Protocol):
    """All forms of all words."""

    def iteritems(self, beginning: str) -> Iterator[tuple[str, tuple[int, int]]]:
        """Forms with these first letters: the paradigm of each, and the place that it has in it."""
        ...


class Dictionary(Protocol):
    """What the analyzer knows by heart."""

    words: Words


class Morphology(Protocol):
    """The analyzer, with its dictionary loaded."""

    dictionary: Dictionary

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


def beginning(letters: str) -> Iterator[str]:
    """The words of the dictionary that begin with these letters, each in its first form."""
    words = dictionary().dictionary.words
    return (word for word, (_, form) in words.iteritems(letters) if form == 0)


@cache
def _load() -> Morphology:
    import pymorphy3  # a tenth of a second, and not every command reads words

    analyzer: Morphology = pymorphy3.MorphAnalyzer()
    return analyzer

"""pymorphy3's analyzer, one for the whole process, and what is used of it: it comes without types.

In: a word. Out: its readings, the likeliest first. What they are worth is decided elsewhere.
"""

import threading
from functools import cache
from typing import Protocol

_loading = threading.Lock()  # without it, threads that come first together would each load one


class Tag(Protocol):
    """Of a reading: its grammemes, as «NOUN» and «Name», and of them its case and gender."""

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
    """The analyzer, loaded at the first call: 18 MB, which every reader of words would else take for itself. Threads
    may share it: once it is made, all that changes in it are caches of single tags, which each of them would fill
    alike."""
    with _loading:
        return _load()


@cache
def _load() -> Morphology:
    import pymorphy3  # a tenth of a second, and not every command reads words

    analyzer: Morphology = pymorphy3.MorphAnalyzer()
    return analyzer

"""pymorphy3's analyzer, one for the whole process, with types for the part of it that is used: it has none itself.

In: a word. Out: its readings, the likeliest first. What they are worth is decided by the callers.
"""

import threading
from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

_loading = threading.Lock()  # otherwise threads that come first together would each load one


class _Tag(Protocol):
    grammemes: frozenset[str]  # such as «NOUN» and «Name»
    case: str | None
    gender: str | None


class _Parse(Protocol):
    word: str
    normal_form: str
    tag: _Tag

    @property
    def lexeme(self) -> "list[_Parse]": ...

    def inflect(self, grammemes: set[str]) -> "_Parse | None": ...


class Morphology(Protocol):
    """The analyzer, with its dictionary loaded."""

    dictionary: Any

    def parse(self, word: str) -> list[_Parse]: ...  # at least one: unknown words are guessed

    def word_is_known(self, word: str) -> bool: ...


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

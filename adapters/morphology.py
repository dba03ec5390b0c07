"""What is used of pymorphy3's analyzer, which comes without types.

In: a word. Out: its readings, the likeliest first. Nothing is run here.
"""

from typing import Protocol


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

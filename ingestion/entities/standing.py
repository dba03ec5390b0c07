"""Locates in a text what a model claims to have read there: quotations and names.

In: a text, and words as a model returns them. Out: their offset and the text's own spelling, or None. Models copy words
faithfully but change punctuation («» to "", — to -, ё to е), rejoin words hyphenated at a line end, and put inflected
names into the nominative; no other difference is tolerated. Pure.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from domain.names import NameWord
from ingestion.entities.records import NameReader

_SIGNS = str.maketrans({**dict.fromkeys("«»„“”‘’`'", '"'), **dict.fromkeys("‐‑‒–—−", "-"), "ё": "е", "\u00ad": None})
_PARTED = re.compile(r"(?<=[^\W\d_])-\s*(?=[^\W\d_])")  # "lever- age", as PDFs hyphenate it
_PIECE = re.compile(r"\s+|\S")
_EDGES = ' "*#|.…-•'  # what models add to the ends of a quotation, or drop


class ReadableText:
    """A text prepared for many searches."""

    def __init__(self, text: str, names: NameReader) -> None:
        self._text = text
        self._names = names
        self._plain, self._places = _plain(text)

    def quotation(self, words: str) -> tuple[int, str] | None:
        """Where the quotation begins, and the text's own words on one line."""
        whole = _plain(words)[0].strip()
        for wanted in filter(None, (whole, whole.strip(_EDGES))):
            if (start := self._plain.find(wanted)) >= 0:
                return self._original(start, wanted)
        return None

    def _original(self, start: int, wanted: str) -> tuple[int, str]:
        at, end = self._places[start], self._places[start + len(wanted) - 1] + 1
        return at, " ".join(self._text[at:end].split())

    def name(self, name: str) -> int | None:
        """Where the name first occurs, as given, or inflected or in another order («Галимова Рашида»)."""
        wanted = _plain(name)[0].strip()
        found = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", self._plain) if wanted else None
        return self._places[found.start()] if found else self._inflected(self._names.words(name))

    def _inflected(self, words: Sequence[NameWord]) -> int | None:
        for start in range(len(self._words) - len(words) + 1 if words else 0):
            run = self._words[start : start + len(words)]
            if all(any(set(word.keys) & set(other.keys) for other in run) for word in words):
                return self._place_of(run)
        return None

    def _place_of(self, run: Sequence[NameWord]) -> int | None:
        """Where these words stand in sequence; if dropped ones («ООО») are between them, where the first stands."""
        for forms in (run, run[:1]):
            pattern = r"\W+".join(re.escape(word.form) for word in forms)
            if found := re.search(rf"(?<!\w){pattern}(?!\w)", self._text):
                return found.start()
        return None

    @cached_property
    def _words(self) -> tuple[NameWord, ...]:
        return self._names.words(self._text)


def _plain(text: str) -> tuple[str, list[int]]:
    """The text in lower case with uniform punctuation and single blanks, and the source offset of each character."""
    parted = {place for match in _PARTED.finditer(text) for place in range(match.start(), match.end())}
    characters: list[str] = []
    places: list[int] = []
    for match in _PIECE.finditer(text):
        if match.start() in parted:
            continue
        letters = " " if match.group().isspace() else match.group().lower().translate(_SIGNS)
        characters.append(letters)
        places.extend([match.start()] * len(letters))
    return "".join(characters), places

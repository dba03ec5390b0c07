"""Looks up in a fact the words that are said to carry a statement, and cuts long facts to what is near a statement.

In: a fact's text, and words or statements. Out: the place of the words, or the cut text. Only white space, quotation
marks, dashes and ё are alike in a look-up: a paraphrase is not found. Pure.
"""

import re
from collections.abc import Mapping
from itertools import pairwise

from rag.words import Span, held, sentences, stems

_ALIKE: Mapping[int, str] = {
    **dict.fromkeys(map(ord, "«»“”„‟‹›″\u2018\u2019\u201a\u201b'`"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    ord("ё"): "е",
    ord("Ё"): "Е",
}
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w")
_GAP = " … "


def find(words: str, text: str) -> Span | None:
    """Where `words` stand in `text` for the first time; None if they do not, or hold no letter and no digit."""
    wanted, _ = _normalised(words.strip())
    plain, places = _normalised(text)
    at = plain.find(wanted)
    if at < 0 or not _WORD.search(wanted):
        return None
    return Span(start=places[at], end=places[at + len(wanted) - 1] + 1)


def _normalised(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each of its characters the place in `text`."""
    signs: list[str] = []
    places: list[int] = []
    at = 0
    for space in _SPACE.finditer(text):
        signs.append(text[at : space.start()].translate(_ALIKE) + " ")
        places += [*range(at, space.start()), space.end() - 1]
        at = space.end()
    return "".join((*signs, text[at:].translate(_ALIKE))), [*places, *range(at, len(text))]


def near(text: str, about: str, *, limit: int) -> str:
    """At most about `limit` characters: the sentences with most words of `about`, each with its neighbours, in order.
    The first line stays: it may be the head of a table."""
    if len(text) <= limit:
        return text
    spans, wanted = sentences(text), stems(about)
    if not spans:
        return text[:limit]
    shared = [len(held(wanted, text[span.start : span.end])) for span in spans]
    kept, room = {0}, limit - _length(spans[0])
    for best in sorted(range(len(spans)), key=lambda at: (-shared[at], at)):
        for at in (best, best + 1, best - 1):
            if at not in kept and 0 <= at < len(spans) and _length(spans[at]) <= room:
                kept.add(at)
                room -= _length(spans[at])
    return _pieced(text, [spans[at] for at in sorted(kept)], sorted(kept))


def _length(span: Span) -> int:
    return span.end - span.start


def _pieced(text: str, spans: list[Span], numbers: list[int]) -> str:
    """The spans as they stand in the text, with a sign where something was left out between them."""
    parts = [text[spans[0].start : spans[0].end]]
    for (before, after), (one, other) in zip(pairwise(spans), pairwise(numbers), strict=True):
        gap = text[before.end : after.start] if other == one + 1 else _GAP
        parts += [gap, text[after.start : after.end]]
    return "".join(parts)

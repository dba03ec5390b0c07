"""Excerpts of a text: where given words stand in it, what of it is near a question, the piece that says most of it.

In: a text, words that are looked for. Out: spans and pieces of the text, verbatim. In a look-up only white space,
quotation marks, dashes and ё are alike: a paraphrase is not found. Pure.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rag.words import Span, rarity, sentences, stems

QUOTE_CHARS = 400  # as much as a phone shows without scrolling; the source button shows the whole passage
_ALIKE: Mapping[int, str] = {
    **dict.fromkeys(map(ord, "«»“”„‟‹›″\u2018\u2019\u201a\u201b'`"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    ord("ё"): "е",
    ord("Ё"): "Е",
}
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_TEXT_BELOW = "Text:"  # above the text of a fact, as `execution/facts_block.py` tells it
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[ \u00a0\u202f.,](?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_RULE = re.compile(r"\s*\|(?: *:?-+:? *\|)+\s*")  # under the names of columns


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


def near(text: str, about: str, *, limit: int, whole: Sequence[str] = ()) -> str:
    """About `limit` characters, in order: sentences with words of `about` that are rare in the text, each with its
    neighbours; a row of a table with its unit and the names of its columns; the lines above the passage that either
    stands in. The first line stays, and a sentence between two that are shown. Whatever the limit, each word and figure
    that the text shares with one of the statements `whole` is shown where most of that statement stands."""
    if len(text) <= limit:
        return text
    spans = [span for span in sentences(text) if not _RULE.fullmatch(text[span.start : span.end])]
    if not spans:
        return text[:limit]
    told = [stems(_one_spelling(text[span.start : span.end])) for span in spans]
    heads, above = _heads(text, spans)
    with_heads = [{at, *heads.get(at, ()), *above.get(at, ())} for at in range(len(spans))]
    needed = (at for each in whole for at in _covering(told, stems(_one_spelling(each))))
    kept = {0}.union(*(with_heads[at] for at in needed))
    lengths = [span.end - span.start for span in spans]
    room = limit - sum(lengths[at] for at in kept)
    for best in _telling(told, about):
        for wanted in (with_heads[best],) if best in heads else (with_heads[best], {best + 1}, {best - 1}):
            new = {at for at in wanted - kept if 0 <= at < len(spans)}
            if (size := sum(lengths[at] for at in new)) <= room:
                kept |= new
                room -= size
    kept |= {at for at in range(len(spans)) if {at - 1, at + 1} <= kept and at not in heads}
    numbers = sorted(kept)
    parts = [text[spans[numbers[0]].start : spans[numbers[0]].end]]
    for one, other in pairwise(numbers):
        between = text[spans[one].end : spans[other].start] if other == one + 1 else " … "
        parts += [between, text[spans[other].start : spans[other].end]]
    return "".join(parts)


def _one_spelling(text: str) -> str:
    """Figures as one would write them without signs between thousands, and with a decimal point."""
    return _DECIMAL.sub(".", _BETWEEN_THOUSANDS.sub("", text))


def _telling(told: Sequence[frozenset[str]], about: str) -> Iterator[int]:
    """Places of all sentences: those that cover `about`, then those of the others that cover it, and so on."""
    left, wanted = list(range(len(told))), stems(_one_spelling(about))
    while left:
        found = [left[at] for at in _covering([told[at] for at in left], wanted)]
        yield from found or left
        left = [at for at in left if found and at not in found]


def _covering(told: Sequence[frozenset[str]], wanted: frozenset[str]) -> Iterator[int]:
    """Places of sentences that together hold all of `wanted` that any holds, each time the one that says most beyond
    those before it: a figure that one row has tells more than a year that all have."""
    has = {at: wanted & each for at, each in enumerate(told)}
    having = Counter(stem for each in has.values() for stem in each)
    weights = {stem: rarity(count, len(told)) for stem, count in having.items()}
    left = frozenset(having)
    while left:
        best = max(has, key=lambda at: (sum(weights[stem] for stem in has[at] & left), -at))
        yield best
        left -= has[best]


def _heads(text: str, spans: Sequence[Span]) -> tuple[dict[int, range], dict[int, range]]:
    """For each row of a Markdown table that has a rule: the row above the rule, with the lines of its unit above it;
    for each sentence of a passage that is told as in the prompt: the lines with its document, page and section."""
    heads: dict[int, range] = {}
    above: dict[int, range] = {}
    head, lines, begin = range(0), range(0), 0
    for at, (span, after) in enumerate(zip(spans, [*spans[1:], None], strict=True)):
        if at and _PARAGRAPH_END.search(text[spans[at - 1].end : span.start]):
            head, begin = range(0), at
        if after and _RULE.search(text[span.end : after.start]):
            head = range(begin, at + 1)
        elif head and text[span.start] == "|":
            heads[at] = head
        if text[span.start : span.end] == _TEXT_BELOW:
            lines = range(begin, at + 1)
        elif lines:
            above[at] = lines
    return heads, above


def quote(text: str, *, about: str, limit: int = QUOTE_CHARS) -> str:
    """The run of whole sentences, within `limit` characters, that shares most words with `about`; verbatim."""
    if len(text.strip()) <= limit:
        return text.strip()
    spans, wanted = sentences(text), stems(about)
    touched = [wanted & stems(text[span.start : span.end]) for span in spans]

    def run_from(first: int) -> slice:
        fitting = (end for end in range(len(spans), first, -1) if spans[end - 1].end - spans[first].start <= limit)
        return slice(first, next(fitting, first + 1))

    runs = map(run_from, range(len(spans)))
    best = max(runs, key=lambda run: (len(frozenset[str]().union(*touched[run])), -run.start))
    piece = text[spans[best][0].start : spans[best][-1].end]
    return piece if len(piece) <= limit else piece[:limit].rsplit(maxsplit=1)[0]

"""Where the sentences of a text begin and end.

In: text of any length. Out: spans in order, that leave out nothing but whitespace. Russian rules and abbreviations
are razdel's; this module only mends what it is known to miss and keeps its cost linear on endless sentences.
"""

import re
from collections.abc import Iterator

from razdel import sentenize

Offsets = tuple[int, int]
"""Characters [start, end) of the text that was given."""

STRETCH_CHARS = 8_000
"""razdel copies the sentence so far at each possible end: a text without real ends would take quadratic time."""

LAST_SPACE = re.compile(r"\s(?=\S*\Z)")

YEAR_END = re.compile(r"\b\d{4}\s?гг?\.(?=\s+[«\"(]?[А-ЯЁ])")
"""«... в 2024 г. Она ...»: razdel takes «г.» for a shortened word that goes on. A name after a year is rarer."""


def split_sentences(text: str) -> list[Offsets]:
    """Spans of the sentences of `text`; quotes, initials and common Russian abbreviations do not end one."""
    return [span for sentence in _raw_sentences(text) for span in _mend(text, sentence)]


def _raw_sentences(text: str) -> Iterator[Offsets]:
    position = 0
    while position < len(text):
        end = _stretch_end(text, position)
        spans = [(position + found.start, position + found.stop) for found in sentenize(text[position:end])]
        spans = [(start, stop) for start, stop in spans if start < stop]
        may_go_on = end < len(text) and len(spans) > 1  # the last one: it is read again with what follows
        position = spans.pop()[0] if may_go_on else end
        yield from spans


def _stretch_end(text: str, position: int) -> int:
    """Between words where there are any: a sentence larger than a stretch ends there."""
    end = position + STRETCH_CHARS
    if end >= len(text):
        return len(text)
    spaces = LAST_SPACE.search(text, position + 1, end)
    return spaces.start() + 1 if spaces is not None else end


def _mend(text: str, sentence: Offsets) -> Iterator[Offsets]:
    start, end = sentence
    for found in YEAR_END.finditer(text, start, end):
        if found.end() < end:
            yield start, found.end()
            start = _skip_space(text, found.end(), end)
    yield start, end


def _skip_space(text: str, position: int, end: int) -> int:
    while position < end and text[position].isspace():
        position += 1
    return position

"""Finds the sentences of a text.

In: text of any length. Out: spans in order that omit nothing but whitespace. Russian rules and abbreviations come from
razdel; this module fixes its known misses and keeps the cost linear on endless sentences.
"""

import re
from collections.abc import Iterator
from itertools import accumulate

from razdel.rule import SPLIT
from razdel.segmenters.sentenize import DELIMITER, RULES, SentSegmenter, SentSplit, SentSplitter

Offsets = tuple[int, int]
"""Characters [start, end) of the given text."""

STRETCH_CHARS = 4_000
"""razdel copies the sentence so far at each possible end, so a text without real ends would take quadratic time. The
limit is some 1,200 tokens: a longer sentence does not fit a passage anyway."""

BEFORE_SPACE = r"(?=\s)(?!\s(?:[а-яёa-z]{1,8}[\s,]|[а-яёa-z]{9}))"
"""What must follow a sign before razdel is asked: it never ends a sentence unless whitespace follows, nor before a
small letter. This halves the calls of its other rules, which take most of the time."""

LAST_SPACE = re.compile(r"\s(?=\S*\Z)")

YEAR = re.compile(r"\b\d{4}\s?гг?\Z")
CAPITAL = re.compile(r"\s+[«\"(]?[А-ЯЁ]")


def _ends_with_year(split: SentSplit) -> str | None:
    """«... в 2024 г. Она ...»: razdel takes «г.» for an abbreviation inside a sentence. A name there is rarer."""
    return SPLIT if split.delimiter == "." and YEAR.search(split.left) and CAPITAL.match(split.right) else None


SENTENIZE = SentSegmenter(
    split=SentSplitter(pattern=DELIMITER + BEFORE_SPACE),
    rules=[_ends_with_year, *(rule.function for rule in RULES if rule.name != "no_space_prefix")],
)

JOINED_CHARS = 600
"""The longest sentence that joining may produce: a quote that is never closed must not swallow the text."""

TAIL_CHARS = 32  # the end of a sentence, which decides whether the next one belongs to it

JOINTS = (
    # The number of a clause, chapter or item, and its text: «3.2. | Арендатор …», «Глава 1. | Начало.»
    (re.compile(r"\A(?:\d{1,3}\.){1,6}\Z|\A[А-ЯЁа-яёA-Za-z]?[)]\Z"), re.compile(r"\S")),
    (
        re.compile(
            r"\A(?:глава|раздел|статья|часть|пункт|приложение|таблица|рисунок|рис\.|табл\."
            r"|chapter|section|article|part|appendix|table|figure|fig\.)\s+[\dIVXLC.]{1,8}\.\Z",
            re.IGNORECASE,
        ),
        re.compile(r"\S"),
    ),
    # A clause reference inside a sentence: «п. 3.2. | Договора»
    (re.compile(r"\b(?:п|пп|подп|ст|ч)\.\s?\d[\d.]{0,8}\.\Z", re.IGNORECASE), re.compile(r"[А-ЯЁ]")),
    # An abbreviation before a number: «1 янв. | 2024», «доб. | 12», «Fig. | 2»
    (
        re.compile(
            r"\b(?:янв|февр?|мар|апр|июн|июл|авг|сент?|окт|нояб?|дек|доб|табл|рис|илл|гл|разд|прил|тел|стр|кв|корп|оф"
            r"|figs?|nos?|vol|ch|sec|eq|pp?|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.\Z",
            re.IGNORECASE,
        ),
        re.compile(r"\d"),
    ),
    # Direct speech that continues after its attribution: «— Привет! — сказал он. | — Как дела?»
    (re.compile(r"[—–]\s[а-яёa-z][^—–]{0,30}[.!?]\Z"), re.compile(r"[—–]\s")),
)
"""(end of a sentence, beginning of the next one) where razdel ends a sentence but a reader does not."""


def split_sentences(text: str) -> list[Offsets]:
    """Spans of the sentences of `text`; quotes, initials and common Russian abbreviations do not end a sentence."""
    found: list[Offsets] = []
    for start, end in _raw_sentences(text):
        if found and end - found[-1][0] <= JOINED_CHARS and _belongs(text, found[-1], start):
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def _raw_sentences(text: str) -> Iterator[Offsets]:
    position = 0
    while position < len(text):
        end = min(position + STRETCH_CHARS, len(text))
        if end < len(text) and (spaces := LAST_SPACE.search(text, position + 1, end)):
            end = spaces.start() + 1  # a sentence larger than a stretch ends between words
        parts = list(SENTENIZE.segment(SENTENIZE.split(text[position:end])))  # all of it; `find` for each is slow
        spans = [
            (begin + len(part) - len(part.lstrip()), begin + len(part.rstrip()))
            for begin, part in zip(accumulate(map(len, parts), initial=position), parts, strict=False)
            if part.strip()
        ]
        may_go_on = end < len(text) and len(spans) > 1  # the last span is read again with the text after it
        position = spans.pop()[0] if may_go_on else end
        yield from spans


def _belongs(text: str, sentence: Offsets, following: int) -> bool:
    """Whether the text from `following` continues `sentence`."""
    start, end = sentence
    if "\n\n" in text[end:following]:
        return False
    is_open = text.count("«", start, end) > text.count("»", start, end)
    if is_open and text.find("»", following, start + JOINED_CHARS) > 0:
        return True
    tail = text[max(start, end - TAIL_CHARS) : end]
    return any(beginning.match(text, following) and ending.search(tail) for ending, beginning in JOINTS)

"""Finds the sentences of a text.

In: text of any length. Out: spans in order that omit nothing but whitespace. Russian rules and abbreviations come from
razdel; this module asks them only where they may end a sentence, fixes their known misses and keeps the cost linear.
"""

import re
from collections.abc import Iterator

from razdel.rule import SPLIT
from razdel.segmenters.punct import CLOSE_BRACKETS, CLOSE_QUOTES, ENDINGS, GENERIC_QUOTES
from razdel.segmenters.sentenize import BULLET_SIZE, DELIMITERS, RULES, SentSegmenter, SentSplit
from razdel.segmenters.sokr import INITIALS, PAIR_SOKRS, SOKRS

Offsets = tuple[int, int]
"""Characters [start, end) of the given text."""

NEAR_CHARS = 10  # of context on each side of a sign, as in razdel
SIGN = rf"[=:{re.escape(DELIMITERS)}](?:(?<=[=:;])-?[)(]{{1,3}}|(?<![=:]))"
"""razdel's DELIMITER (one of its signs or a smiley) as a pattern that begins with a set: it is found twice as fast."""
CLOSING = re.escape(CLOSE_QUOTES + GENERIC_QUOTES + CLOSE_BRACKETS)
MAY_END = re.compile(
    rf"({SIGN})(?<!\w[{CLOSING}])(?<!\b[A-ZА-ЯЁ]\.)"
    rf"\s{{1,{NEAR_CHARS - 1}}}+(?!\s|\Z|[а-яёa-z]{{1,8}}[\s,]|[а-яёa-z]{{9}})"
)
"""A sign and the whitespace after it, but for most places where no rule of razdel ends a sentence: behind
«слово)» and «А.», before a small letter or the end. Half of the calls of its rules, which cost most, are saved."""

SHORTENED = frozenset({*SOKRS, *INITIALS, *(word for pair in PAIR_SOKRS for word in pair)})
"""The only words of two letters and more after which a rule may end no sentence before a capital or a number."""

YEAR = re.compile(r"\b\d{4}\s?гг?\Z")
CAPITAL = re.compile(r"\s+[«\"(]?[А-ЯЁ]")


def _ends_with_year(split: SentSplit) -> str | None:
    """«... в 2024 г. Она ...»: razdel takes «г.» for an abbreviation inside a sentence. A name there is rarer."""
    return SPLIT if split.delimiter == "." and YEAR.search(split.left) and CAPITAL.match(split.right) else None


SENTENIZE = SentSegmenter(rules=[_ends_with_year, *(rule.function for rule in RULES)])

JOINED_CHARS = 600
"""The longest sentence that joining may produce: a quote that is never closed must not swallow the text."""

TAIL_CHARS = 32  # the end of a sentence, which decides whether the next one belongs to it

PLAIN_END = re.compile(r"[abd-hjkm-uwyzа-яё][.!?…]")
"""An end that none of the joints continues before a letter: of a word of small letters that is no Roman numeral."""

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
    for start, end in razdel_sentences(text):
        if found and end - found[-1][0] <= JOINED_CHARS and _belongs(text, found[-1], start):
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def razdel_sentences(text: str) -> Iterator[Offsets]:
    """As SENTENIZE finds them."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    for place in MAY_END.finditer(text):
        if _ends(text, start, place):
            yield start, place.end(1)
            start = place.end()
    if start < end:
        yield start, end


def _ends(text: str, begin: int, place: re.Match[str]) -> bool:
    """Whether the sentence from `begin` ends at `place`."""
    sign, (start, end) = place[1], place.span(1)
    # razdel reads the sentence so far only where it is short; copies of an endless one would take quadratic time.
    so_far = text[max(begin, start - BULLET_SIZE - 1) : start]
    if sign == "." and so_far.isdigit():
        return False  # «3. Слово»
    word, following = so_far.rpartition(" ")[2], text[place.end()]
    is_usual = word.isalpha() and word[1:].islower() and word.lower() not in SHORTENED
    if is_usual and sign in ENDINGS and (following.isupper() or following.isdecimal()):
        return True  # «слово. Слово»
    split = SentSplit(text[max(0, start - NEAR_CHARS) : start], sign, text[end : end + NEAR_CHARS], so_far)
    return not SENTENIZE.join(split)


def _belongs(text: str, sentence: Offsets, following: int) -> bool:
    """Whether the text from `following` continues `sentence`."""
    start, end = sentence
    if "\n\n" in text[end:following]:
        return False
    is_open = text.count("«", start, end) > text.count("»", start, end)
    if is_open and text.find("»", following, start + JOINED_CHARS) > 0:
        return True
    if text[following].isalpha() and PLAIN_END.fullmatch(text, end - 2, end):
        return False
    tail = text[max(start, end - TAIL_CHARS) : end]
    return any(beginning.match(text, following) and ending.search(tail) for ending, beginning in JOINTS)

"""Finds the sentences of a text.

In: text of any length. Out: spans in order that omit nothing but whitespace. Russian rules and abbreviations come from
razdel; this module fixes its known misses and keeps the cost linear on endless sentences.
"""

import re
from collections.abc import Iterable, Iterator

from razdel.segmenters.punct import CLOSE_BRACKETS, CLOSE_QUOTES, ENDINGS, GENERIC_QUOTES
from razdel.segmenters.sentenize import DELIMITERS, RULES, SentSplit
from razdel.segmenters.sokr import HEAD_SOKRS, INITIALS, PAIR_SOKRS

Offsets = tuple[int, int]
"""Characters [start, end) of the given text."""

STRETCH_CHARS = 4_000
"""razdel copies the sentence so far at each possible end, so a text without real ends would take quadratic time. The
limit is some 1,200 tokens: a longer sentence does not fit a passage anyway."""

BEFORE_SPACE = r"(?=\s)(?!\s(?:[а-яёa-z]{1,8}[\s,]|[а-яёa-z]{9}))"
"""What must follow a sign before razdel is asked: it never ends a sentence unless whitespace follows, nor before a
small letter. This halves the calls of its other rules, which take most of the time."""

USUAL_WORD = re.compile(r"[^\W\d]*[a-zа-яё]{2}\Z")
CAPITAL = re.compile(r"\s+[A-ZА-ЯЁ]")
SHORTENED = frozenset({*HEAD_SOKRS, *INITIALS, *(word for pair in PAIR_SOKRS for word in pair)})
"""Words before a full stop after which razdel may continue the sentence although a capital letter follows."""


SIGN = rf"([=:{re.escape(DELIMITERS)}](?:(?<=[=:;])-?[)(]{{1,3}}|(?<![=:])))"
"""razdel's DELIMITER (one of its signs, or a smiley) as a pattern that begins with a set: it is found twice as fast."""

MAY_END = re.compile(SIGN + BEFORE_SPACE)
WINDOW_CHARS = 10  # of context on both sides of a sign, as razdel uses
CLOSING = frozenset(CLOSE_BRACKETS + CLOSE_QUOTES + GENERIC_QUOTES)
SOONEST = ("empty_side", "initials_left", "list_item")  # they decide most joins; the first must run before the second
JOINING = sorted((rule.function for rule in RULES), key=lambda rule: rule.__name__ not in SOONEST)
"""razdel's rules without its wrappers. A rule can only join, so their order does not change the result."""

LAST_SPACE = re.compile(r"\s(?=\S*\Z)")

YEAR_END = re.compile(r"\b\d{4}\s?гг?\.(\s+)(?=[«\"(]?[А-ЯЁ])")
"""«... в 2024 г. Она ...»: razdel takes «г.» for an abbreviation inside a sentence. A name after a year is rarer."""

YEAR_SIGN = "г."  # a text without it is not searched for years

JOINED_CHARS = 600
"""The longest sentence that joining may produce: a quote that is never closed must not swallow the text."""

TAIL_CHARS = 32  # the end of a sentence, which decides whether the next one belongs to it

PLAIN_END = re.compile(r"[abd-hj-kmnop-uwyzа-яё][.!?…]\Z")
"""A sentence end that no joint continues if a letter follows: small letters, except those of Roman numerals."""

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
    if len(text) <= STRETCH_CHARS and MAY_END.search(text) is None:
        return [_without_space(text, 0, len(text))] if text.strip() else []
    sentences = _raw_sentences(text)
    if YEAR_SIGN in text:
        sentences = (span for sentence in sentences for span in _part(text, sentence))
    return list(_join(text, sentences))


def _raw_sentences(text: str) -> Iterator[Offsets]:
    position = 0
    while position < len(text):
        end = _stretch_end(text, position)
        stretch = sentenize(text[position:end])
        spans = [(position + start, position + stop) for start, stop in stretch if start < stop]
        may_go_on = end < len(text) and len(spans) > 1  # the last span is read again with the text after it
        position = spans.pop()[0] if may_go_on else end
        yield from spans


def sentenize(text: str) -> Iterator[Offsets]:
    """The spans of razdel's function of this name, at the ends that MAY_END allows; a span may be empty. razdel applies
    eleven rules at each end; for most ends the outcome is obvious without them."""
    begin = 0
    for found in MAY_END.finditer(text):
        if not _is_joined(text, begin, found):
            yield _without_space(text, begin, found.end())
            begin = found.end()
    yield _without_space(text, begin, len(text))


def _is_joined(text: str, begin: int, found: re.Match[str]) -> bool:
    """Whether the sentence from `begin` continues after the sign `found`."""
    start, stop = found.span()
    sign, before = found[1], text[start - 1 : start]
    if sign in CLOSING and before not in ENDINGS and not before.isspace():
        return True  # «слово) ...»
    left = max(0, start - WINDOW_CHARS)
    if sign in ENDINGS and CAPITAL.match(text, stop, stop + WINDOW_CHARS):
        word = USUAL_WORD.search(text, left, start)
        if word is not None and word[0].lower() not in SHORTENED:
            return False  # «слово. Слово»
    split = SentSplit(text[left:start], sign, text[stop : stop + WINDOW_CHARS], text[begin:start])
    return any(rule(split) for rule in JOINING)


def _without_space(text: str, start: int, stop: int) -> Offsets:
    words = text[start:stop]
    start += len(words) - len(words.lstrip())
    return start, start + len(words.strip())


def _stretch_end(text: str, position: int) -> int:
    """The end of the stretch, between words if possible: a sentence larger than a stretch ends there."""
    end = position + STRETCH_CHARS
    if end >= len(text):
        return len(text)
    return spaces.start() + 1 if (spaces := LAST_SPACE.search(text, position + 1, end)) else end


def _part(text: str, sentence: Offsets) -> Iterator[Offsets]:
    """Split what razdel takes for one sentence and a reader for two."""
    start, end = sentence
    for found in YEAR_END.finditer(text, start, end):
        yield start, found.start(1)
        start = found.end()
    yield start, end


def _join(text: str, sentences: Iterable[Offsets]) -> Iterator[Offsets]:
    """Join what razdel takes for several sentences and a reader for one."""
    held: Offsets | None = None
    for start, end in sentences:
        if held and end - held[0] <= JOINED_CHARS and _belongs(text, held, start):
            held = held[0], end
            continue
        if held:
            yield held
        held = start, end
    if held is not None:
        yield held


def _belongs(text: str, sentence: Offsets, following: int) -> bool:
    """Whether the text from `following` continues `sentence`."""
    start, end = sentence
    if "\n\n" in text[end:following]:
        return False
    is_open = text.count("«", start, end) > text.count("»", start, end)
    if is_open and text.find("»", following, start + JOINED_CHARS) > 0:
        return True
    tail = text[max(start, end - TAIL_CHARS) : end]
    if text[following].isalpha() and PLAIN_END.search(tail, len(tail) - 2):
        return False
    return any(beginning.match(text, following) and ending.search(tail) for ending, beginning in JOINTS)

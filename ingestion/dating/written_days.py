"""Finds days as people write them, in Russian and English.

In: a line of text, or a file name. Out: the days in it with their positions, in order. An ambiguous day (03/04/2024) is
skipped. It does not decide whose day it is. Pure.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

_CENTURY = 2000  # for two-digit years: documents of the last century are rare, and write the year out
_YEAR_DIGITS = 4

_YEAR = re.compile(r"\d{4}|\.\d\d")

_RUSSIAN = ("янв", "фев", "мар", "апр", "ма", "июн", "июл", "авг", "сен", "окт", "ноя", "дек")
_ENGLISH = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_RUSSIAN_OF = (
    r"(?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
    r"|(?:янв|февр?|мар|апр|июн|июл|авг|сент?|окт|нояб?|дек)\.?)"
)
_ENGLISH_NAME = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)


@dataclass(frozen=True, kw_only=True)
class WrittenDay:
    """A day and the characters [start, end) that state it, including «г.»."""

    day: date
    start: int
    end: int


def written_days(line: str) -> tuple[WrittenDay, ...]:
    """Existing days only: 31.02.2024 is skipped."""
    if not _YEAR.search(line):  # true of most lines; saves seven searches
        return ()
    return tuple(sorted(_all_days(line, _DAYS), key=lambda written: written.start))


def named_days(name: str) -> tuple[WrittenDay, ...]:
    """The same for a file name, where 20240312 is a day too."""
    return tuple(sorted(_all_days(name, (*_DAYS, _RUN)), key=lambda written: written.start))


@dataclass(frozen=True, kw_only=True)
class _Form:
    """A notation: its pattern, and how to get year, month and day from a match."""

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], tuple[int, int, int] | None]


def _all_days(text: str, forms: Sequence[_Form]) -> Iterator[WrittenDay]:
    for form in forms:
        for found in form.pattern.finditer(text):
            day = _real(form.read(found))
            if day is not None:
                yield WrittenDay(day=day, start=found.start(), end=found.end())


def _real(parts: tuple[int, int, int] | None) -> date | None:
    try:
        return date(*parts) if parts else None
    except ValueError:
        return None


def _month(name: str) -> int:
    """1 to 12, by the first letters; «мая» is matched after «мар»."""
    beginning = name.casefold()[:3]
    for months in (_RUSSIAN, _ENGLISH):
        for number, stem in enumerate(months, start=1):
            if beginning.startswith(stem) and (stem != "ма" or beginning in ("мая", "май")):
                return number
    return 0  # no month: `_real` rejects it


def _full_year(digits: str) -> int:
    return int(digits) + (0 if len(digits) == _YEAR_DIGITS else _CENTURY)


def _slashed(found: re.Match[str]) -> tuple[int, int, int] | None:
    """Day or month first: decided only if one of the two is no month or both are equal."""
    first, second, year = int(found[1]), int(found[3]), int(found[4])
    months = 12
    if first > months or first == second:
        return year, second, first
    return (year, first, second) if second > months else None


def _numbers(order: Mapping[str, int]) -> Callable[[re.Match[str]], tuple[int, int, int]]:
    def read(found: re.Match[str]) -> tuple[int, int, int]:
        return _full_year(found[order["year"]]), int(found[order["month"]]), int(found[order["day"]])

    return read


def _words(found: re.Match[str]) -> tuple[int, int, int]:
    return int(found["year"]), _month(found["month"]), int(found["day"])


_OF_YEAR = r"(?:\s*(?:г\b\.?|года?\b))?"
_DAYS = (
    _Form(
        pattern=re.compile(
            rf"(?<!\d)[«\"“„]?\s?(?P<day>\d{{1,2}})\s?[»\"”“]?\s+(?P<month>{_RUSSIAN_OF})\s+(?P<year>\d{{4}})(?!\d){_OF_YEAR}",
            re.IGNORECASE,
        ),
        read=_words,
    ),
    _Form(
        pattern=re.compile(
            rf"\b(?P<month>{_ENGLISH_NAME})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})(?!\d)",
            re.IGNORECASE,
        ),
        read=_words,
    ),
    _Form(
        pattern=re.compile(
            rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?(?P<month>{_ENGLISH_NAME}),?[\s-]+(?P<year>\d{{4}})(?!\d)",
            re.IGNORECASE,
        ),
        read=_words,
    ),
    _Form(
        pattern=re.compile(rf"(?<![\d.])(\d{{1,2}})\.(\d{{2}})\.(\d{{4}})(?!\d|\.\d){_OF_YEAR}"),
        read=_numbers({"day": 1, "month": 2, "year": 3}),
    ),
    _Form(
        pattern=re.compile(rf"(?<![\d.])(\d{{2}})\.(\d{{2}})\.(\d{{2}})(?!\d|\.\d){_OF_YEAR}"),
        read=_numbers({"day": 1, "month": 2, "year": 3}),
    ),
    _Form(
        pattern=re.compile(r"(?<!\d)(\d{4})([-./_])(\d{2})\2(\d{2})(?!\d)"),
        read=_numbers({"year": 1, "month": 3, "day": 4}),
    ),
    _Form(pattern=re.compile(r"(?<![\d/])(\d{1,2})([/_-])(\d{1,2})\2(\d{4})(?![\d/])"), read=_slashed),
)
_RUN = _Form(
    pattern=re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)"), read=_numbers({"year": 1, "month": 2, "day": 3})
)

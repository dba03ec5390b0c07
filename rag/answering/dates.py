"""Finds dates of an answer whose year is not the one in its materials.

In: text in Russian or English. Out: the dates of an answer whose day is known, but only in other years. Three kinds
pass: a day that is not known at all, since it may be computed («месяц с 10 марта»); one whose month is known in that
year («с 10 по 12 мая 2023 года»); and one that is known without a year. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag.answering.numbers import MONTH

_SPACE = r"[ \u00a0\u202f]"
_YEAR = r"((?:19|20)\d\d)(?!\d)"
_IN_DIGITS = re.compile(rf"(?<![\d.])(\d{{1,2}})\.(\d{{1,2}})(?:\.{_YEAR})?(?!\.?\d)")
_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)-(\d\d)-(\d\d)(?!\d)")
_YEAR_AFTER = re.compile(rf",?{_SPACE}(?:of{_SPACE})?{_YEAR}|\.{_YEAR}")
_DAY_BEFORE = re.compile(rf"(?<!\d)(\d{{1,2}})(?:-?(?:го|е)|st|nd|rd|th)?{_SPACE}(?:of{_SPACE})?\Z")
_DAY_AFTER = re.compile(rf"{_SPACE}(\d{{1,2}})(?:st|nd|rd|th)?(?!\d|[:.]\d)")
_MONTH_AND_YEAR = re.compile(rf"(?<![\d.])(\d{{1,2}})\.{_YEAR}")
_BEFORE_CHARS = 12  # of a month: «12-го », "12th of "


@dataclass(frozen=True, kw_only=True)
class Day:
    """A date as it is written; if `day` is None, a month of a year."""

    shown: str
    day: int | None
    month: int
    year: int | None


def of_other_years(answer: str, said: str) -> list[str]:
    """The dates of the answer that are known only in other years."""
    told = [day for day in _days(answer) if day.day and day.year]
    known = list(_days(said)) if told else []
    years: dict[tuple[int | None, int], set[int | None]] = {}
    for day in known:
        years.setdefault((day.day, day.month), set()).add(day.year)
    months = {(day.month, day.year) for day in known}
    strange = (day.shown for day in told if (day.month, day.year) not in months and _has_others(day, years))
    return list(dict.fromkeys(strange))


def _has_others(told: Day, years: Mapping[tuple[int | None, int], set[int | None]]) -> bool:
    return None not in years.get((told.day, told.month), {None})


def _days(text: str) -> Iterator[Day]:
    for match in _IN_DIGITS.finditer(text):
        yield _day(match[0], match[1], match[2], match[3])
    for match in _ISO.finditer(text):
        yield _day(match[0], match[3], match[2], match[1])
    for match in _MONTH_AND_YEAR.finditer(text):
        yield _day(match[0], None, match[1], match[2])
    for match in MONTH.finditer(text):
        yield _named(match, text)


def _named(month: re.Match[str], text: str) -> Day:
    """«12 мая 2024», "12th of May, 2024", "May 12, 2024", «май 2024»."""
    before = _DAY_BEFORE.search(text, max(0, month.start() - _BEFORE_CHARS), month.start())
    after = None if before else _DAY_AFTER.match(text, month.end())
    end = after.end() if after else month.end()
    year = _YEAR_AFTER.match(text, end)
    day = before or after
    shown = text[before.start() if before else month.start() : year.end() if year else end]
    return _day(shown, day and day[1], str(month.lastindex), year and (year[1] or year[2]))


def _day(shown: str, day: str | None, month: str, year: str | None) -> Day:
    return Day(shown=shown, day=int(day) if day else None, month=int(month), year=int(year) if year else None)

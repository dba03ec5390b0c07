"""Days, months, quarters and numbers in one form, however they are written.

In: a text, and the same as `adapters.lexical.clean` makes it. Out: terms that stand beside the words of the text:
`2016-10-24` and `2016-10` for «24 октября 2016 г.», "October 24, 2016" and `24.10.2016`; `--10-24` where no year is
said; `2024-q2` for `2024Q2`; `2022` for `FY2022`; `1577` for `1,577`; `117/2025` and `№27` as they stand. Documents of
one form differ in these alone. It judges no date: 31 February is one.
"""

import re
from collections.abc import Iterator

_YEAR = r"(?:19|20)\d\d"
_RUSSIAN_MONTHS = (
    "январ",
    "феврал",
    "март",
    "апрел",
    "ма",
    "июн",
    "июл",
    "август",
    "сентябр",
    "октябр",
    "ноябр",
    "декабр",
)
_ENGLISH_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_RUSSIAN = (
    r"(?:(?:январ|феврал|март|апрел|июн|июл|август|сентябр|октябр|ноябр|декабр)[а-я]*|ма(?:й|я|е|йск[а-я]+)(?![а-я]))"
)
_ENGLISH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_MONTH = f"({_RUSSIAN}|{_ENGLISH})"
_DAY_MONTH = re.compile(
    rf"(?<![\d.,])(\d{{1,2}})(?:-?(?:го|st|nd|rd|th))?\s+(?:of\s+)?{_MONTH}(?:,?\s+({_YEAR})(?!\d))?"
)
_MONTH_DAY = re.compile(rf"\b({_ENGLISH})\s+(\d{{1,2}})(?:st|nd|rd|th)?(?![\d.])(?:,?\s+({_YEAR})(?!\d))?")
_MONTH_YEAR = re.compile(rf"(?<![^\W_]){_MONTH}(?:\s+[а-я]+(?<!года))?[\s._-]+({_YEAR})(?!\d)")
_DOTTED = re.compile(rf"(?<![\d./])(?:(\d{{1,2}})[./])?(\d{{1,2}})[./]({_YEAR})(?![\d/])")
_ISO = re.compile(rf"(?<!\d)({_YEAR})[-._](\d\d)(?:[-._](\d\d))?(?![\w-])")
_QUARTER = re.compile(rf"(?<!\w)q([1-4])[\s_-]*(?:of\s+)?(?:fy\s*)?({_YEAR})(?!\d)|({_YEAR})[\s_-]*q([1-4])(?![a-z\d])")
_QUARTER_IN_RUSSIAN = re.compile(rf"(?<!\d)([1-4])(?:-?й)?\s+квартал[а-я]*\s+({_YEAR})(?!\d)")
_YEAR_IN_CODE = re.compile(rf"(?:fy|q[1-4]|_)({_YEAR})(?!\d)|(?<!\d)({_YEAR})(?=q[1-4]|_)")
_A_YEAR = re.compile(_YEAR)
_HINTS = (*(name for name in _RUSSIAN_MONTHS if name != "ма"), "мая", "май", "мае", *_ENGLISH_MONTHS)
_AFTER_COMMA = re.compile(r",\d{3}")
_BEFORE_NUMBERS = ("#", "no.", "номер", "number")
_COMMAS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_SLASHED = re.compile(r"(?<![\d/])\d+/\d+(?![\d/])")
_NUMBERED = re.compile(r"(?:№|#|\bno\.|\bномер[а-я]*|\bnumber)\s*(\d[\w/-]*)")


def uniform_terms(text: str, cleaned: str) -> Iterator[str]:
    """Terms in no particular order; some may repeat. What most texts lack is looked for first: that takes a fifth."""
    if any(sign in cleaned for sign in _BEFORE_NUMBERS) or "№" in text:
        yield from (f"№{number}" for number in _NUMBERED.findall(text.lower()))
    if "/" in cleaned:
        yield from _SLASHED.findall(cleaned)
    if _AFTER_COMMA.search(cleaned):
        yield from (number.replace(",", "") for number in _COMMAS.findall(cleaned))
    has_year = _A_YEAR.search(cleaned) is not None
    if any(month in cleaned for month in _HINTS):
        yield from _worded_days(cleaned, has_year=has_year)
    if has_year:
        yield from _numbered_days(cleaned)
        yield from (first or second for first, second in _YEAR_IN_CODE.findall(cleaned))


def _worded_days(cleaned: str, *, has_year: bool) -> Iterator[str]:
    for day, month, year in _DAY_MONTH.findall(cleaned):
        yield from _dated(year, _number_of(month), int(day))
    for month, day, year in _MONTH_DAY.findall(cleaned):
        yield from _dated(year, _number_of(month), int(day))
    for month, year in _MONTH_YEAR.findall(cleaned) if has_year else ():
        yield from _dated(year, _number_of(month), None)


def _numbered_days(cleaned: str) -> Iterator[str]:
    for day, month, year in _DOTTED.findall(cleaned):
        yield from _dated(year, int(month), int(day) if day else None)
    for year, month, day in _ISO.findall(cleaned):
        yield from _dated(year, int(month), int(day) if day else None)
    for quarter, year, other_year, other_quarter in _QUARTER.findall(cleaned):
        yield f"{year or other_year}-q{quarter or other_quarter}"
    for quarter, year in _QUARTER_IN_RUSSIAN.findall(cleaned):
        yield f"{year}-q{quarter}"


def _number_of(month: str) -> int:
    known = _RUSSIAN_MONTHS if month[0] >= "а" else _ENGLISH_MONTHS
    best = max((name for name in known if month.startswith(name)), key=len)  # «март» begins with «ма», too
    return 1 + known.index(best)


def _dated(year: str, month: int, day: int | None) -> Iterator[str]:
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return
    if year:
        yield f"{year}-{month:02}"
    if day is not None:
        yield f"{year}-{month:02}-{day:02}" if year else f"--{month:02}-{day:02}"
        if year:
            yield f"--{month:02}-{day:02}"

"""Parses a cell of a table: a sum of money, a number with a unit, a date.

In: a cell as a document writes it, in Russian or English («1 200,50 ₽», «1,5 млн руб.», "$1,200.50", «12 марта 2024»).
Out: values that can be summed, compared and sorted; None for any other cell. Dates in file names are read here. Pure.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache

from domain.names import LEGAL_FORMS
from rag.numbers import SCALES
from rag.words import plain

REMEMBERED = 4096  # cached cells: while documents are read, the table is built again and again

_CYRILLIC = re.compile(r"[Ѐ-ӿ]")
_DIGIT = re.compile(r"\d")
_GAP = "[ \u00a0\u202f'’]"
_NUMBER = re.compile(
    rf"(?<![\w.,])[-−–]?\d{{1,3}}(?:{_GAP}\d{{3}})+(?:[.,]\d+)?(?!\d)|(?<![\w.,])[-−–]?\d+(?:[.,]\d+)*"
)
_RANGE = re.compile(r"\d\s*(?:[-–—]|до|to)\s*\d")
_SCALE = re.compile(r"\s*(тыс|млн|млрд|миллион|миллиард|thousand|million|billion)\w*\.?", re.IGNORECASE)
_UNIT = re.compile(r"\s*(?:\([^)]*\)\s*)?([₽$€£¥%]|[^\W\d_]+)")
_BEFORE_EXACT = re.compile(r"\s*(?:[₽$€£¥]|USD|EUR|RUB)?\s*", re.IGNORECASE)
_AFTER_EXACT = re.compile(r"\s*(?P<unit>[₽$€£¥%]|[^\W\d_]+)?\.?\s*(?:США)?\s*")
_MONEY_BEFORE = re.compile(r"([₽$€£¥]|USD|EUR|RUB)\s*$", re.IGNORECASE)
_UNITS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (unit, re.compile(pattern, re.IGNORECASE))
    for unit, pattern in (
        ("₽", r"₽|р|руб\w*|rub|rubles?"),
        ("$", r"\$|usd|долл\w*|dollars?"),
        ("€", r"€|eur|евро|euros?"),
        ("%", r"%|процент\w*|percent"),
        ("дн.", r"дн|дн[яе]\w*|день|days?"),
        ("мес.", r"мес\w*|months?"),
        ("г.", r"г|год\w*|лет|years?"),
        ("ч", r"ч|час\w*|hours?|h"),
        ("шт.", r"шт\w*|pcs|pieces?"),
    )
)
_MONTHS = ("янв", "фев", "мар", "апр", "ма", "июн", "июл", "авг", "сен", "окт", "ноя", "дек")
_ENGLISH = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = (
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})\b"),
    re.compile(r"\b(?P<day>\d{1,2})[./](?P<month>\d{1,2})[./](?P<year>\d{4}|\d{2})\b"),
    re.compile(r"\b(?P<day>\d{1,2})[»\"”]?\s+(?P<name>[^\W\d_]{3,})\.?,?\s+(?P<year>\d{4})\b"),
    re.compile(r"\b(?P<name>[^\W\d_]{3,})\.?\s+(?P<day>\d{1,2}),?\s+(?P<year>\d{4})\b"),
)
_DATES = (*_DAYS, re.compile(r"(?<![\d»”\"]\s)\b(?P<name>[^\W\d_]{3,})\s+(?P<year>\d{4})\b"))  # a month: its first day

_NAMED_MONTH = re.compile(r"(?<!\d)(?P<year>20\d{2})[-.](?P<month>0[1-9]|1[0-2])(?!\d)")  # «Прайс 2025-03»
_PERIOD = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{1,2}))?(?:\s*(?:г\.?|год\w*))?")
_OF_YEAR = frozenset({"г", "год", "года", "году"})


@dataclass(frozen=True, kw_only=True)
class Amount:
    """A number and its unit; the unit is empty when the cell has none."""

    value: Decimal
    unit: str = ""


@lru_cache(maxsize=REMEMBERED)
def amount(text: str) -> Amount | None:
    """The first number of a cell; None for a range, a date, or a cell without a number."""
    found = _NUMBER.search(text)
    if found is None or _RANGE.search(text) or day(text) is not None:
        return None
    value = _decimal(found[0], is_russian=bool(_CYRILLIC.search(text)) or "₽" in text)
    end = found.end()
    if value is None:
        return None
    if scale := _SCALE.match(text, end):
        value, end = value * SCALES[scale[1].casefold()], scale.end()
    before, after = _MONEY_BEFORE.search(text[: found.start()]), _UNIT.match(text, end)
    word = before[1] if before else after[1] if after else ""
    unit = next((unit for unit, pattern in _UNITS if pattern.fullmatch(word)), word.casefold())
    return Amount(value=value, unit=unit)


@lru_cache(maxsize=REMEMBERED)
def day(text: str) -> date | None:
    """The first date of a cell; day before month in dates like 01.02.2024."""
    return next(_days(text), None)


def days_in(text: str) -> frozenset[date]:
    """All dates of a text."""
    return frozenset(_days(text))


def only_day(text: str) -> date | None:
    """The date of a cell that is nothing but one, its day included: «12 марта 2024 г.»."""
    for pattern in _DAYS:
        if found := pattern.search(text):
            rest = plain(text[: found.start()] + " " + text[found.end() :]).split()
            return _date(found.groupdict()) if _OF_YEAR.issuperset(rest) else None
    return None


def whole_day(text: str) -> date | None:
    """The first date of a text that names its day: «март 2025» does not."""
    return next(_days(text, _DAYS), None)


def day_of_name(name: str) -> date | None:
    """The date in a document's name; of a month («Прайс 2025-03», «Прайс, март 2025») its first day."""
    spaced = name.replace("_", " ")
    if found := day(spaced):
        return found
    month = _NAMED_MONTH.search(spaced)
    return _date(month.groupdict()) if month else None


def period(text: str) -> tuple[date, date] | None:
    """The first and last day of a date, a month («2025-03») or a year («2025», «2025 г.»)."""
    if whole := _PERIOD.fullmatch(text.strip()):
        year, month = int(whole["year"]), int(whole["month"] or 0)
        if year < 1 or month > 12:
            return None
        last = month or 12
        return date(year, month or 1, 1), date(year, last, monthrange(year, last)[1])
    found = day(text)
    return (found, found) if found else None


def name_words(text: str) -> tuple[str, ...]:
    """The words of a name, without the legal form where it has others: «ООО «Ромашка»» is «Ромашка»."""
    words = tuple(plain(text).split())
    return tuple(word for word in words if word not in LEGAL_FORMS) or words


def is_only_amount(text: str) -> bool:
    """Whether a cell is one number with its unit, without further digits or number signs."""
    found = _NUMBER.search(text)
    if found is None or amount(text) is None:
        return False
    rest = text[: found.start()] + " " + text[found.end() :]
    return not any(letter.isdigit() or letter in "/№#" for letter in rest) and len(plain(rest).split()) <= 4


def exact_amount(text: str) -> Amount | None:
    """The amount of a cell that is nothing but a number with a known unit: not «не более 10 дней»."""
    found, read = _NUMBER.search(text), amount(text)
    if found is None or read is None or not _BEFORE_EXACT.fullmatch(text[: found.start()]):
        return None
    scale = _SCALE.match(text, found.end())
    after = _AFTER_EXACT.fullmatch(text, scale.end() if scale else found.end())
    unit = after["unit"] if after else None
    is_known = unit is None or any(pattern.fullmatch(unit) for _, pattern in _UNITS)
    return read if after and is_known else None


def same(one: str, other: str) -> bool:
    """The same date, the same amount, or the words of one are all in the other; of two alphabets, no difference is
    claimed."""
    days = day(one), day(other)
    if days[0] and days[1]:
        return days[0] == days[1]
    mine, theirs = amount(one), amount(other)
    if mine and theirs and is_only_amount(one) and is_only_amount(other):
        return mine.value == theirs.value and (mine.unit == theirs.unit or not (mine.unit and theirs.unit))
    if not _DIGIT.search(one + other) and bool(_CYRILLIC.search(one)) != bool(_CYRILLIC.search(other)):
        return True
    words = set(name_words(one)), set(name_words(other))
    return words[0] <= words[1] or words[1] <= words[0]


def _decimal(written: str, *, is_russian: bool) -> Decimal | None:
    """A single separator before three digits separates thousands if the language uses the other sign for decimals."""
    digits = re.sub(_GAP, "", written).replace("−", "-").replace("–", "-")
    dots, commas = digits.count("."), digits.count(",")
    if dots and commas:
        decimal = "." if digits.rfind(".") > digits.rfind(",") else ","
    elif dots + commas > 1:
        decimal = ""
    else:
        separator = "." if dots else ","
        is_thousand = re.fullmatch(r"-?[1-9]\d{0,2}[.,]\d{3}", digits) and separator == ("." if is_russian else ",")
        decimal = "" if is_thousand else separator
    whole, _, fraction = digits.rpartition(decimal) if decimal and decimal in digits else (digits, "", "")
    try:
        return Decimal(f"{re.sub('[.,]', '', whole)}.{fraction or 0}")
    except ArithmeticError:
        return None


def _days(text: str, patterns: Sequence[re.Pattern[str]] = _DATES) -> Iterator[date]:
    for pattern in patterns:
        for found in pattern.finditer(text):
            if made := _date(found.groupdict()):
                yield made


def _date(parts: Mapping[str, str | None]) -> date | None:
    name, year = (parts.get("name") or "").casefold(), int(parts["year"] or 0)
    months = _MONTHS if _CYRILLIC.search(name) else _ENGLISH
    longest_first = sorted(enumerate(months, start=1), key=lambda each: -len(each[1]))  # «мар» before «ма»
    month = next((number for number, start in longest_first if name.startswith(start)), int(parts.get("month") or 0))
    try:
        return date(year + 2000 if year < 100 else year, month, int(parts.get("day") or 1))
    except ValueError:
        return None

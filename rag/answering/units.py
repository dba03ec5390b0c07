"""Amounts with their units: «30 дней», «0,1 %», «250 тыс. руб.», «30-дневный», "$5", «полгода».

In: text in Russian or English. Out: `Amount`s, and whether the amounts of one text support an amount of another, as
they are or converted («14 дней»: two weeks). Ambiguous units («г», «м», «л», «р.») do not count as units: the number
before them may be of anything. Pure.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from rag.answering.numbers import DIGITS, MONTH, SCALES, readings
from rag.answering.spoken import SpokenNumber, halves, in_words

PER_CENT = "%"
TIMES = frozenset(("ms", "s", "min", "h", "d", "week", "month", "year", "century"))
_CODE_CHARS = 6  # looked at before a number for a currency, a space and the character before it
_YEAR = frozenset(("year",))
_TOLERANCE = Decimal("0.02")  # relative, for converted amounts: months and years vary, and results are rounded
_CASES = "(?:а|у|ом|е|ы|ов|ам|ами|ах)?"

_NAMES: dict[str, str] = {
    "ms": r"миллисекунд\w*|мс|ms|milliseconds?",
    "s": r"секунд\w*|сек|seconds?|secs?",
    "min": r"минут\w*|мин|minutes?|mins?",
    "h": r"час(?:а|ов|у|ом|ам|ами|ах)?|часов\w+|ч(?!\.[ \u00a0]?\d+\b(?![ \u00a0]?м))|hours?|hrs?|h",
    "d": r"день|дн(?:я|ей|ям|ями|ях|ю|и)?|дневн\w+|сут(?:ки|ок|кам|ками|ках)?|суточн\w+|days?",
    "week": r"недел(?:я|ь|и|ю|е|ей|ям|ями|ях)|недельн\w+|нед|weeks?",
    "month": r"месяц(?:а|ев|у|ем|е|ы|ам|ами|ах)?|месячн\w+|мес|months?",
    "year": rf"год{_CASES}|лет|летн\w+|years?|yrs?",
    "century": rf"век{_CASES}|столети\w+|centur(?:y|ies)",
    PER_CENT: rf"%|процент{_CASES}|процентн\w+|per[ -]?cent|pct",
    "rub": r"₽|руб|рубл\w+|rub|rur|roubles?|rubles?",
    "kop": r"коп|копе[ейк]\w*",
    "usd": r"\$|долл|доллар\w*|dollars?|usd|бакс\w*",
    "cent": rf"цент{_CASES}|cents?",
    "eur": r"€|евро|eur|euros?",
    "cny": r"юан\w+|cny|yuan",
    "kzt": r"₸|тенге|kzt",
    "gbp": r"£|gbp",
    "mg": r"миллиграмм\w*|мг|mg|milligrams?",
    "g": r"грамм\w*|гр|grams?",
    "kg": r"килограмм\w*|кило|кг|kilograms?|kilos?|kgs?",
    "t": r"тонн\w*|tons?|tonnes?",
    "mm": r"миллиметр\w*|мм|mm|millimet(?:er|re)s?",
    "cm": r"сантиметр\w*|см|cm|centimet(?:er|re)s?",
    "m": rf"метр{_CASES}|метров\w+|met(?:er|re)s?",
    "km": r"километр\w*|км|km|kilomet(?:er|re)s?",
    "mile": r"мил[яьи]\w{0,3}|miles?",
    "ml": r"миллилитр\w*|мл|ml|millilit(?:er|re)s?",
    "l": rf"литр{_CASES}|литров\w+|lit(?:er|re)s?",
    "kB": r"килобайт\w*|кбайт\w*|kib|киб|kilobytes?",
    "MB": r"мегабайт\w*|мбайт\w*|mib|миб|megabytes?",
    "GB": r"гигабайт\w*|гбайт\w*|gib|гиб|gigabytes?",
    "TB": r"терабайт\w*|тбайт\w*|тб|tb|tib|тиб|terabytes?",
    "Mbit": r"мбит\w*|мегабит\w*|mbits?|mbps|megabits?",
    "Gbit": r"гбит\w*|гигабит\w*|gbits?|gbps|gigabits?",
    "B": rf"байт{_CASES}|bytes?",
    "kbit": r"кбит\w*|килобит\w*|kbits?|kbps|kilobits?",
    "kB kbit": r"кб|kb",
    "MB Mbit": r"мб|mb",
    "GB Gbit": r"гб|gb",
    "degree": r"°[cс]?|градус\w*|degrees?",
}  # fmt: skip
_FACTORS: dict[tuple[str, str], tuple[int, ...]] = {  # how many of the second unit one of the first is
    ("s", "ms"): (1000,), ("min", "s"): (60,), ("h", "s"): (3600,), ("h", "min"): (60,), ("d", "min"): (1440,),
    ("d", "h"): (24, 8), ("week", "h"): (168, 40), ("week", "d"): (7, 5), ("month", "d"): (30, 31, 28),
    ("month", "week"): (4,), ("year", "d"): (365, 360), ("year", "week"): (52,), ("year", "month"): (12,),
    ("century", "year"): (100,), ("rub", "kop"): (100,), ("usd", "cent"): (100,), ("eur", "cent"): (100,),
    ("g", "mg"): (1000,), ("kg", "g"): (1000,), ("t", "kg"): (1000,), ("cm", "mm"): (10,), ("m", "mm"): (1000,),
    ("m", "cm"): (100,), ("km", "m"): (1000,), ("l", "ml"): (1000,), ("MB", "kB"): (1000, 1024),
    ("GB", "MB"): (1000, 1024), ("TB", "GB"): (1000, 1024), ("Gbit", "Mbit"): (1000, 1024),
    ("kB", "B"): (1000, 1024), ("Mbit", "kbit"): (1000, 1024),
}  # fmt: skip
_CONVERTED = {  # unit -> the units into which it may be converted, with factors
    unit: (
        *(
            (small, Decimal(factor))
            for (large, small), factors in _FACTORS.items()
            if large == unit
            for factor in factors
        ),
        *(
            (large, 1 / Decimal(factor))
            for (large, small), factors in _FACTORS.items()
            if small == unit
            for factor in factors
        ),
    )
    for unit in {unit for units in _FACTORS for unit in units}
}
_SPACE = r"[ \u00a0\u202f]"
_KIND = (
    rf"(?:(?:рабоч|календарн|банковск|полн|business|working|calendar|full|us)\w*{_SPACE}+|(?:кал|раб|банк)\.{_SPACE}*)?"
)
_NAME = "(?:" + "|".join(f"({names})" for names in _NAMES.values()) + r")(?![\w²³])"
_UNITS = tuple(frozenset(units.split()) for units in _NAMES)
_IN_BRACKETS = rf"(?:{_SPACE}?\([^()\d\n]{{1,80}}\))?"  # «30 (тридцать) дней»
_UNIT = re.compile(rf"[*_]{{0,3}}{_IN_BRACKETS}(?:{_SPACE}*{_KIND}|-(?:(?:ти|и|х|мя|ми|о)[- ])?){_NAME}")
_SCALE = re.compile(rf"{_SPACE}?(?:(тыс|млн|млрд|миллион|миллиард|thousand|million|billion)\w*\.?|([kmк])(?!\w))")
_ONE_NUMBER = rf"\d+(?:{_SPACE}\d{{3}}(?!\d))*(?:[.,]\d+)?"
_RANGE = re.compile(rf"{_SPACE}?(?:[-–—]|\b(?:до|или|to|or)\b){_SPACE}?({_ONE_NUMBER})")
_CURRENCY_BEFORE = re.compile(rf"(?<!\d)(?<!\d[ \u00a0])(?:([$€£₽])|\b(usd|eur|rub|gbp|cny){_SPACE})\Z")
_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "₽": "rub"}
_LETTERS = {"г": "g", "м": "m", "л": "l", "т": "t"}
_LETTER = re.compile(rf"{_SPACE}?([гмлт])(?![\w²³/])")
_DATE = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)(?![\d.]\d)|\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_DAY = re.compile(rf"\b(\d{{1,2}}){_SPACE}(?={MONTH.pattern})")
_TOGETHER = re.compile(r"\.?\s*(?:(?:и|and)\s+)?")
_HALF_UNITS = (("год", "year"), ("year", "year"), ("час", "h"), ("hour", "h"), ("дня", "d"), ("day", "d"),
               ("месяц", "month"))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Amount:
    """A number with its unit, and its offsets in the folded text."""

    shown: str
    values: frozenset[Decimal]  # several where the notation differs between countries
    written: frozenset[Decimal]  # without the factor of «тыс.», which may be in the heading of a table
    units: frozenset[str]  # usually one
    start: int
    end: int


def measured(plain: str) -> list[Amount]:
    """The amounts in order; `plain` is in lower case, with е for ё. A year («2024 года») is not an amount."""
    found = [*_in_digits(plain), *_in_words(plain)]
    return sorted(found, key=lambda amount: amount.start)


def days(plain: str) -> Iterator[Amount]:
    """The parts of dates: days, months and years, each of which may be given separately."""
    for match in _DATE.finditer(plain):
        parts = match.groups()[:3] if match[1] else match.groups()[:2:-1]
        yield from (_part(match, part, unit) for part, unit in zip(parts, ("d", "month", "year"), strict=True))
    yield from (_part(match, match[1], "d") for match in _DAY.finditer(plain))


def _part(date: re.Match[str], part: str, unit: str) -> Amount:
    value, units = frozenset((Decimal(part).normalize(),)), frozenset((unit,))
    return Amount(shown=date[0], values=value, written=value, units=units, start=date.start(), end=date.end())


def letter_amounts(plain: str) -> frozenset[tuple[Decimal, str]]:
    """Numbers before «г», «м», «л», «т», with the most likely unit of each: «1 850 г»."""
    found = ((number[0], _LETTER.match(plain, number.end())) for number in DIGITS.finditer(plain))
    read = ((reading, letter[1]) for number, letter in found if letter for reading in readings(number))
    return frozenset((value, _LETTERS[letter]) for reading, letter in read if len(reading) == 1 for value in reading)


def without_amounts(amounts: list[Amount], plain: str) -> str:
    """The text without the amounts, each replaced by « | »."""
    kept, end = [], 0
    for amount in sorted(amounts, key=lambda each: each.start):
        kept += [plain[end : amount.start], " | "]
        end = max(end, amount.end)
    return "".join((*kept, plain[end:]))


def values_with_units(amounts: list[Amount]) -> frozenset[tuple[Decimal, str]]:
    """Value and unit of each amount; for fractions («12,75 $») also the whole units and the cents."""
    found = {(value, unit) for amount in amounts for value in amount.values for unit in amount.units}
    return frozenset(found.union(part for value, unit in found for part in _in_parts(value, unit)))


def neighbours_together(amounts: list[Amount], plain: str) -> frozenset[tuple[Decimal, str]]:
    """Sums of neighbouring amounts in a larger and a smaller unit: «1 ч 30 мин» is ninety minutes."""
    return frozenset(
        (more * factor + less, small)
        for one, other in pairwise(amounts)
        if one.end <= other.start and _TOGETHER.fullmatch(plain, one.end, other.start)
        for large in one.units
        for small in other.units
        for factor in _FACTORS.get((large, small), ())
        for more in one.values
        for less in other.values
    )


def by_unit(found: Iterable[tuple[Decimal, str]]) -> dict[str, list[Decimal]]:
    """The values of each unit, sorted."""
    values: dict[str, list[Decimal]] = {}
    for value, unit in sorted(found):
        values.setdefault(unit, []).append(value)
    return values


def is_told_by(amount: Amount, known: Mapping[str, Sequence[Decimal]]) -> bool:
    """Whether the amount is among the known values, as it is or converted."""
    return any(_is_told(value, unit, known) for value in amount.values for unit in amount.units)


def _is_told(value: Decimal, unit: str, known: Mapping[str, Sequence[Decimal]]) -> bool:
    """By binary search: a very long text may be full of amounts, so they are not compared one by one."""
    if _has_within(known.get(unit, ()), value, value):
        return True
    return any(
        _has_within(known.get(other, ()), meant * (1 - _TOLERANCE), meant * (1 + _TOLERANCE))
        for other, factor in _CONVERTED.get(unit, ())
        for meant in (value * factor,)
    )


def _has_within(values: Sequence[Decimal], least: Decimal, most: Decimal) -> bool:
    place = bisect_left(values, least)
    return place < len(values) and values[place] <= most


def _in_parts(value: Decimal, unit: str) -> Iterator[tuple[Decimal, str]]:
    whole = Decimal(int(value))
    smaller = {"rub": "kop", "usd": "cent", "eur": "cent", "h": "min"}.get(unit)
    if smaller and value != whole:
        factor = _FACTORS[unit, smaller][0]
        yield from ((whole, unit), ((value - whole) * factor, smaller))


def _in_digits(plain: str) -> Iterator[Amount]:
    for match in DIGITS.finditer(plain):
        written = frozenset(value for reading in readings(match[0]) if len(reading) == 1 for value in reading)
        amount = _of_number(match, written, plain) if written else None
        if amount:
            yield amount


def _of_number(match: re.Match[str], written: frozenset[Decimal], plain: str) -> Amount | None:
    """The amount of a number in digits. In a range, the unit and «тыс.» after its end apply to both numbers."""
    before = _CURRENCY_BEFORE.search(plain, max(0, match.start() - _CODE_CHARS), match.start())
    last = _rest_of_range(match, written, plain)
    end = last.end() if last else match.end()
    scale = _SCALE.match(plain, end)
    unit = (_UNIT.match(plain, scale.end()) if scale else None) or _UNIT.match(plain, end)
    units = _UNITS[(unit.lastindex or 1) - 1] if unit else _currency(before)
    if not units or (units == _YEAR and len(match[0]) == 4 and match[0].isdigit()):
        return None
    is_scaled = scale and (before or (unit and unit.start() == scale.end()))  # «30 m» without either: no millions
    return Amount(
        shown=plain[before.start() if before and not unit else match.start() : unit.end() if unit else match.end()],
        values=_scaled(written, scale, in_range=last is not None) if scale and is_scaled else written,
        written=written,
        units=units,
        start=match.start(),
        end=unit.end() if unit and not last else match.end(),
    )


def _rest_of_range(first: re.Match[str], written: frozenset[Decimal], plain: str) -> re.Match[str] | None:
    """The sign and the second number of a range, or None. Unless a scale follows («200 000–300 тыс.»), the second
    number must not be less than the first: «150 000 — 5 %» is no range."""
    last = _RANGE.match(plain, first.end())
    if last is None or _SCALE.match(plain, last.end()):
        return last
    highest = max((value for reading in readings(last[1]) for value in reading), default=min(written))
    return last if min(written) <= highest else None


def _currency(before: re.Match[str] | None) -> frozenset[str]:
    return frozenset() if before is None else frozenset((before[2] or _SIGNS[before[1]],))


def _scaled(written: frozenset[Decimal], scale: re.Match[str], *, in_range: bool) -> frozenset[Decimal]:
    factor = SCALES[scale[1] or scale[2]]
    scaled = frozenset((value * factor).normalize() for value in written)
    is_sure = scale[1] and not in_range  # «200 000-300 тыс.», «4k»
    return scaled if is_sure else scaled | written


def _in_words(plain: str) -> Iterator[Amount]:
    for number, start in _placed(in_words(plain), plain):
        unit = None if number.is_ordinal else _UNIT.match(plain, start + len(number.shown))
        if unit:
            yield _spoken(number, _UNITS[(unit.lastindex or 1) - 1], start, plain[start : unit.end()])
    for half, start in _placed(halves(plain), plain):
        units = frozenset(unit for word, unit in _HALF_UNITS if word in half.shown)
        if units:
            yield _spoken(half, units, start, half.shown)


def _placed(numbers: Iterator[SpokenNumber], plain: str) -> Iterator[tuple[SpokenNumber, int]]:
    """Each number with its start."""
    end = 0
    for number in numbers:
        start = plain.index(number.shown, end)
        end = start + len(number.shown)
        yield number, start


def _spoken(number: SpokenNumber, units: frozenset[str], start: int, shown: str) -> Amount:
    value = frozenset((number.value,))
    return Amount(shown=shown, values=value, written=value, units=units, start=start, end=start + len(shown))

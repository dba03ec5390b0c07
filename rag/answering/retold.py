"""Numbers that follow from a text when it is told in other words.

In: the materials of an answer. Out: further values that the answer may give: «2 дня» are 48 hours, «1 ч 30 мин» ninety
minutes; 125 430,50 is roubles and fifty kopecks, XII is 12. Used only where a number is not in the materials as
written, so that no correct answer is rejected.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from rag.answering.clock import HOURS, clock_times
from rag.answering.numbers import numbers
from rag.answering.spoken import halves, in_words, larger_units, smaller_units
from rag.words import folded

_DIGITS = re.compile(r"\d+(?:[.,]\d+)?")
_LONGEST = 10**6  # of days or minutes; the remainder of very long numbers cannot be computed
_RUN = re.compile(r"\d+")
_HOURS_AND_MINUTES = re.compile(
    r"(\d{1,2})[ \u00a0]?(?:ч|час(?:а|ов)?|h|hours?)\.?[ \u00a0](?:and |и )?([1-5]?\d)[ \u00a0]?(?:м|m)", re.IGNORECASE
)
_AFTERNOON = re.compile(r"\b(1[3-9]|2[0-3])[:.][0-5]\d\b")
_YEAR = re.compile(r"\b(1[1-9])(\d\d)\b")  # "nineteen eighty-four"; not 20xx, or 20 would be known in every text
_FRACTION = re.compile(r"\b(\d)/(\d{1,2})\b")
_ROMAN = re.compile(r"\b(?:[IVX]|[IVXLC]{2,})\b")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
# «сорокапятилетний»
_COMPOUND = re.compile(
    r"(двадцати|тридцати|сорока|пятидесяти|шестидесяти|семидесяти|восьмидесяти|девяносто|ста)"
    r"(одно|двух|трех|четырех|пяти|шести|семи|восьми|девяти)\w+"
)
_ONE = r"\b(?:в течение|через|за|within|after|for) (?:(?:a|an|one|одного|один|одну|одни) )?"
_WORDS: tuple[tuple[re.Pattern[str], tuple[int, ...]], ...] = (
    (re.compile(_ONE + r"(?:года?|year)\b"), (12, 365)),
    (re.compile(_ONE + r"(?:месяца?|month)\b"), (30,)),
    (re.compile(_ONE + r"(?:недел[июя]|week)\b"), (7,)),
    (re.compile(_ONE + r"(?:суток|сутки|дня|день|day)\b"), (24,)),
    (re.compile(_ONE + r"(?:часа?|hour)\b"), (60,)),
    (re.compile(r"\bполдень\b|\bполудн\w+|\bnoon\b|\bmidday\b"), (12, 0)),
    (re.compile(r"\bполночь\b|\bполуноч\w+|\bmidnight\b"), (24, 12, 0)),
    (re.compile(r"\bкруглосуточн\w+|\baround the clock\b"), (24, 7)),
    (re.compile(r"\bквартал\w*|\bquarter\b"), (3,)),
    (re.compile(r"\bдюжин\w*|\bdozens?\b"), (12,)),
    (re.compile(r"\bfortnight\b"), (14,)),
    (re.compile(r"\bчерез день\b|\bevery (?:other|second) day\b"), (2,)),
    (re.compile(r"\bполност\w+|\bцеликом\b|\bfully\b|\bin full\b"), (100,)),
    (re.compile(r"\bбесплатн\w+|\bбез (?:комисси|процент|оплат|взнос)\w+|\bfree\b"), (0,)),
)


def retold(text: str) -> frozenset[Decimal]:
    """Values that an answer may give in digits or words: other units, fractions in per cent, Roman numerals, words that
    imply a number."""
    plain = folded(text)
    return meant(text) | frozenset(value.normalize() for value in (*_in_smaller_units(plain), *_in_larger_units(plain)))


def meant(text: str) -> frozenset[Decimal]:
    """The same without conversions of units: words that imply a number, fractions, Roman numerals."""
    plain = folded(text)
    found = {*_shares(plain), *map(Decimal, map(_roman, _ROMAN.findall(text)))}
    compounds = " | ".join(" ".join(match.groups()) for match in _COMPOUND.finditer(plain))
    found.update(number.value for number in in_words(compounds))
    found.update(value for half in halves(plain) for value in (half.value, *half.converted))
    found.update(Decimal(hour) - HOURS for hour in _AFTERNOON.findall(text))  # «в 8 часов вечера»
    for time in clock_times(plain):
        found |= {Decimal(time.hour), Decimal(time.hour + HOURS), Decimal(time.minute)}
    found.update(Decimal(value) for pattern, values in _WORDS if pattern.search(plain) for value in values)
    return frozenset(value.normalize() for value in found)


def in_parts(text: str) -> frozenset[Decimal]:
    """Values that an answer may give only in words: roubles and kopecks, hours and minutes, each separately; 20:00 as
    eight o'clock; a year as "nineteen eighty-four"."""
    wholes = {Decimal(int(value)) for value in numbers(text)}
    runs = {Decimal(run) for run in _RUN.findall(text)}
    hours = {Decimal(hour) - HOURS for hour in _AFTERNOON.findall(text)}
    halves = {Decimal(half) for year in _YEAR.findall(text) for half in year}
    return frozenset(value.normalize() for value in wholes | runs | hours | halves)


def _in_smaller_units(plain: str) -> Iterator[Decimal]:
    for match in _DIGITS.finditer(plain):
        value = Decimal(match[0].replace(",", "."))
        yield from (value * factor for factor in smaller_units(plain, match.end()))
    for number in in_words(plain):
        yield from number.converted
    for hours, minutes in _HOURS_AND_MINUTES.findall(plain):
        together = Decimal(hours) * 60 + Decimal(minutes)
        yield from (together, together / 60)


def _in_larger_units(plain: str) -> Iterator[Decimal]:
    """Only multiples of one half: «36 месяцев» are 3 years, «18 месяцев» 1.5."""
    digits = ((Decimal(each[0].replace(",", ".")), larger_units(plain, each.end())) for each in _DIGITS.finditer(plain))
    words = ((number.value, larger_units(number.unit, 0)) for number in in_words(plain))
    for value, units in (*digits, *words):
        yield from (value / unit for unit in units if value < _LONGEST and value * 2 % unit == 0)


def _shares(plain: str) -> Iterator[Decimal]:
    """«1/3»: 33 per cent."""
    for part, whole in _FRACTION.findall(plain):
        if int(whole):
            yield Decimal(int(part) * 100 // int(whole))


def _roman(written: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in written]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))

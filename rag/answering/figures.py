"""Checks that the figures of an answer are supported by its materials: numbers, times of day, «вдвое».

In: sentences of an answer, and what is known. Out: the unsupported figures, as they are written. A measured number
(days, roubles, per cent) has to occur as a measure; the number of a point, a page or a list item, or a count of what
was found, is no measure. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from rag.answering.clock import clock_times, digital_times, times_named, twelve_hour_times
from rag.answering.measures import KnownMeasures, of_other_units, told_otherwise
from rag.answering.numbers import (
    WrittenNumber,
    amounts,
    known_numbers,
    months,
    numbers,
    places,
    told_amounts,
    without_places,
    written_numbers,
)
from rag.answering.ratios import MANY_NUMBERS, Ratio, is_belied, is_borne_out, ratios, ratios_said
from rag.answering.retold import in_parts, retold
from rag.answering.spoken import in_words
from rag.words import folded

_CALCULATION = re.compile(r"[=≈]")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, kw_only=True)
class Known:
    """The figures that an answer may give. Each property is computed on first access: it takes milliseconds, and most
    answers need none or one of them."""

    said: str  # the materials, the question, the dialogue
    listed: frozenset[Decimal] = frozenset()  # counts of what the answer itself lists
    materials: int = 0  # number of materials: «найдены 3 договора»
    today: str = ""

    @cached_property
    def plain(self) -> str:
        """The text folded for a search of words."""
        return folded(self.said)

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """All numbers in the text, in any role."""
        counts = {Decimal(count).normalize() for count in range(self.materials + 1)}
        placing = known_numbers(f"{places(self.said)}\n{self.today}")
        return self.measures | placing | months(self.said) | counts

    @cached_property
    def measuring(self) -> str:
        """The text without numbers that only locate something (points, pages, dates)."""
        return without_places(self.said)

    @cached_property
    def measures(self) -> frozenset[Decimal]:
        """Numbers that may be amounts of days, roubles or per cent."""
        return amounts(self.measuring) | self.listed | {Decimal(1)}  # «час»: one hour

    @cached_property
    def units(self) -> KnownMeasures:
        """The amounts with their units."""
        return KnownMeasures(self.measuring)

    @cached_property
    def retold(self) -> frozenset[Decimal]:
        """Numbers that the text gives in another form (`retold.py`)."""
        return retold(self.measuring)

    @cached_property
    def parts(self) -> frozenset[Decimal]:
        """Numbers that may be derived from it only in words (`retold.in_parts`)."""
        return in_parts(self.measuring)

    @cached_property
    def times(self) -> frozenset[tuple[int, int]]:
        """Times of day."""
        return times_named(self.plain)

    @cached_property
    def digital_times(self) -> frozenset[tuple[int, int]]:
        """Times of day in digits (with am and pm, too), on a 24-hour clock."""
        in_digits = frozenset((hour, minute) for hour, minute, _ in digital_times(self.plain))
        return in_digits | twelve_hour_times(self.plain)

    @cached_property
    def ratios(self) -> frozenset[Decimal]:
        """«Вдвое», «2 раза»."""
        return ratios_said(self.plain)

    @cached_property
    def compared(self) -> frozenset[Decimal]:
        """Numbers that ratios may compare. Numbers of points, pages and dates are left out: with them, almost any ratio
        would be supported."""
        return numbers(self.measuring) | {number.value for number in in_words(self.plain)}

    @cached_property
    def sized(self) -> frozenset[Decimal]:
        """Numbers with a unit; among numbers without one (times in a letter's head), some pair fits any ratio."""
        return _measured(self.measuring)


def strange_figures(lines: Sequence[str], known: Known) -> tuple[list[str], list[str]]:
    """Two lists: figures of the sentences `lines` that are not `known`; and, where all are known, those with another
    unit. A calculation that the answer shows can be checked by the reader, so its results may be used again."""
    said = [folded(line) for line in lines]
    if not any(map(_tells_figures, said)):
        return [], []  # most answers
    sums = _sums(said, known)
    shown = known_numbers("\n".join(sums))
    shown |= _differences(shown)
    rest = [line for line in said if line not in sums]
    words = [each for line in rest for each in _strange_words(line, known, shown)]
    plain = [_without_times_and_ratios(line, known) for line in rest]
    strange = _strange_numbers(plain, known, shown)
    if strange and (told := told_otherwise(plain, known.units)):
        shown |= told
        strange = _strange_numbers(plain, known, shown)
    figures = [*strange, *words]
    return figures, [] if figures else list(_strange_units(plain, known, shown))


def _strange_numbers(lines: Sequence[str], known: Known, shown: frozenset[Decimal]) -> list[str]:
    return [*_strange_digits(lines, known, shown), *_strange_amounts(lines, known, shown)]


def _tells_figures(line: str) -> bool:
    if _DIGIT.search(line):
        return True
    return any(any(found) for found in (told_amounts(line), clock_times(line), ratios(line)))


def _is_sum(line: str, known: Known) -> bool:
    """Whether a line is a calculation with at least one known number. Factors may be the model's own («× 12 × 0,85»),
    but a calculation without any known number is made up."""
    if not _CALCULATION.search(line):
        return False
    return any(number.is_among(known.numbers) for number in written_numbers(line))


def _sums(lines: Sequence[str], known: Known) -> list[str]:
    """Calculations on known numbers, and then those on their results: «260 000 + 43 000 = 303 000»."""
    first = [line for line in lines if _is_sum(line, known)]
    shown = known_numbers("\n".join(first))
    rest = (line for line in lines if line not in first and _CALCULATION.search(line))
    return [*first, *(line for line in rest if any(number.is_among(shown) for number in written_numbers(line)))]


def _differences(shown: frozenset[Decimal]) -> frozenset[Decimal]:
    """Differences between the numbers of shown calculations: «экономия 4 482 руб.» after both prices is clear."""
    if len(shown) > MANY_NUMBERS:
        return frozenset()
    return frozenset((more - less).normalize() for more in shown for less in shown if more > less)


def _strange_words(line: str, known: Known, shown: frozenset[Decimal]) -> Iterator[str]:
    """Unsupported times of day and ratios in words."""
    for time in clock_times(line):
        if (time.hour, time.minute) not in known.times:
            yield time.shown
    claims = [ratio for ratio in ratios(line) if ratio.value not in known.ratios]
    told = _measured(line) if claims else frozenset()
    judged: dict[tuple[Decimal, bool], bool] = {}  # a model in a loop repeats the same claim endlessly
    for ratio in claims:
        claim = (ratio.value, ratio.is_rough)
        if claim not in judged:
            judged[claim] = _is_borne_out(ratio, told, known, shown)
        if not judged[claim]:
            yield ratio.shown


def _is_borne_out(ratio: Ratio, told: frozenset[Decimal], known: Known, shown: frozenset[Decimal]) -> bool:
    if not is_borne_out(ratio, known.compared | shown):
        return False
    return not is_belied(ratio, told=told, known=known.sized | shown)


def _measured(text: str) -> frozenset[Decimal]:
    """Numbers with a unit, each in its plainest reading."""
    found = (min(number.readings, key=len) for number in written_numbers(text) if number.is_measured)
    return frozenset(value for reading in found for value in reading)


def _without_times_and_ratios(line: str, known: Known) -> str:
    """The line without times and ratios in words, whose numbers mean nothing alone, and without known times in digits:
    a material may write 8:30 as «08.30», which is a number."""
    spans = [
        *(at.span() for *time, at in digital_times(line) if ":" in at[0] and tuple(time) in known.digital_times),
        *((time.start, time.end) for time in clock_times(line)),
        *((each.start, each.end) for each in ratios(line)),
    ]
    for start, end in sorted(spans, reverse=True):
        line = f"{line[:start]} {line[end:]}"
    return line


def _strange_digits(lines: Iterable[str], known: Known, shown: frozenset[Decimal]) -> list[str]:
    written = [number for line in lines for number in written_numbers(line)]
    return [number.shown for number in written if not _is_known(number, known, shown)]


def _strange_amounts(lines: Iterable[str], known: Known, shown: frozenset[Decimal]) -> list[str]:
    told = [number for line in lines for number in told_amounts(line)]
    strange = [number for number in told if not _is_known(number, known, shown)]
    return [number.shown for number in strange if not number.is_among(known.measures | known.retold | known.parts)]


def _strange_units(lines: Iterable[str], known: Known, shown: frozenset[Decimal]) -> Iterator[str]:
    """Amounts with another unit; called only where all numbers are known."""
    for line in lines:
        yield from of_other_units(line, known.units, known.listed | shown)


def _is_known(number: WrittenNumber, known: Known, shown: frozenset[Decimal]) -> bool:
    said = (known.measures if number.is_measured else known.numbers) | shown
    return number.is_among(said) or number.is_among(said | known.retold)

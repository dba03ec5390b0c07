"""Whether the figures of an answer stand in what it was written from: numbers, times of day, «вдвое».

In: sentences of an answer, and what is known. Out: the figures that nothing bears out, as they are written. What is
measured (days, roubles, per cent) has to be said somewhere; the number of a point, a page or a list item, or a count of
what was found, is no measure. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from rag.answering.clock import clock_times, digital_times, times_named
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

_CALCULATION = re.compile(r"[=≈]")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, kw_only=True)
class Known:
    """What an answer may say. Each reading of it is made when it is first asked for: they take milliseconds, and most
    answers need none or one."""

    said: str  # the materials, the question, the dialogue
    listed: frozenset[Decimal] = frozenset()  # how many things the answer itself lists
    materials: int = 0  # how many there are: «найдены 3 договора»
    today: str = ""

    @cached_property
    def plain(self) -> str:
        """Folded as words are looked for."""
        return _folded(self.said)

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """All that stand there, in whatever role."""
        counts = {Decimal(count).normalize() for count in range(self.materials + 1)}
        placing = known_numbers(f"{places(self.said)}\n{self.today}")
        return self.measures | placing | months(self.said) | counts

    @cached_property
    def measuring(self) -> str:
        """What is said, without the numbers that only place something."""
        return without_places(self.said)

    @cached_property
    def measures(self) -> frozenset[Decimal]:
        """Those that may be so many days, roubles or per cent."""
        return amounts(self.measuring) | self.listed | {Decimal(1)}  # «час»: one hour

    @cached_property
    def units(self) -> KnownMeasures:
        """What they are so many of."""
        return KnownMeasures(self.measuring)

    @cached_property
    def retold(self) -> frozenset[Decimal]:
        """What it comes to in other words."""
        return retold(self.measuring)

    @cached_property
    def parts(self) -> frozenset[Decimal]:
        """What may be said of it in words alone."""
        return in_parts(self.measuring)

    @cached_property
    def times(self) -> frozenset[tuple[int, int]]:
        """Times of day."""
        return times_named(self.plain)

    @cached_property
    def digital_times(self) -> frozenset[tuple[int, int]]:
        """Those in digits, morning and evening apart."""
        return frozenset((hour, minute) for hour, minute, _ in digital_times(self.plain))

    @cached_property
    def ratios(self) -> frozenset[Decimal]:
        """«Вдвое», «2 раза»."""
        return ratios_said(self.plain)

    @cached_property
    def compared(self) -> frozenset[Decimal]:
        """Numbers that an answer may compare: those of points, pages and days among them would bear anything out."""
        return numbers(self.measuring) | {number.value for number in in_words(self.plain)}

    @cached_property
    def sized(self) -> frozenset[Decimal]:
        """Those with a unit: among all others (hours of a letter's head) one fits anything."""
        return _measured(self.measuring)


def strange_figures(lines: Sequence[str], known: Known) -> tuple[list[str], list[str]]:
    """Figures of the sentences `lines` that are not `known`; where all are, those of another unit. A sum is shown for
    the reader to check, and what it comes to may be said again."""
    folded = [_folded(line) for line in lines]
    if not any(map(_tells_figures, folded)):
        return [], []  # as most answers
    sums = [line for line in folded if _is_sum(line, known)]
    shown = known_numbers("\n".join(sums))
    shown |= _differences(shown)
    rest = [line for line in folded if line not in sums]
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


def _folded(text: str) -> str:
    return text.casefold().replace("ё", "е")


def _tells_figures(line: str) -> bool:
    if _DIGIT.search(line):
        return True
    return any(any(found) for found in (told_amounts(line), clock_times(line), ratios(line)))


def _is_sum(line: str, known: Known) -> bool:
    """Months and shares may be the model's own («× 12 × 0,85»), but a sum of nothing that was said is made up."""
    if not _CALCULATION.search(line):
        return False
    return any(number.is_among(known.numbers) for number in written_numbers(line))


def _differences(shown: frozenset[Decimal]) -> frozenset[Decimal]:
    """Of the numbers of shown sums: «экономия 4 482 руб.» after both prices is plain enough."""
    if len(shown) > MANY_NUMBERS:
        return frozenset()
    return frozenset((more - less).normalize() for more in shown for less in shown if more > less)


def _strange_words(line: str, known: Known, shown: frozenset[Decimal]) -> Iterator[str]:
    """Times of day and ratios in words."""
    for time in clock_times(line):
        if (time.hour, time.minute) not in known.times:
            yield time.shown
    claims = [ratio for ratio in ratios(line) if ratio.value not in known.ratios]
    told = _measured(line) if claims else frozenset()
    judged: dict[tuple[Decimal, bool], bool] = {}  # a model that goes round in circles claims the same without end
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
    """So many days or roubles, in the plainest reading."""
    found = (min(number.readings, key=len) for number in written_numbers(text) if number.is_measured)
    return frozenset(value for reading in found for value in reading)


def _without_times_and_ratios(line: str, known: Known) -> str:
    """Without those in words, whose numbers alone mean nothing, and without known times: a material may write 8:30 as
    «08.30», which is a number."""
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
    """Asked for only where all numbers are known."""
    for line in lines:
        yield from of_other_units(line, known.units, known.listed | shown)


def _is_known(number: WrittenNumber, known: Known, shown: frozenset[Decimal]) -> bool:
    said = (known.measures if number.is_measured else known.numbers) | shown
    return number.is_among(said) or number.is_among(said | known.retold)

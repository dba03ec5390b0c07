"""Finds amounts of an answer whose unit is not the one in its materials: «30 лет» for «30 дней».

In: known text, and sentences of an answer. Out: the amounts whose number is known, but only with another unit. A known
number without a unit (a table has its units in the heading) supports any unit except per cent, for which «%» has to
occur somewhere. Pure.
"""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cached_property

from rag.answering.numbers import amounts, spoken_numbers
from rag.answering.retold import meant
from rag.answering.units import (
    PER_CENT,
    TIMES,
    Amount,
    by_unit,
    days,
    is_told_by,
    letter_amounts,
    measured,
    neighbours_together,
    values_with_units,
    without_amounts,
)
from rag.words import folded

_PER_CENT_ALONE = re.compile(r"(?<![\d\s\u00a0\u202f*])[\s\u00a0(*]*%|(?<!\d)[ \u00a0(,](?:процент|per ?cent)")
_ONE = frozenset((Decimal(1),))


class KnownMeasures:
    """The known amounts by unit. Each property is computed on first access."""

    def __init__(self, measuring: str) -> None:
        """`measuring`: the text as it is written, without numbers that only locate something (`without_places`)."""
        self._text = measuring
        self._plain = folded(measuring)

    @cached_property
    def _amounts(self) -> list[Amount]:
        return measured(self._plain)

    @cached_property
    def _dates(self) -> list[Amount]:
        return list(days(self._plain))

    @cached_property
    def _by_unit(self) -> dict[str, list[Decimal]]:
        sure = values_with_units([*self._amounts, *self._dates]) | neighbours_together(self._amounts, self._plain)
        return by_unit(sure | letter_amounts(self._plain))

    @cached_property
    def _rest(self) -> str:
        return without_amounts([*self._amounts, *self._dates], self._plain)

    @cached_property
    def _in_words(self) -> frozenset[Decimal]:
        """Numbers in words, which may have any unit: «половина», «бесплатно», «тридцатидневный»."""
        return spoken_numbers(self._rest) | meant(self._text)

    @cached_property
    def _without_unit(self) -> frozenset[Decimal]:
        return self._in_words | amounts(self._rest)

    @cached_property
    def _of_per_cent(self) -> frozenset[Decimal]:
        """Numbers that may be per cent. With «%» in a heading («Скидка, %») every number without a unit may be; 0,25 is
        25 per cent. Otherwise «один» does not count: every text has it, and 1 % is the commonest mistake for 0,1 %."""
        found = self._without_unit if _PER_CENT_ALONE.search(self._rest) else self._in_words - _ONE
        return found | {(value * 100).normalize() for value in self._without_unit if 0 < value < 1}

    def tell(self, amount: Amount) -> bool:
        """Whether the amount is known as it is, or converted from another unit: «14 дней» are two weeks."""
        return is_told_by(amount, self._by_unit)

    def bear_out(self, amount: Amount) -> bool:
        """The same, or its number is known without a unit."""
        if self.tell(amount):
            return True
        loose = self._of_per_cent if PER_CENT in amount.units else self._without_unit | _ONE
        return not loose.isdisjoint(amount.values | amount.written)


def told_otherwise(lines: Iterable[str], known: KnownMeasures) -> frozenset[Decimal]:
    """Correct numbers that are nowhere as written: 4 GB for 4096 MB, 200 000 ₽ for «200–300 тыс. руб.». Times are left
    to `retold`: a working day has eight hours, a calendar day 24."""
    found = (amount for line in lines for amount in measured(line) if TIMES.isdisjoint(amount.units))
    return frozenset(value for amount in found if known.tell(amount) for value in amount.values | amount.written)


def of_other_units(line: str, known: KnownMeasures, passing: frozenset[Decimal]) -> Iterator[str]:
    """Amounts of a folded sentence that are not known with that unit; numbers in `passing` may have any unit."""
    for amount in measured(line):
        if passing.isdisjoint(amount.values | amount.written) and not known.bear_out(amount):
            yield amount.shown

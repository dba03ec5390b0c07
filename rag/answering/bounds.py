"""Finds inverted bounds: «не менее 10 дней» for «не более 10 дней».

In: an answer and all known text. Out: the bounds of the answer whose number occurs in the known text only with the
opposite bound. Only the plainest words for a bound count, directly before the number: other wordings are ambiguous («не
позднее чем за», «запрещено свыше»). Where the number is known with the same unit as in the answer, other units do not
count: «10 апреля» and «10 %» beside «10 дней». Pure.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from rag.answering.numbers import DIGITS, readings
from rag.answering.units import measured

AT_MOST = (
    r"не (?:более|больше|выше|свыше|превыша\w+|старше)|максимум|at most|no more than|not more than|up to a maximum of"
)
AT_LEAST = r"не (?:менее|меньше|ниже|моложе|младше)|минимум|at least|no less than|not less than"
_BOUND = re.compile(rf"\b(?:({AT_MOST})|({AT_LEAST}))(?: чем)?(?: на| за)?[ \u00a0*]{{1,3}}\Z")
_BEFORE_CHARS = 32

_Bound = tuple[frozenset[str], bool | None]


@dataclass(frozen=True, kw_only=True)
class _Number:
    shown: str
    values: frozenset[Decimal]
    units: frozenset[str]  # empty where it has none, or an ambiguous one
    is_least: bool | None  # True: a lower bound; False: an upper bound; None: neither


def turned_bounds(answer: str, said: str) -> tuple[str, ...]:
    """The inverted bounds, as the answer writes them; both texts in lower case, with е for ё."""
    told = [number for number in _numbers(answer) if number.is_least is not None]
    known: dict[Decimal, set[_Bound]] = {}
    for number in _numbers(said) if told else ():
        for value in number.values:
            known.setdefault(value, set()).add((number.units, number.is_least))
    turned = [each.shown for each in told if _bounds(each, known) == {not each.is_least}]
    return tuple(dict.fromkeys(turned))


def _bounds(number: _Number, known: Mapping[Decimal, Collection[_Bound]]) -> set[bool | None]:
    """The known bounds of the number; where it is known with the same unit, only those with that unit or none."""
    same = [each for value in number.values for each in known.get(value, ())]
    of_unit = {is_least for units, is_least in same if units & number.units}
    loose = {is_least for units, is_least in same if not units and is_least is not None}
    return of_unit | loose if of_unit else {is_least for _, is_least in same}


def _numbers(text: str) -> Iterator[_Number]:
    units = {amount.start: amount.units for amount in measured(text)}
    for match in DIGITS.finditer(text):
        bound = _BOUND.search(text, max(0, match.start() - _BEFORE_CHARS), match.start())
        yield _Number(
            shown=text[bound.start() if bound else match.start() : match.end()],
            values=frozenset(value for reading in readings(match[0]) for value in reading),
            units=units.get(match.start(), frozenset()),
            is_least=None if bound is None else bound[2] is not None,
        )

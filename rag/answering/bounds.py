"""Whether a bound is turned round: «не менее 10 дней» for «не более 10 дней».

In: an answer and all that is known. Out: the bounds of the answer whose number is known, every time, as the opposite
one. Only the plainest words of a bound are looked at, straight before the number: others may say the same («не позднее
чем за», «запрещено свыше»). Pure.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from rag.answering.numbers import DIGITS, readings

_AT_MOST = r"не (?:более|больше|выше|свыше|превыша\w+)|максимум|at most|no more than|not more than|up to a maximum of"
_AT_LEAST = r"не (?:менее|меньше|ниже)|минимум|at least|no less than|not less than"
_BOUND = re.compile(rf"\b(?:({_AT_MOST})|({_AT_LEAST}))(?: чем)?(?: на| за)?[ \u00a0*]{{1,3}}\Z")
_BEFORE_CHARS = 32


@dataclass(frozen=True, kw_only=True)
class _Number:
    shown: str
    values: frozenset[Decimal]
    is_least: bool | None  # the least or the most there may be; None: neither is said


def turned_bounds(answer: str, said: str) -> tuple[str, ...]:
    """Those of the answer, as they are written; both texts in lower case, with е for ё."""
    told = [number for number in _numbers(answer) if number.is_least is not None]
    known: dict[Decimal, set[bool | None]] = {}
    for number in _numbers(said) if told else ():
        for value in number.values:
            known.setdefault(value, set()).add(number.is_least)
    turned = [each.shown for each in told if _bounds(each, known) == {not each.is_least}]
    return tuple(dict.fromkeys(turned))


def _bounds(number: _Number, known: Mapping[Decimal, set[bool | None]]) -> set[bool | None]:
    return {bound for value in number.values for bound in known.get(value, ())}


def _numbers(text: str) -> Iterator[_Number]:
    for match in DIGITS.finditer(text):
        bound = _BOUND.search(text, max(0, match.start() - _BEFORE_CHARS), match.start())
        yield _Number(
            shown=text[bound.start() if bound else match.start() : match.end()],
            values=frozenset(value for reading in readings(match[0]) for value in reading),
            is_least=None if bound is None else bound[2] is not None,
        )

"""Ratios in words: «вдвое», «в три раза», «половина суммы», "twice", "half the price".

In: text in Russian or English, and numbers. Out: the ratios that a text claims, and whether numbers or words of another
text support one. A share of things («половина договоров») is not checked: it may be counted in the materials.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

MANY_NUMBERS = 20  # among more numbers than these, some pair has any ratio
NEAR, ROUGHLY = Decimal("0.1"), Decimal("0.35")  # relative tolerances: «вдвое», «почти вдвое»
EXACTLY = Decimal("0.01")

_COUNTS = {
    "полтора": "1.5", "два": "2", "три": "3", "четыре": "4", "пять": "5", "шесть": "6", "семь": "7", "восемь": "8",
    "девять": "9", "десять": "10", "двадцать": "20", "сто": "100", "тысячу": "1000", "two": "2", "three": "3",
    "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "hundred": "100",
}  # fmt: skip
_COUNT = rf"(\d+(?:[.,]\d+)?|{'|'.join(_COUNTS)})"
_VALUE = (
    r"(?:сумм|цен|стоимост|зарплат|оклад|бюджет|выручк|доход|плат[еы]|платеж|взнос|аванс|долг|штраф|ставк|срок|аренд)"
)
_ENGLISH_VALUE = r"(?:price|sum|amount|salary|budget|cost|fee|payment|debt|fine|rate|term|rent|income|revenue)s?"
_COMPARED = r"(?:as|more|less|higher|lower|larger|smaller|bigger|cheaper|faster|slower|longer|shorter|the)"
_NAMED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"\bвдвое\b|\bудво(?:ил|ен|ит|ив)\w*|\btwice\b|\bdoubled\b|\btwofold\b|\bhalved\b|\bby half\b"
                rf"|\bна ?половину\b|\bвполовину\b|\bполовин[аеуы](?: \w+)? {_VALUE}\w*"
                rf"|\bhalf (?:of )?(?:the |your |its |my )?{_ENGLISH_VALUE}\b"), "2"),
    (re.compile(r"\bвтрое\b|\bутро(?:ил|ен|ит)\w*|\btripled\b|\bthreefold\b"), "3"),
    (re.compile(r"\bвчетверо\b|\bfourfold\b"), "4"),
    (re.compile(r"\bвпятеро\b|\bfivefold\b"), "5"),
)  # fmt: skip
_COUNTED = re.compile(rf"\bв {_COUNT} раза?\b|\b{_COUNT} times {_COMPARED}\b")
# Other forms in which a text may have the ratio.
_ALSO = re.compile(rf"\b{_COUNT} (?:раза?|times)\b|\b(\d+)[xх]\b|[xх×](\d+)\b|\b(\d+)-?(?:х-?)?кратн")
_ALSO_TWO = re.compile(
    r"\bдважды\b|\bдвойн\w+|\bдву(?:х)?кратн|\bdoubl(?:e|es|ing)\b|\bполовин\w*|\bhalf\b|\b1/2\b|½"
    r"|\bпол-?(?:стакан|лож|цен|ставк|пачк|чашк|срок|порци|доз|пут|объем)\w*"
    r"|\bпополам\b|\b50/50\b|\bдв(?:е|умя) равн\w+ (?:част|дол)|\btwo equal (?:part|share|payment|instal)"
)
_ALSO_THREE = re.compile(r"\bтрижды\b|\bтройн\w+|\bтре(?:х)?кратн|\btripl(?:e|es|ing)\b|\bтреть\w*|\bтрети\b|\b1/3\b")
_PER_CENT = re.compile(r"\b([1-9]\d{0,3}) ?(?:%|процент|per ?cent)")
_HEDGE = re.compile(
    r"(?:почти|около|примерно|приблизительно|более чем|больше чем|менее чем|чуть|свыше|almost|nearly|about|roughly|"
    r"more than|over|less than|around)(?: \w+)? \Z"
)
_HEDGE_CHARS = 30


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A claimed ratio, and its offsets in the folded text."""

    shown: str
    value: Decimal
    is_rough: bool
    start: int
    end: int


def ratios(plain: str) -> Iterator[Ratio]:
    """The claimed ratios; `plain` is in lower case, with е for ё."""
    for pattern, value in _NAMED:
        for match in pattern.finditer(plain):
            yield _ratio(match, Decimal(value), plain)
    for match in _COUNTED.finditer(plain):
        yield _ratio(match, _count(match[1] or match[2]), plain)


def ratios_said(plain: str) -> frozenset[Decimal]:
    """All ratios that a text gives in words, in per cent or as «2x»; frequencies count, too («2 раза в неделю»)."""
    found = {ratio.value for ratio in ratios(plain)}
    found |= {_count(next(filter(None, match.groups()))) for match in _ALSO.finditer(plain)}
    for per_cent in map(Decimal, _PER_CENT.findall(plain)):  # 200 %, 100 % more, 50 % left or less
        found |= {per_cent / 100, per_cent / 100 + 1, round(100 / per_cent, 1), *_left(per_cent)}
    found |= {Decimal(value) for value, also in ((2, _ALSO_TWO), (3, _ALSO_THREE)) if also.search(plain)}
    return frozenset(value.normalize() for value in found)


def is_borne_out(ratio: Ratio, numbers: Collection[Decimal]) -> bool:
    """Whether two of the numbers have this ratio; with over MANY_NUMBERS numbers always true."""
    if len(numbers) > MANY_NUMBERS or not ratio.value:
        return True
    return _stand_in(ratio, numbers)


def is_belied(ratio: Ratio, *, told: Collection[Decimal], known: Collection[Decimal]) -> bool:
    """Whether at least two numbers are `told` beside the ratio, and it fits neither two of them nor, exactly, one of
    them and one of the `known`: «втрое: 2 400 ₽ против 1 200 ₽»."""
    if not 2 <= len(told) <= MANY_NUMBERS or not ratio.value or _stand_in(ratio, told):
        return False
    meant = [number * by for number in told for by in (ratio.value, 1 / ratio.value)]
    return not any(abs(number - each) <= each * EXACTLY for number in known for each in meant)


def _stand_in(ratio: Ratio, numbers: Collection[Decimal]) -> bool:
    allowed = ratio.value * (ROUGHLY if ratio.is_rough else NEAR)
    return any(less and abs(more / less - ratio.value) <= allowed for more, less in permutations(numbers, 2))


def _left(per_cent: Decimal) -> set[Decimal]:
    return {round(100 / (100 - per_cent), 1)} if per_cent < 100 else set()


def _ratio(match: re.Match[str], value: Decimal, plain: str) -> Ratio:
    before = plain[max(0, match.start() - _HEDGE_CHARS) : match.start()]
    is_rough = _HEDGE.search(before) is not None
    return Ratio(shown=match[0], value=value.normalize(), is_rough=is_rough, start=match.start(), end=match.end())


def _count(said: str) -> Decimal:
    return Decimal(_COUNTS.get(said, said).replace(",", "."))

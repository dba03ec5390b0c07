"""Checks the calculations that an answer shows.

In: the answer. Out: a remark on the wrong ones. Only clear cases are judged: numbers with operators between them and
«=» or «≈» after them. Brackets, ranges, dates, times and thousands in words are skipped. Where the unit may have
changed («90 мин × 2 = 3 ч»), a result that differs by a factor between such units passes.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, DivisionByZero, InvalidOperation
from itertools import pairwise

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_NUMBER = r"\d+(?:[ \u00a0\u202f]\d{3}(?!\d))+(?:,\d+)?|\d+(?:,\d+)?"
_UNIT = r"(?:[ \u00a0]?[%₽$€]|[ \u00a0](?![xх] )[^\W\d_]+\.?)"
_SIGN = r"[ \u00a0]?[×·÷][ \u00a0]?|[ \u00a0][*xх+−/][ \u00a0]"
_TERM = rf"(?:{_NUMBER}){_UNIT}{{0,3}}"
_SIDE = rf"{_TERM}(?:(?:{_SIGN}){_TERM})*"
_LEFT, _RIGHT = re.compile(rf"(?<![\w.,:/)–-]){_SIDE}$"), re.compile(_SIDE)
_PART = re.compile(rf"({_SIGN})|({_NUMBER})")
_EQUALS = re.compile(r"[ \u00a0]*([=≈])[ \u00a0]*")
_CLAUSE_END = re.compile(r"\(|[,;:—][ \u00a0]|\.[ \u00a0](?=[A-ZА-ЯЁ])|\*\*|\|")
_OPEN = tuple("×·÷*xх+−–-/()[]^.,:")  # next to a side: the side was not matched in full
_UNSURE = re.compile(
    r"\d[.:]\d|\d,\d{3}(?!\d)|\d[–-]\d|\d%? ?[–-] ?\d|тыс|мл[нр]|thousand|million|billion", re.IGNORECASE
)
_DAY = re.compile(
    r"\d[ \u00a0](?:янв|фев|март|апр|ма[йя]|июн|июл|авг|сент|окт|нояб|дек"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
_MEASURE = re.compile(  # one group per unit
    r"\d[ \u00a0]?(?:(₽|руб|р\.)|(\$|долл|dollar)|(€|евро|euro)|(кг|килогр|kg)|(г\b|грам|gram)|(т\b|тонн|ton)|(мл|ml)"
    r"|(л\b|лит|lit)|(км|килом|km)|(см|cm)|(мм|mm)|(м\b|метр|met)|(ч\b|час|h\b|hour)|(мин|min)|(с\b|сек|sec)"
    r"|(дн|день|сут|day)|(нед|week)|(мес|month)|(год|лет|year))",
    re.IGNORECASE,
)
_FACTORS = tuple(map(Decimal, (1, 7, 12, 24, 30, 52, 60, 100, 365, 1000, 1024, 1440, 3600, 10**6)))
_LONGEST_LINE = 2_000  # characters; the time for a line of operators is quadratic
_TOLERANCE = {"=": Decimal("0.002"), "≈": Decimal("0.06")}  # of the result, or half of its last digit if that is more


def wrong_sums(answer: str) -> tuple[str, ...]:
    """A remark that names the wrong calculations, or none."""
    prose = _CODE.sub(" ", answer)
    wrong = [each for line in prose.splitlines() if len(line) <= _LONGEST_LINE for each in _wrong_in(line)]
    if not wrong:
        return ()
    return (f"These sums do not come out: {'; '.join(wrong[:3])}. Calculate again, or leave them out.",)


def _wrong_in(line: str) -> Iterator[str]:
    parts = _EQUALS.split(line)  # side, sign, side, sign, side
    for (before, equals), (after, _) in pairwise(zip(parts[::2], [*parts[1::2], ""], strict=True)):
        left, right = _LEFT.search(before), _RIGHT.match(after)
        if not left or not right or not _is_whole(before[: left.start()], after[right.end() :]):
            continue
        if _UNSURE.search(f"{_clause(before)} {right[0]}") or _DAY.search(f"{left[0]} {right[0]}"):
            continue
        if not _comes_out(left[0], right[0], _TOLERANCE[equals]):
            yield f"{left[0].strip()} {equals} {right[0].strip()}"


def _is_whole(before: str, after: str) -> bool:
    """Whether nothing before or after belongs to the calculation, as in «3 шт. по 100 × 2» or «(2 + 3) × 4»."""
    clause = _clause(before)
    ends = not after.lstrip().startswith(_OPEN) or after[:1] in {".", ",", "*"} or after.startswith((")", " —"))
    return ends and not clause.rstrip().endswith(_OPEN) and not re.search(r"\d", clause)


def _clause(before: str) -> str:
    """The clause in which a calculation begins."""
    return _CLAUSE_END.split(before)[-1]


def _comes_out(left: str, right: str, near: Decimal) -> bool:
    if not (_terms(left)[1:] or _terms(right)[1:]):
        return True  # «1 EUR = 90 ₽» is no calculation
    if _adds_unlike(left):
        return True
    try:
        one, other = _value(left), _value(right)
    except (DivisionByZero, InvalidOperation):
        return True
    if "%" in left + right and re.search(r"[+−]", left + right):
        return True  # a percentage of the term before it
    least = Decimal("0.5").scaleb(_exponent(right))
    allowed = max(least, abs(other) * near)
    return any(abs(one * by - other) <= allowed or abs(one - other * by) <= allowed * by for by in _FACTORS)


def _adds_unlike(side: str) -> bool:
    """Whether a side adds different units, «2 кг + 500 г»: the result depends on the factor between them."""
    addends = re.split(r"[+−]", side)
    single = [found for each in addends if len(_terms(each)) == 1 and (found := _MEASURE.search(each))]
    return len({found.lastindex for found in single}) > 1


def _exponent(side: str) -> int:
    return min(len(part.partition(",")[2]) * -1 for part in _terms(side)[::2])


def _terms(side: str) -> list[str]:
    """Numbers and the operators between them."""
    return [match[0].strip() for match in _PART.finditer(side)]


def _value(side: str) -> Decimal:
    """The value of a side; multiplication and division bind tighter than addition and subtraction."""
    number, *rest = _terms(side)
    total, factor = Decimal(0), _decimal(number)
    for sign, term in zip(rest[::2], rest[1::2], strict=True):
        match sign:
            case "+" | "−":
                total, factor = total + factor, _decimal(term) * (1 if sign == "+" else -1)
            case "÷" | "/":
                factor /= _decimal(term)
            case _:
                factor *= _decimal(term)
    return total + factor


def _decimal(number: str) -> Decimal:
    return Decimal(re.sub(r"\s", "", number).replace(",", "."))

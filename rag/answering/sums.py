"""Checks the calculations that an answer writes out.

In: the answer. Out: a remark on the wrong ones. Judged are numbers with signs between them, «=» or «≈» and one number,
where the units cannot have changed: what is added has one unit, and the result has one of the terms'. All else, such
as brackets, shares of something, dates and ranges, is left to the support check.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, DivisionByZero, InvalidOperation

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_NUMBER = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:,\d+)?|\d+(?:,\d+)?"
_UNIT = r"(?:[ \u00a0]?[%₽$€]|[ \u00a0](?![xх] )[^\W\d_]+\.?){0,2}"
_SIGN = r"[ \u00a0]?[×·÷][ \u00a0]?|[ \u00a0][*xх+−/][ \u00a0]"
_TERM = rf"(?:{_NUMBER}){_UNIT}"
_SUM = re.compile(
    rf"(?<![\w.,:/)–-])(?P<left>{_TERM}(?:(?:{_SIGN}){_TERM})+)[ \u00a0]*(?P<equals>[=≈])[ \u00a0]*(?P<right>{_TERM})"
)
_PART = re.compile(rf"({_SIGN})?({_NUMBER})({_UNIT})")
_CLAUSE_END = re.compile(r"\(|[,;:—=][ \u00a0]|\*\*|\|")
_GOES_ON = re.compile(r"[ \u00a0]*[×·÷*xх+−/^(–-](?!\*)|[.,:]\d|\w")
# «1.200» and «1,200» are another way of writing numbers.
_UNSURE = re.compile(r"\d[.:]\d|\d,\d{3}(?!\d)|тыс|мл[нр]|thousand|million|billion", re.IGNORECASE)
_UNIT_CHARS = 3  # «рублей» and «руб.» are one unit
_LONGEST_LINE = 2_000  # characters; the time for a line of operators is quadratic
_TOLERANCE = {"=": Decimal("0.002"), "≈": Decimal("0.06")}  # of the result, or half of its last digit if that is more


def wrong_sums(answer: str) -> tuple[str, ...]:
    """A remark that names the wrong calculations, or none."""
    lines = (line for line in _CODE.sub(" ", answer).splitlines() if len(line) <= _LONGEST_LINE)
    wrong = [each for line in lines for each in _wrong_in(line)]
    if not wrong:
        return ()
    return (f"These sums do not come out: {'; '.join(wrong[:3])}. Calculate again, or leave them out.",)


def _wrong_in(line: str) -> Iterator[str]:
    for found in _SUM.finditer(line):
        before = _CLAUSE_END.split(line[: found.start()])[-1]
        if re.search(r"\d", before) or _GOES_ON.match(line, found.end()) or _UNSURE.search(found[0]):
            continue  # «3 шт. по 100 × 2», «(2 + 3) × 4»
        if not _comes_out(found["left"], found["right"], _TOLERANCE[found["equals"]]):
            yield found[0].strip()


def _comes_out(left: str, right: str, near: Decimal) -> bool:
    terms, (result,) = _terms(left), _terms(right)
    addends = _addends(terms)
    units, added = {term.unit for term in terms}, {addend[0].unit for addend in addends if len(addend) == 1}
    shares = max(sum(term.unit == "%" for term in addend) for addend in addends)
    if (result.unit not in units and units != {""}) or len(added) > 1 or shares > (result.unit == "%"):
        return True  # it cannot be told
    try:
        value = sum(map(_product, addends), start=Decimal(0))
    except (DivisionByZero, InvalidOperation):
        return True
    last_digit = Decimal("0.5").scaleb(int(result.value.as_tuple().exponent))
    return abs(value - result.value) <= max(last_digit, abs(result.value) * near)


@dataclass(frozen=True, kw_only=True)
class _Term:
    sign: str  # before it; empty for the first
    value: Decimal
    unit: str


def _terms(side: str) -> list[_Term]:
    return [
        _Term(sign=(found[1] or "").strip(), value=_decimal(found[2]), unit=_unit(found[3]))
        for found in _PART.finditer(side)
    ]


def _addends(terms: Sequence[_Term]) -> list[list[_Term]]:
    """What «+» and «−» separate: products."""
    addends: list[list[_Term]] = []
    for term in terms:
        if term.sign in ("", "+", "−"):
            addends.append([])
        addends[-1].append(term)
    return addends


def _product(factors: Sequence[_Term]) -> Decimal:
    value = -factors[0].value if factors[0].sign == "−" else factors[0].value
    for factor in factors[1:]:
        value = value / factor.value if factor.sign in ("÷", "/") else value * factor.value
    return value


def _unit(words: str) -> str:
    return " ".join(word[:_UNIT_CHARS].casefold().rstrip(".") for word in words.split())


def _decimal(number: str) -> Decimal:
    return Decimal(re.sub(r"\s", "", number).replace(",", "."))

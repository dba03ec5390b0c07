"""The numbers in a text, in any notation.

In: text in Russian or English. Out: values as decimals, from «1 200,50», "1,200.50", «0,1 %», «тридцать», «вдвое», «250
тыс.» and "12.05.2024" (three numbers), to compare texts by them.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal, InvalidOperation

from rag.words import folded, union

_DIGITS = re.compile(r"\d+(?:[ \u00a0\u202f]\d{3}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_SPACES = re.compile(r"[ \u00a0\u202f]")
_MONTH_AND_YEAR = re.compile(r"(?:0?[1-9]|1[0-2])\.(?:19|20)\d{2}")  # «до 03.2029»
_SCALE = re.compile(
    r"[ \u00a0\u202f]?(тыс|млн|млрд|миллион|миллиард|thousand|million|billion|[KkMк](?!\w))", re.IGNORECASE
)
SCALES: dict[str, int] = {
    "тыс": 10**3, "thousand": 10**3, "k": 10**3, "к": 10**3, "млн": 10**6, "миллион": 10**6, "million": 10**6,
    "m": 10**6, "млрд": 10**9, "миллиард": 10**9, "billion": 10**9,
}  # fmt: skip
_MONTHS = (
    "январ", "феврал", "март", "апрел", "ма[йяею]", "июн", "июл", "август", "сентябр", "октябр", "ноябр", "декабр",
)  # fmt: skip
_ENGLISH_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = re.compile(  # the nth group is the nth month
    r"\b(?:"
    + "|".join(rf"({russian}\w{{0,3}}|{english})" for russian, english in zip(_MONTHS, _ENGLISH_MONTHS, strict=True))
    + r")\b",
    re.IGNORECASE,
)

# Stems of numerals in any case and of ordinals («тридцати», «тридцатый»); longer ones first. Now and then a word has
# such a stem by chance: one known number too many does less harm than one too few.
_STEMS: tuple[tuple[str, int], ...] = (
    ("одиннадцат", 11), ("двенадцат", 12), ("тринадцат", 13), ("четырнадцат", 14), ("пятнадцат", 15),
    ("шестнадцат", 16), ("семнадцат", 17), ("восемнадцат", 18), ("девятнадцат", 19), ("двадцат", 20), ("тридцат", 30),
    ("сорок", 40), ("пятьдесят", 50), ("пятидесят", 50), ("шестьдесят", 60), ("шестидесят", 60), ("семьдесят", 70),
    ("семидесят", 70), ("восемьдесят", 80), ("восьмидесят", 80), ("девяност", 90), ("двест", 200), ("двухсот", 200),
    ("трист", 300), ("трехсот", 300), ("четырест", 400), ("четырехсот", 400), ("пятьсот", 500), ("пятисот", 500),
    ("шестьсот", 600), ("семьсот", 700), ("восемьсот", 800), ("девятьсот", 900), ("тысяч", 1000),
    ("миллион", 1_000_000), ("миллиард", 10**9), ("eleven", 11), ("twelve", 12), ("thirteen", 13), ("fourteen", 14),
    ("fifteen", 15), ("sixteen", 16), ("seventeen", 17), ("eighteen", 18), ("nineteen", 19), ("twent", 20),
    ("thirt", 30), ("fort", 40), ("fift", 50), ("sixt", 60), ("sevent", 70), ("eight", 8), ("ninet", 90),
    ("hundred", 100), ("thousand", 1000), ("million", 1_000_000), ("billion", 10**9), ("четыр", 4), ("четверт", 4),
    ("девят", 9), ("десят", 10), ("восьм", 8), ("восем", 8), ("перв", 1), ("втор", 2), ("трет", 3), ("трех", 3),
    ("трем", 3), ("пят", 5), ("шест", 6), ("седьм", 7), ("семь", 7), ("семи", 7), ("двух", 2), ("двум", 2),
    ("двое", 2), ("трое", 3), ("дважд", 2), ("трижд", 3),
)  # fmt: skip
_WHOLE: dict[str, float] = {
    "полтора": 1.5, "полторы": 1.5, "полутора": 1.5, "ноль": 0, "один": 1, "одна": 1, "одно": 1, "одного": 1,
    "одной": 1, "одну": 1, "одним": 1, "два": 2, "две": 2, "три": 3, "сто": 100, "ста": 100, "сотня": 100, "пара": 2,
    "вдвое": 2, "двойной": 2, "двойная": 2, "втрое": 3, "тройной": 3, "вчетверо": 4, "twice": 2, "double": 2,
    "thrice": 3, "triple": 3, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "nine": 9, "ten": 10, "first": 1, "second": 2, "third": 3, "fourth": 4, "sixth": 6, "ninth": 9, "tenth": 10,
}  # fmt: skip

# Numbers that a fraction in words may stand for: «половина» is 0,5, 50 % or one of two.
_SHARES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("половина", "половины", "половину", "половине", "половиной", "half"), ("0.5", "50", "2")),
    **dict.fromkeys(("треть", "трети", "третью"), ("33", "3")),
    **dict.fromkeys(("четверть", "четверти", "четвертью", "quarter"), ("0.25", "25", "4")),
}

_VALUES = dict(_STEMS)
_STEM = re.compile("|".join(stem for stem, _ in _STEMS))  # takes a tenth of the time of trying each stem in turn
_SCALE_VALUES = frozenset({100, 1000, 10**6, 10**9})
_TOKEN = re.compile(r"[^\W\d_]+")
_BESIDE = re.compile(r"[ \u00a0\u202f\n](?:and )?")  # between the words of one number


def written_numbers(text: str) -> Iterator[frozenset[Decimal]]:
    """The numbers in digits, in order, each as the values that it may stand for, since decimal and thousands separators
    differ between countries. A date is several numbers, and so is a telephone number, whose grouping differs."""
    for match in _DIGITS.finditer(text):
        written, plain = match[0], _SPACES.sub("", match[0])
        is_thousands = _THOUSANDS.fullmatch(plain) is not None
        if text[: match.start()].endswith("+"):
            yield from map(_values, _SPACES.split(written))
        elif _MONTH_AND_YEAR.fullmatch(plain) or (plain.count(".") > 1 and "," not in plain and not is_thousands):
            yield from map(_values, plain.split("."))
        else:
            wholes = [plain.replace(",", "."), re.sub(r"[.,]", "", plain) if is_thousands else plain]
            if "," in plain and "." in plain:
                wholes.append(plain.replace(",", "") if plain.rfind(".") > plain.rfind(",") else plain.replace(".", ""))
            scale = _SCALE.match(text, match.end())
            factor = SCALES[scale[1].casefold()] if scale else 1
            if values := _values(*wholes):
                yield values | {(value * factor).normalize() for value in values}


def is_among(number: frozenset[Decimal], known: frozenset[Decimal]) -> bool:
    """Whether one of its values is known."""
    return not number.isdisjoint(known)


def numbers(text: str) -> frozenset[Decimal]:
    """The values of all numbers in digits, in every reading."""
    return union(written_numbers(text))


def known_numbers(text: str) -> frozenset[Decimal]:
    """All numbers that may be taken from this text: in digits (in every reading, and as telephone numbers), in words,
    and months as numbers."""
    months = frozenset(Decimal(match.lastindex or 0) for match in _MONTH.finditer(text))
    groups = (_values(*_SPACES.split(match[0])) for match in _DIGITS.finditer(text))
    return numbers(text) | spoken_numbers(text) | months | union(groups)


def spoken_numbers(text: str) -> frozenset[Decimal]:
    """All numbers in words: each word's own, and what neighbouring ones make («двадцать пять тысяч»)."""
    plain = folded(text)
    found: set[Decimal] = set()
    end, last, total, current = 0, Decimal(0), Decimal(0), Decimal(0)  # of the number so far
    for token in _TOKEN.finditer(plain):
        found.update(map(Decimal, _SHARES.get(token[0], ())))
        stem = _STEM.match(token[0])
        if (known := _WHOLE.get(token[0], _VALUES[stem[0]] if stem else None)) is None:
            continue
        value = Decimal(known)
        is_scale = value in _SCALE_VALUES and token[0] not in ("сто", "ста")  # it multiplies what stands before it
        if not _goes_on(last, value, plain[end : token.start()], is_scale=is_scale):
            total, current = Decimal(0), Decimal(0)
        if is_scale and value > 100:
            total, current = total + max(current, Decimal(1)) * value, Decimal(0)
        else:
            current = max(current, Decimal(1)) * value if is_scale else current + value
        found |= {value, (total + current).normalize()}
        end, last = token.end(), value
    return frozenset(found)


def _goes_on(last: Decimal, value: Decimal, between: str, *, is_scale: bool) -> bool:
    """Whether a word belongs to the number before it: it multiplies that, or is less than its last word leaves open."""
    if between == "-":  # "twenty-five", and not the range «тысяча-две»
        return 20 <= last < 100 and value < 10
    if not last or not _BESIDE.fullmatch(between):
        return False
    return is_scale or value < (last if last in _SCALE_VALUES else 10 if 20 <= last < 100 else 100 if last > 100 else 0)


def _values(*written: str) -> frozenset[Decimal]:
    """Those that are numbers; a single comma or dot separates decimals."""
    found: set[Decimal] = set()
    for each in written:
        with suppress(InvalidOperation):
            found.add(Decimal(each.replace(",", ".")).normalize())
    return frozenset(found)

"""The numbers in a text, in any notation.

In: text in Russian or English. Out: values as decimals, from «1 200,50», "1,200.50", «0,1 %», «тридцать», «вдвое»,
«250 тыс.» and "12.05.2024" (three numbers). It serves to compare answers with facts; in facts, words are read more
loosely. It does not parse calculations or dates as such.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from rag.answering.spoken import SpokenNumber, halves, in_words, is_measure, without_idioms
from rag.words import folded

DIGITS = re.compile(r"\d+(?:[ \u00a0\u202f]\d{3}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_SPACES = re.compile(r"[ \u00a0\u202f]")
_MONTH_AND_YEAR = re.compile(r"\d{1,2}\.\d{4}")  # «до 03.2029»
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
MONTH = re.compile(  # the nth group is the nth month
    r"\b(?:"
    + "|".join(rf"({russian}\w{{0,3}}|{english})" for russian, english in zip(_MONTHS, _ENGLISH_MONTHS, strict=True))
    + r")\b",
    re.IGNORECASE,
)

# Stems of numerals in any case and of ordinals («тридцати», «тридцатый»); longer ones first.
_STEMS: tuple[tuple[str, int], ...] = (
    ("одиннадцат", 11), ("двенадцат", 12), ("тринадцат", 13), ("четырнадцат", 14), ("пятнадцат", 15),
    ("шестнадцат", 16), ("семнадцат", 17), ("восемнадцат", 18), ("девятнадцат", 19), ("двадцат", 20),
    ("тридцат", 30), ("сорок", 40), ("пятьдесят", 50), ("пятидесят", 50), ("шестьдесят", 60), ("шестидесят", 60),
    ("семьдесят", 70), ("семидесят", 70), ("восемьдесят", 80), ("восьмидесят", 80), ("девяност", 90), ("двест", 200),
    ("двухсот", 200), ("трист", 300), ("трехсот", 300), ("четырест", 400), ("четырехсот", 400), ("пятьсот", 500),
    ("пятисот", 500), ("шестьсот", 600), ("семьсот", 700), ("восемьсот", 800), ("девятьсот", 900), ("тысяч", 1000),
    ("миллион", 1_000_000), ("eleven", 11), ("twelve", 12), ("thirteen", 13), ("fourteen", 14), ("fifteen", 15),
    ("sixteen", 16), ("seventeen", 17), ("eighteen", 18), ("nineteen", 19), ("twent", 20), ("thirt", 30), ("fort", 40),
    ("fift", 50), ("sixt", 60), ("sevent", 70), ("eight", 8), ("ninet", 90), ("hundred", 100), ("thousand", 1000),
    ("million", 1_000_000), ("четыр", 4), ("четверт", 4), ("девят", 9), ("десят", 10), ("восьм", 8), ("восем", 8),
    ("перв", 1), ("втор", 2), ("трет", 3), ("трех", 3), ("трем", 3), ("пят", 5), ("шест", 6), ("седьм", 7), ("семь", 7),
    ("семи", 7), ("двух", 2), ("двум", 2), ("двое", 2), ("трое", 3), ("дважд", 2), ("трижд", 3),
)  # fmt: skip
_WHOLE: dict[str, int] = {
    "ноль": 0, "один": 1, "одна": 1, "одно": 1, "одного": 1, "одной": 1, "одну": 1, "одним": 1, "два": 2, "две": 2,
    "три": 3, "сто": 100, "ста": 100, "сотня": 100, "пара": 2, "вдвое": 2, "двойной": 2, "двойная": 2, "втрое": 3,
    "тройной": 3, "вчетверо": 4, "полтора": 1, "twice": 2, "double": 2, "thrice": 3, "triple": 3, "zero": 0, "one": 1,
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "nine": 9, "ten": 10, "first": 1, "second": 2,
    "third": 3, "fourth": 4, "sixth": 6, "ninth": 9, "tenth": 10,
}  # fmt: skip

# Numbers that a fraction in words may stand for: «половина» is 0,5, 50 % or one of two.
_SHARES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("половина", "половины", "половину", "половине", "половиной", "half"), ("0.5", "50", "2")),
    **dict.fromkeys(("треть", "трети", "третью"), ("33", "3")),
    **dict.fromkeys(("четверть", "четверти", "четвертью", "quarter"), ("0.25", "25", "4")),
}

_LEAST_AMOUNT = 11  # in words, without a unit; smaller ones may be the answer's own: «в двух словах», «три документа»

_MANY = frozenset({"тысяча", "тысячу", "миллион", "миллиард"})  # «тысяча причин»

# Numbers that locate something and measure nothing. The first two lines match headings of `facts_block`.
_PLACES = re.compile(
    r"^(?:Page|Slide|Rows): [\d-]+$|^Date: \d{4}-\d\d-\d\d$"
    r"|(?:^Section: | > )\d{1,3}(?:\.\d{1,3})*[.)](?=\s)"
    r"|^[ \t>*_#+•-]*\d{1,2}(?:\.\d{1,3})*[.)](?=\s)"
    r"|(?:\b(?:пп?\.|ст\.|стр\.|гл\.|пункт\w*|част[ьи]|глав[аеуы]|раздел[аеу]?|приложени\w+|clause|section|article|page|"
    r"chapter|appendix)|№)[ \u00a0]*\d+(?:\.\d+)*(?![\d%])",
    re.MULTILINE | re.IGNORECASE,
)

_VALUES = dict(_STEMS)
_STEM = re.compile("|".join(stem for stem, _ in _STEMS))  # takes a tenth of the time of trying each stem in turn


@dataclass(frozen=True, kw_only=True)
class WrittenNumber:
    """A number in a text, and its possible values."""

    shown: str
    is_measured: bool = False  # it has a unit: days, roubles, per cent
    readings: tuple[frozenset[Decimal], ...]  # alternatives; a date is one reading with several values

    def is_among(self, known: frozenset[Decimal]) -> bool:
        """Whether all values of one of the readings are known."""
        return any(reading <= known for reading in self.readings)


def written_numbers(text: str) -> Iterator[WrittenNumber]:
    """The numbers in digits, in order."""
    for match in DIGITS.finditer(text):
        scaled = _scaled(match, text)
        meant = [*map(frozenset, readings(match[0])), *([frozenset(scaled)] if scaled else [])]
        if text[: match.start()].endswith("+"):  # a telephone number: it may be grouped differently elsewhere
            meant.append(frozenset(_groups(match[0])))
        if meant:
            is_measured = is_measure(text, match.start(), match.end())
            yield WrittenNumber(shown=match[0], readings=tuple(meant), is_measured=is_measured)


def told_amounts(text: str) -> Iterator[WrittenNumber]:
    """Amounts in words: «тридцать дней», «сто двадцать тысяч». Not «один из», ordinals, «тысяча причин», «сто раз
    говорил», nor «сто процентов», which expresses certainty."""
    plain = without_idioms(folded(text))
    for number in (*in_words(plain), *halves(plain)):
        if _is_amount(number):
            values = tuple(frozenset((each,)) for each in (number.value, *number.converted))
            yield WrittenNumber(shown=number.shown, readings=values, is_measured=bool(number.unit))


def _is_amount(number: SpokenNumber) -> bool:
    is_certainty = number.value == 100 and number.unit.startswith(("процент", "per"))
    if number.is_ordinal or is_certainty:
        return False
    return number.value not in (0, 1) if number.unit else number.value >= _LEAST_AMOUNT and number.shown not in _MANY


def numbers(text: str) -> frozenset[Decimal]:
    """The values of all numbers in digits, in every reading."""
    return frozenset(value for match in DIGITS.finditer(text) for reading in readings(match[0]) for value in reading)


def without_places(text: str) -> str:
    """The text without numbers that measure nothing: points («10. …», «п. 5»), pages and dates of documents."""
    return _PLACES.sub(lambda place: place[0] if _is_amount_of_its_own(place) else " ", text)


def places(text: str) -> str:
    """The parts of the text that `without_places` removes."""
    return "\n".join(match[0] for match in _PLACES.finditer(text))


def _is_amount_of_its_own(place: re.Match[str]) -> bool:
    """«Часть 500 рублей», «раздел 5 % скидки»: the number has a unit, so the word before it names no place."""
    return is_measure(place.string, place.end(), place.end())


def months(text: str) -> frozenset[Decimal]:
    """The months that a text names, as numbers."""
    return frozenset(Decimal(match.lastindex or 0) for match in MONTH.finditer(text))


def known_numbers(text: str) -> frozenset[Decimal]:
    """All numbers that an answer may take from this text: in digits, in words, and months as numbers."""
    return amounts(text) | months(text)


def amounts(text: str) -> frozenset[Decimal]:
    """All numbers in digits (in every reading) and in words."""
    found = set(numbers(text) | spoken_numbers(text))
    for match in DIGITS.finditer(text):
        found |= _scaled(match, text) | _groups(match[0])
    return frozenset(found)


def spoken_numbers(text: str) -> frozenset[Decimal]:
    """All numbers in words, and the sums of neighbouring ones («двадцать пять»: 20, 5 and 25)."""
    found = {number.value for number in in_words(text)}
    before: int | None = None
    for match in _WORD.finditer(folded(text)):
        found.update(map(Decimal, _SHARES.get(match[0], ())))
        value = _spoken(match[0])
        if value is not None:
            found.add(Decimal(value))
            if before is not None:
                found.add(Decimal(before * value if value >= 1000 > before else before + value))
        before = value
    return frozenset(found)


def readings(written: str) -> list[set[Decimal]]:
    """Every reading of the digits: decimal and thousands separators differ between countries."""
    plain = _SPACES.sub("", written)
    wholes = [plain.replace(",", ".")]
    if _THOUSANDS.fullmatch(plain):
        wholes.append(re.sub(r"[.,]", "", plain))
    if "," in plain and "." in plain:
        wholes.append(plain.replace(",", "") if plain.rfind(".") > plain.rfind(",") else plain.replace(".", ""))
    found = [[whole] for whole in dict.fromkeys(wholes)]
    is_date = plain.count(".") > 1 or _MONTH_AND_YEAR.fullmatch(plain)
    if is_date and "," not in plain:
        found.append(plain.split("."))
    decimals = [[_decimal(part) for part in reading] for reading in found]
    return [{part for part in reading if part is not None} for reading in decimals if None not in reading]


def _scaled(match: re.Match[str], text: str) -> set[Decimal]:
    """«250 тыс.»: 250 000."""
    scale = _SCALE.match(text, match.end())
    if scale is None:
        return set()
    return {
        (value * SCALES[scale[1].casefold()]).normalize()
        for reading in readings(match[0])
        if len(reading) == 1
        for value in reading
    }


def _groups(written: str) -> set[Decimal]:
    """«7 843 555»: 7, 843 and 555, since it may be a telephone number."""
    return {value for part in _SPACES.split(written) if (value := _decimal(part)) is not None}


def _decimal(digits: str) -> Decimal | None:
    try:
        return Decimal(digits.replace(",", ".")).normalize()
    except InvalidOperation:
        return None


def _spoken(word: str) -> int | None:
    if word in _WHOLE:
        return _WHOLE[word]
    stem = _STEM.match(word)
    return _VALUES[stem[0]] if stem else None

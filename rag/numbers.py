"""The numbers in a text, in any notation.

In: text in Russian or English. Out: values as decimals, from «1 200,50», "1,200.50", «0,1 %», «тридцать», «вдвое»,
«250 тыс.» and "12.05.2024" (three numbers). It serves to compare texts by their numbers; it does not parse
calculations or dates as such.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

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

_VALUES = dict(_STEMS)
_STEM = re.compile("|".join(stem for stem, _ in _STEMS))  # takes a tenth of the time of trying each stem in turn

_CARDINALS = {
    0: "ноль нуля нулю нулем zero",
    1: "один одна одно одного одной одну одним одном одному одни одних one",
    2: "два две двух двум двумя двое двоих двоим two", 3: "три трех трем тремя трое троих троим three",
    4: "четыре четырех четырем четырьмя четверо four", 5: "пять пяти пятью пятеро five",
    6: "шесть шести шестью шестеро six", 7: "семь семи семью семеро seven",
    8: "восемь восьми восемью восьмью eight", 9: "девять девяти девятью nine", 10: "десять десяти десятью ten",
    11: "одиннадцать одиннадцати одиннадцатью eleven", 12: "двенадцать двенадцати двенадцатью twelve",
    13: "тринадцать тринадцати тринадцатью thirteen", 14: "четырнадцать четырнадцати четырнадцатью fourteen",
    15: "пятнадцать пятнадцати пятнадцатью fifteen", 16: "шестнадцать шестнадцати шестнадцатью sixteen",
    17: "семнадцать семнадцати семнадцатью seventeen", 18: "восемнадцать восемнадцати восемнадцатью eighteen",
    19: "девятнадцать девятнадцати девятнадцатью nineteen", 20: "двадцать двадцати двадцатью twenty",
    30: "тридцать тридцати тридцатью thirty", 40: "сорок сорока forty",
    50: "пятьдесят пятидесяти пятьюдесятью fifty", 60: "шестьдесят шестидесяти шестьюдесятью sixty",
    70: "семьдесят семидесяти семьюдесятью seventy", 80: "восемьдесят восьмидесяти восемьюдесятью eighty",
    90: "девяносто девяноста ninety", 100: "сто ста", 200: "двести двухсот двумстам двухстах двумястами",
    300: "триста трехсот тремстам трехстах тремястами", 400: "четыреста четырехсот четыремстам четырехстах",
    500: "пятьсот пятисот пятистам пятистах", 600: "шестьсот шестисот шестистам шестистах",
    700: "семьсот семисот семистам семистах", 800: "восемьсот восьмисот восьмистам восьмистах",
    900: "девятьсот девятисот девятистам девятистах",
}  # fmt: skip
_SCALES = {
    100: "hundred", 1000: "тысяча тысячи тысяч тысячу тысяче тысячей тысячам тысячами тысячах thousand",
    10**6: "миллион миллиона миллионов миллиону миллионом миллионе миллионам million",
    10**9: "миллиард миллиарда миллиардов миллиарду миллиардом миллиарде billion",
}  # fmt: skip
_SINGLE_SCALES = frozenset({"тысяча", "тысячу", "миллион", "миллиард"})  # «тысячи людей» is no number
_HALVES = {word: Decimal("1.5") for word in ("полтора", "полторы", "полутора")}
_TOKEN = re.compile(r"[^\W\d_]+")
_BESIDE = re.compile(r"[ \u00a0\u202f\n-]|[ ]?-[ ]?")  # separators between the words of one number
_AND_A_HALF = re.compile(r"[ \u00a0](?:с половиной|and a half)\b")
_DIGIT_BEFORE = re.compile(r"\d[ \u00a0\u202f-]*\Z")


@dataclass(frozen=True, kw_only=True)
class _Word:
    start: int
    end: int
    value: Decimal
    is_scale: bool


_WORDS = {
    **{word: (Decimal(value), False) for value, words in _CARDINALS.items() for word in words.split()},
    **{word: (value, False) for word, value in _HALVES.items()},
    **{word: (Decimal(value), True) for value, words in _SCALES.items() for word in words.split()},
}


def in_words(text: str) -> Iterator[Decimal]:
    """The values of numbers in words, up to 999 billion, in order: «сто двадцать пять тысяч», «два с половиной». A
    scale after digits («250 тысяч») belongs to the digits and is skipped."""
    plain = folded(text)
    if _WORDS.keys().isdisjoint(_TOKEN.findall(plain)):  # most texts
        return
    words = [
        _Word(start=token.start(), end=token.end(), value=known[0], is_scale=known[1])
        for token in _TOKEN.finditer(plain)
        if (known := _WORDS.get(token[0]))
    ]
    for run in _runs(words, plain):
        first = run[0]
        if first.is_scale and _DIGIT_BEFORE.search(plain, max(0, first.start - 4), first.start):
            continue
        is_bare_scale = first.is_scale and len(run) == 1 and plain[first.start : first.end] not in _SINGLE_SCALES
        if not is_bare_scale:
            yield _value(run, plain)


def _runs(words: Sequence[_Word], plain: str) -> Iterator[list[_Word]]:
    """Runs of words that make one number: each is less than the one before it, or multiplies it."""
    run: list[_Word] = []
    for word in words:
        if run and not _goes_on(run, word, plain):
            yield run
            run = []
        run.append(word)
    if run:
        yield run


def _goes_on(run: Sequence[_Word], word: _Word, plain: str) -> bool:
    between = plain[run[-1].end : word.start].removesuffix("and ")
    between = _AND_A_HALF.sub("", between) if word.is_scale else between
    if not _BESIDE.fullmatch(between):
        return False
    last = run[-1]
    if last.value >= 1000 and "-" in between:  # «тысяча-две», «тысяча-полторы»: a range
        return False
    if word.is_scale or last.is_scale:
        return word.is_scale or word.value < last.value
    return last.value >= 20 and word.value < _room(last.value)


def _room(value: Decimal) -> int:
    """Exclusive upper bound for the next word: after «двадцать» a digit, after «сто» anything below 100."""
    return 100 if value >= 100 else 10


def _value(run: Sequence[_Word], plain: str) -> Decimal:
    total, current = Decimal(0), Decimal(0)
    for word in run:
        if not word.is_scale:
            current += word.value
        elif word.value == 100:
            current = max(current, Decimal(1)) * 100
        else:
            total, current = total + max(current, Decimal(1)) * word.value, Decimal(0)
        if _AND_A_HALF.match(plain, word.end):
            current += Decimal("0.5")
    return (total + current).normalize()


@dataclass(frozen=True, kw_only=True)
class WrittenNumber:
    """A number in a text, and its possible values."""

    shown: str
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
            yield WrittenNumber(shown=match[0], readings=tuple(meant))


def numbers(text: str) -> frozenset[Decimal]:
    """The values of all numbers in digits, in every reading."""
    return frozenset(value for match in DIGITS.finditer(text) for reading in readings(match[0]) for value in reading)


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
    found = set(in_words(text))
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

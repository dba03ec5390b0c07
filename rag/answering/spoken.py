"""Numbers in words: «сто двадцать пять тысяч», «два с половиной», "twenty-five", and their units.

In: text in Russian or English. Out: `SpokenNumber`s with their value, up to 999 billion. Ordinals («двадцать первый»)
and fractions («одна десятая») are recognised and flagged, since they are no amounts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rag.words import folded

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
_ORDINAL = re.compile(
    r"(?:перв|втор|трет|четверт|пят|шест|седьм|восьм|девят|(?:[а-я]+на)?дцат|десят|сороков|[а-я]+десят|девяност|сот|тысячн)"
    r"(?:ый|ой|ий|ая|яя|ое|ее|ье|ья|ьи|ые|ого|его|ьего|ому|ьему|ым|ьим|ом|ьем|ую|ью|ей|ьей|ых|ьих|ыми|ьими)"
    r"|(?:fir|seco|thi|[a-z]*ten|four|fif|six|seven|eigh|nin|eleven|twelf|twentie|thirtie|fortie|fiftie|hundred)(?:st|nd|rd|th)"
)
_TOKEN = re.compile(r"[^\W\d_]+")
_BESIDE = re.compile(r"[ \u00a0\u202f\n-]|[ ]?-[ ]?")  # separators between the words of one number
_AND_A_HALF = re.compile(r"[ \u00a0](?:с половиной|and a half)\b")
_FRACTION = re.compile(
    r"[ \u00a0](?:цел(?:ая|ых|ой)|десят(?:ая|ых|ой)|сот(?:ая|ых|ой)|треть|трети|четверт\w*|th?irds?|quarters?)\b"
)
_DIGIT_BEFORE = re.compile(r"\d[ \u00a0\u202f-]*\Z")

_UNITS: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...] = (
    # names; factors to smaller units; how many make one larger unit
    (r"год(?:а|у|ом|ов|ы)?|лет|годам|years?", (12, 365), ()),
    (r"месяц\w*|мес|months?", (30,), (12,)),
    (r"недел[яьиюе]\w*|нед|weeks?", (7,), (4,)),
    (r"день|дн(?:я|ей|ям|ями|ях|и)|сут(?:ки|ок|кам|ках)|days?", (24,), (5, 7, 30, 365)),  # 5: working days
    (r"час(?:а|ов|ам|ами|ах)?|ч|hours?", (60,), (24,)),
    (r"минут\w*|мин|minutes?", (60,), (60,)),
    (
        r"километр\w*|км|kilomet(?:er|re)s?|km|тонн\w*|т|tons?|килограмм\w*|кг|kilograms?|kg|литр\w*|lit(?:er|re)s?",
        (1000,),
        (),
    ),
    (r"метр\w*|м|met(?:er|re)s?", (100,), ()),
    (
        r"процент\w*|%|per ?cent|рубл\w*|копе\w+|доллар\w*|евро|юан\w*|тенге|dollars?|euros?|roubles?|rubles?|pounds?"
        r"|секунд\w*|seconds?|грамм\w*|миллиметр\w*|сантиметр\w*|miles?|мегабайт\w*|гигабайт\w*|градус\w*|degrees?",
        (),
        (),
    ),
)
_BEFORE_UNIT = (
    r"[ \u00a0\u202f]+(?:(?:рабоч\w+|календарн\w+|банковск\w+|полны\w+|business|working|calendar|full|us)[ \u00a0]+)?"
)
_NAMES = "(?:" + "|".join(f"({names})" for names, *_ in _UNITS) + r")(?!\w)"
_UNIT = re.compile(_BEFORE_UNIT + _NAMES)
_UNIT_OF_DIGITS = re.compile(f"(?:{_BEFORE_UNIT}|-)?{_NAMES}")  # «48ч», "2-year"
# «10-11 дней», «от 10 до 11 %», «990 ₽», "2-year"; but not «в 2-м классе»
_MEASURE = re.compile(
    r"(?:[ \u00a0]?(?:[-–—]|\b(?:до|или|to|or)\b)[ \u00a0]?\d+(?:[.,]\d+)?)?"
    rf"(?:(?:{_BEFORE_UNIT})?(?:{_NAMES})|-(?!м\b|т\b){_NAMES}|[ \u00a0\u202f]*(?:₽|руб|р\.|\$|€))",
    re.IGNORECASE,
)
_CURRENCY_BEFORE = re.compile(r"[$€£₽][ \u00a0]?\Z")
_PART_NEXT = re.compile(r"[ \u00a0][чт]\.[ \u00a0]?\d", re.IGNORECASE)  # «ст. 12 ч. 3»: no hours
_YEAR = re.compile(r"(?:19|20)\d\d[ \u00a0-]*(?:г|year)", re.IGNORECASE)
_IDIOM = re.compile(  # «сто раз говорил» is no count; «в сто раз» is one
    r"(?<!\bв )\b(?:сто|тысячу|миллион) раз\b|\bна все сто\b"
    r"|\ba (?:hundred|thousand|million) times\b(?! (?:as|more|less))"
)
# Halves of a unit in one word, and their values in smaller units.
_HALF_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"пол(?:у|-)?(?:года|годи[ея]|годом|годию)|half a year", ("0.5", "6", "26", "180", "182", "183")),
    (r"пол(?:у|-)?часа|получас\w*|half an hour", ("0.5", "30")),
    (r"пол(?:у|-)?дня|half a day", ("0.5", "12", "4")),
    (r"пол(?:у|-)?месяца|half a month", ("0.5", "15", "14", "2")),
    (r"пол(?:у|-)?века|half a century", ("0.5", "50")),
    (
        r"пол(?:у|-)?(?:тонны|километра|кило|килограмма|литра)|half a (?:ton|kilometer|kilometre|kilo|litre|liter)",
        ("0.5", "500"),
    ),
    (r"пол(?:у|-)?метра|half a met(?:er|re)", ("0.5", "50")),
    (r"пол(?:у|-)?миллиона|half a million", ("0.5", "500000")),
    (r"пол(?:у|-)?миллиарда|half a billion", ("0.5", "500000000")),
)
_HALF_WORD = re.compile(r"\b(?:" + "|".join(f"({words})" for words, _ in _HALF_WORDS) + r")\b")


@dataclass(frozen=True, kw_only=True)
class SpokenNumber:
    """A number in words."""

    shown: str
    value: Decimal
    is_ordinal: bool = False
    unit: str = ""  # days, per cent, roubles; empty if it has none
    converted: tuple[Decimal, ...] = ()  # «полтора года»: 18 (months)


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


def in_words(text: str) -> Iterator[SpokenNumber]:
    """The numbers in order. A scale after digits («250 тысяч») belongs to the digits and is skipped."""
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
            yield _number(run, plain)


def halves(plain: str) -> Iterator[SpokenNumber]:
    """«Полчаса», "half a million": halves of a unit; `converted` holds their values in smaller units."""
    if "пол" not in plain and "half a" not in plain:  # most texts
        return
    for match in _HALF_WORD.finditer(plain):
        value, *others = _HALF_WORDS[(match.lastindex or 1) - 1][1]
        yield SpokenNumber(shown=match[0], value=Decimal(value), unit=match[0], converted=tuple(map(Decimal, others)))


def without_idioms(plain: str) -> str:
    """The text without idioms that count nothing: «сто раз говорил»."""
    return _IDIOM.sub(" ", plain)


def is_measure(text: str, start: int, end: int) -> bool:
    """Whether the digits at `start` to `end` have a unit: days, roubles, per cent. Years and points of a law are no
    measures."""
    if _YEAR.match(text, start) or _PART_NEXT.match(text, end):
        return False
    return _MEASURE.match(text, end) is not None or _CURRENCY_BEFORE.search(text, max(0, start - 2), start) is not None


def smaller_units(plain: str, end: int) -> tuple[int, ...]:
    """Factors from the unit after digits that end at `end` to smaller units: days give 24 (hours)."""
    return _factors(_UNIT_OF_DIGITS.match(plain, end))


def larger_units(plain: str, end: int) -> tuple[int, ...]:
    """How many of the unit after digits that end at `end` make one larger unit: months give 12 (a year)."""
    unit = _UNIT_OF_DIGITS.match(plain, end)
    return _UNITS[unit.lastindex - 1][2] if unit and unit.lastindex else ()


def _factors(unit: re.Match[str] | None) -> tuple[int, ...]:
    return _UNITS[unit.lastindex - 1][1] if unit and unit.lastindex else ()


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


def _number(run: Sequence[_Word], plain: str) -> SpokenNumber:
    total, current, end = Decimal(0), Decimal(0), run[-1].end
    for word in run:
        if not word.is_scale:
            current += word.value
        elif word.value == 100:
            current = max(current, Decimal(1)) * 100
        else:
            total, current = total + max(current, Decimal(1)) * word.value, Decimal(0)
        if half := _AND_A_HALF.match(plain, word.end):
            current, end = current + Decimal("0.5"), max(end, half.end())
    ordinal = _TOKEN.match(plain, end + 1) if plain[end : end + 1] in (" ", "-") else None
    value, unit = total + current, _UNIT.match(plain, end)
    return SpokenNumber(
        shown=plain[run[0].start : end],
        value=value.normalize(),
        is_ordinal=bool(ordinal and _ORDINAL.fullmatch(ordinal[0])) or _FRACTION.match(plain, end) is not None,
        unit=unit[0].strip() if unit else "",
        converted=tuple((value * factor).normalize() for factor in _factors(unit)),
    )

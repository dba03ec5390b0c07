"""Finds exchanged «от» and «до»: «до 10 дней» for «от 10 дней», «после 18:00» for «до 18:00».

In: an answer, the question and all known text. Out: the limits of the answer whose number is known, in the same
context, only as the opposite limit. Such words may also state the other side of a limit («до 3 000 руб. доставка
платная» for «от 3 000 руб. бесплатно»). Therefore all words of the answer's clause have to be in one sentence of the
materials, and only if both or neither deny is it judged. Unambiguous bounds («не более») are judged in `bounds`,
regardless of the context. Pure.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from rag.answering.bounds import AT_LEAST, AT_MOST
from rag.answering.clauses import SENTENCE_END
from rag.answering.numbers import DIGITS, MONTH, numbers, readings
from rag.answering.units import measured, without_amounts
from rag.words import STEM_LETTERS, folded, stems

_UNTIL = r"до|менее|меньше|ниже|младше|моложе|не после|up to|until|till|less than|fewer than|under|below|before"
_FROM = r"от|с|со|начиная с|свыше|более|больше|выше|старше|после|from|since|over|more than|above|after|older than"
_NOT_LATER = r"не (?:позднее|позже)|no later than|not later than"
_NOT_EARLIER = r"не (?:ранее|раньше)|no earlier than|not earlier than|no sooner than"
_LIMIT = re.compile(
    rf"(?<!\w)(?:(?P<later>{_NOT_LATER})|(?P<earlier>{_NOT_EARLIER})|(?P<most>{AT_MOST})|(?P<least>{AT_LEAST})"
    rf"|(?<!\bне )(?<!\bno )(?<!\bnot )(?:(?P<until>{_UNTIL})|(?P<from>{_FROM})))"
    r"(?: чем)?(?: на|(?P<by> за| через)?)[ \u00a0*$€£₽]{1,4}(?=\d)",
    re.IGNORECASE,
)
_CLOCK = re.compile(r":[0-5]\d(?!\d)|[ \u00a0](?:утра|вечера|часов утра|часов вечера|a\.?m|p\.?m)\b", re.IGNORECASE)
_AGE_OR_YEAR = re.compile(r"(?:-?х)?[ \u00a0](?:лет|год)", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[ \u00a0*]{0,3}([^\W\d_]+)")
_BEFORE_SOMETHING = re.compile(r"[ \u00a0](?:[^\W\d_]+[ \u00a0]){1,3}(?:до|before|prior)\b", re.IGNORECASE)
_SHARE = re.compile(r"(?:%|процент\w*|дол[яию]|част[ьи]|половин\w|per ?cent)\s*\Z", re.IGNORECASE)
_CLAUSE_END = re.compile(rf"{SENTENCE_END.pattern}|,(?=\s)")
_MOST_LIMITS = 30  # of an answer that are examined; an answer may be endless
_MOST_OPPOSITES = 10  # known opposites with which a limit is compared
_LONGEST = 400  # characters of a sentence on either side
_UNIT_CHARS = 40
_CODE_CHARS = 6  # characters before a number that may hold a currency
_DATE, _TIME = frozenset(("date",)), frozenset(("time",))
_BOUNDING = r"более|менее|больше|меньше|выше|ниже|свыше|превыш\w+|старше|младше|моложе|поздн\w+|позже|ран\w+|после"
_DENIAL = re.compile(
    rf"\bне(?! (?:{_BOUNDING})\b)\b|\b(?:нет|ни|без|нельзя|кроме|запре\w+|never|without|except|cannot)\b|n['’]t\b"
    r"|\b(?:no|not)\b(?! (?:more|less|later|earlier|sooner))",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:иначе|остальн\w+|прочи\w+|меньши\w+|больши[емх]\w*|в противном|otherwise|others?|rest|smaller|larger)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(  # a condition; its consequence is beside it: «Если заказ до 6 000 ₽, доставка платная»
    r"\b(?:если|когда|пока|котор\w+|if|when|while|unless|once|which|who|that)\b|\w(?:[юу]щ|[яа]щ|вш)(?:[иы]|[аея][яе]|ую)",
    re.IGNORECASE,
)
_EMPTY = stems(
    "более менее больше меньше свыше выше ниже позднее позже ранее раньше после старше младше моложе максимум минимум "
    "начиная чем для при или это этот эта как что если также составляет составит равен равна является может могут "
    "можно нужно надо необходимо должен должна должны будет был была было требуется сколько какой какая какое какие "
    "каков какова когда через over above from until less than more most least later earlier the and for are was must "
    "should can may will has have with that this how what which when long many much does"
)


@dataclass(frozen=True, kw_only=True)
class _Limit:
    shown: str
    value: frozenset[Decimal]
    of: frozenset[str]  # units, a month, or the stem of the word after it
    is_least: bool
    at: int


_ByThing = dict[tuple[frozenset[Decimal], str], list[_Limit]]


def exchanged_limits(answer: str, said: str, question: str) -> tuple[str, ...]:
    """The exchanged limits, as the answer writes them. A number that the answer has with both limits passes: «до 3 000
    — 300 руб., от 3 000 — бесплатно»."""
    told = list(islice(_limits(answer), _MOST_LIMITS))
    if not told:  # most answers
        return ()
    known = _by_thing(_limits(said, only=frozenset(each.value for each in told)))
    own = _by_thing(told)
    strange = (
        limit.shown
        for limit in told
        if (opposite := _opposite(limit, known)) and len({each.is_least for each in _of_same(limit, own)}) == 1
        for clause in (_clause(answer, limit.at, question),)
        if any(_speaks_of(said, each, clause) for each in opposite[:_MOST_OPPOSITES])
    )
    return tuple(dict.fromkeys(strange))


def _by_thing(limits: Iterable[_Limit]) -> _ByThing:
    found: _ByThing = {}
    for limit in limits:
        for unit in limit.of:
            found.setdefault((limit.value, unit), []).append(limit)
    return found


def _of_same(limit: _Limit, limits: _ByThing) -> list[_Limit]:
    return [each for unit in limit.of for each in limits.get((limit.value, unit), ())]


def _opposite(limit: _Limit, known: _ByThing) -> list[_Limit]:
    """The known opposites of a limit; empty if the limit itself is known, too."""
    same = _of_same(limit, known)
    return [] if any(each.is_least == limit.is_least for each in same) else same


def _limits(text: str, only: Collection[frozenset[Decimal]] | None = None) -> Iterator[_Limit]:
    """The limits of a text; with `only`, those with these values."""
    for word in _LIMIT.finditer(text):
        number = DIGITS.match(text, word.end())
        value = frozenset(value for reading in readings(number[0]) for value in reading) if number else frozenset()
        if number and value and (only is None or value in only):
            is_least, of = _is_least(word, number), _of(number)
            if is_least is not None:
                shown = text[word.start() : number.end()]
                yield _Limit(shown=shown, value=value, of=of, is_least=is_least, at=word.start())


def _of(number: re.Match[str]) -> frozenset[str]:
    text, end = number.string, number.end()
    if number[0].count(".") == 2:
        return _DATE
    if month := MONTH.match(text, end + 1):
        return frozenset((f"month {month.lastindex}",))
    if _CLOCK.match(text, end):
        return _TIME
    start = max(0, number.start() - _CODE_CHARS)
    amounts = measured(folded(text[start : end + _UNIT_CHARS]))
    if of := next((each.units for each in amounts if each.start == number.start() - start), None):
        return of
    word = _NEXT_WORD.match(text, end)
    return frozenset((folded(word[1])[:STEM_LETTERS] if word else "",))


def _is_least(word: re.Match[str], number: re.Match[str]) -> bool | None:
    """True for a lower limit, False for an upper one; None where it is no limit or ambiguous."""
    if not word["later"] and not word["earlier"]:
        is_from = bool(word["least"] or word["from"])
        return None if word["from"] and _is_something_else(word, number) else is_from
    is_before = (word["by"] or "").casefold() == " за"  # «не позднее чем за 10 дней»: 10 or more
    is_open = not word["by"] and not _is_dated(number) and _BEFORE_SOMETHING.match(number.string, number.end())
    return None if is_open else bool(word["later"]) == is_before


def _is_something_else(word: re.Match[str], number: re.Match[str]) -> bool:
    """Whether the preposition is no limit: «5 % от 10 000», «договор от 10 мая», «с 10 участниками»."""
    text, end, said = number.string, number.end(), folded(word["from"])
    if said in ("с", "со"):
        return not (_is_dated(number) or _CLOCK.match(text, end) or _AGE_OR_YEAR.match(text, end))
    is_share = said in ("от", "from") and _SHARE.search(text, max(0, word.start() - _UNIT_CHARS), word.start())
    return bool(is_share) or (said == "от" and _is_dated(number))


def _is_dated(number: re.Match[str]) -> bool:
    return number[0].count(".") == 2 or MONTH.match(number.string, number.end() + 1) is not None


def _clause(answer: str, at: int, question: str) -> str:
    """What the limit is about: its clause if that has other words and is no condition, else its sentence; with the
    question if that has no other words, either."""
    clause, sentence = _around(answer, at, _CLAUSE_END), _around(answer, at, SENTENCE_END)
    if _content(clause) and not _CONDITION.search(clause):
        return clause
    return sentence if _content(sentence) else f"{sentence} {question}"


def _speaks_of(said: str, known: _Limit, clause: str) -> bool:
    """Whether the known limit is in the same context: its sentence has all words of the clause, and its own clause all
    numbers."""
    sentence, own = _around(said, known.at, SENTENCE_END), _around(said, known.at, _CLAUSE_END)
    if bool(_DENIAL.search(sentence)) != bool(_DENIAL.search(clause)) or _OTHERWISE.search(sentence):
        return False
    return bool(_content(clause)) and _content(clause) <= _content(sentence) and numbers(clause) <= numbers(own)


def _content(text: str) -> frozenset[str]:
    plain = folded(_LIMIT.sub(" ", text))
    words = stems(without_amounts(measured(plain), plain)) - _EMPTY
    return frozenset(word for word in words if not word[0].isdigit())


def _around(text: str, at: int, border: re.Pattern[str]) -> str:
    """The text around `at` between two borders."""
    before = [match.end() for match in border.finditer(text, max(0, at - _LONGEST), at)]
    after = border.search(text, at, at + _LONGEST)
    return text[before[-1] if before else max(0, at - _LONGEST) : after.start() if after else at + _LONGEST]

"""Pairs the numbers of a text with the words about them: «Москва 120, Казань 80» says two things about two numbers.

In: text in Russian or English. Out: its sentences, each with its clauses if every clause has one number and words of
its own. It does not decide which words belong to which number in a clause with several numbers. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rag.answering.numbers import DIGITS, MONTH
from rag.words import folded

_LIST_NUMBER = re.compile(r"^[ \t]*(?:[-*•][ \t])?\d{1,3}[.)][ \t]", re.MULTILINE)
SENTENCE_END = re.compile(r"[!?…;](?=\s|\Z)|\.(?=\s+[^a-zа-я\s]|\s*\Z)|\n")  # not in «5 000 руб. при»
_CLAUSE_END = re.compile(r"[,;]?\s(?:а|и|но|and|while|but|whereas)\s|[,;](?=\s)")
_DATE = rf"\b\d{{1,2}}[ \u00a0](?={MONTH.pattern})[^\W\d_]{{3}}"
_NUMBER = re.compile(rf"(?P<date>{_DATE})|\d{{1,2}}:\d\d(?!\d)|{DIGITS.pattern}", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_SEPARATORS = re.compile(r"[ \u00a0\u202f]")
_SAYS = re.compile(r"\d|[^\W\d_]{3}")
_UNCLEAR = re.compile(
    r"соответственно|respectively|[=≈×+]|\b(?:против|вместо|versus|vs|instead|не|not|nor|ни)\b|n['’]t\b"
)
_ENDING = re.compile(
    r"(?<=[а-я]{2})(?:иями|ями|ами|иях|ях|ах|ого|его|ому|ему|ыми|ими|ием|ией|ый|ий|ой|ая|яя|ое|ее|ые|ие|ых|их|ым|им|"
    r"ую|юю|ом|ем|ей|ам|ям|ов|ев|ию|ия|ии|[аяоеыиуюьй])\Z|(?<=[a-z]{3})(?:es|s)\Z"
)
_STEM_LETTERS = 5
_WORD = re.compile(r"[^\W\d_]{3,}")


def stems(plain: str) -> frozenset[str]:
    """Stems of a folded text. Unlike `rag.words`, endings are removed from short words, too: «Уфа», «Уфы»."""
    return frozenset(_ENDING.sub("", word)[:_STEM_LETTERS] for word in _WORD.findall(plain))


_SAYING_NOTHING = stems(
    "для при это этот эта эти как что если так также составляет составит равен равна является только еще уже всего "
    "стоит срок она они оно его там тут тогда здесь первый первая первое первом вторая второй второе втором третий "
    "третья третье потом сначала или либо чтобы когда пока тоже очень лишь около примерно почти приблизительно "
    "порядка более менее больше меньше максимум минимум свыше выше ниже через после перед между над под про без "
    "каждый каждая каждое каждые каждого один одна одно одного может могут можно нужно надо необходимо должен должна "
    "должны следует требуется будет был была было были имеет есть нет день дня дней дни сутки суток рабочий рабочих "
    "календарных неделя недели недель месяц месяца месяцев год года лет час часа часов минута минуты минут секунда "
    "секунды секунд руб рубль рубля рублей коп копеек тыс тысяч млн миллионов млрд миллиардов процент процента "
    "процентов доллар долларов евро грамм килограмм тонн метр метра метров мес мин сек штук раз раза человек люди "
    "людей чел the and for are was were has have had with that this these those from its his her their your our you "
    "they there here then first second third each every any all one per about around nearly almost roughly "
    "approximately over under between within during until since before after also only just can could may might must "
    "should will would shall which what who how when where while because most least more less than max min maximum "
    "minimum not out off into onto upon day days week weeks month months year years hour hours minute minutes rouble "
    "roubles ruble rubles dollar dollars pound pounds euro euros cent percent business working calendar costs cost "
    "lasts last takes take gets get people person"
)


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One number, and the words about it."""

    shown: str
    number: str  # without spaces and case, so that «1 000» and «1000» are equal
    words: frozenset[str]
    heads: bool = False  # the first of several: its words may apply to all («Гарантия на А 3 года, на Б 5 лет»)


class Sentence:
    """A sentence; each property is computed on first access."""

    def __init__(self, text: str) -> None:
        """`text`: as it is written."""
        self.text = text

    @cached_property
    def plain(self) -> str:
        """The text folded for a search of words."""
        return folded(self.text)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """All numbers of the sentence."""
        return tuple(_key(match) for match in _NUMBER.finditer(self.plain))

    @cached_property
    def words(self) -> frozenset[str]:
        """All stems of the sentence, including words without meaning of their own."""
        return stems(self.plain)

    @cached_property
    def parts(self) -> tuple[Clause, ...]:
        """The clauses; none if one has no number, several numbers or no words, or the sentence compares or denies."""
        if _UNCLEAR.search(self.plain):
            return ()
        first, *others = _CLAUSE_END.split(self.plain)
        if others and not any(":" in each for each in others):
            first = first.rpartition(": ")[2]  # «Перерыв: днём 60 минут, ночью 30»
        clauses = [_clause(first, heads=bool(others)), *map(_clause, others)]
        return tuple(clause for clause in clauses if clause) if all(clauses) else ()

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """The same, or the whole sentence as one clause if it has one number."""
        whole = None if self.parts or _UNCLEAR.search(self.plain) else _clause(self.plain)
        return self.parts or ((whole,) if whole else ())


def sentences(text: str) -> Iterator[Sentence]:
    """All sentences with words or numbers, in order."""
    at, text = 0, _LIST_NUMBER.sub("- ", text)
    for end in (*(match.span() for match in SENTENCE_END.finditer(text)), (len(text), len(text))):
        piece, at = text[at : end[0]], end[1]
        if _SAYS.search(piece):
            yield Sentence(piece)


def _clause(plain: str, *, heads: bool = False) -> Clause | None:
    """The clause, or None. Years and days beside another number count as words about it: «в 2022 году 40 млн»."""
    found = list(_NUMBER.finditer(plain))
    others = [match for match in found if not _YEAR.fullmatch(match[0])] if len(found) > 1 else found
    counted = [match for match in others if not match["date"]] if len(others) > 1 else others
    if len(counted) != 1:
        return None
    labels = frozenset(_key(match) for match in found if match is not counted[0])
    words = (stems(plain) - _SAYING_NOTHING) | labels
    return Clause(shown=counted[0][0], number=_key(counted[0]), words=words, heads=heads) if words else None


def _key(number: re.Match[str]) -> str:
    return _SEPARATORS.sub("", number[0]).replace(",", ".")

"""Whether a number of an answer is that of another thing: «Москва 80, Казань 120» for «Москва 120, Казань 80».

In: an answer, the materials, what was asked. Out: numbers of the answer whose clause says nothing of what the materials
say of them. Only where it can be told without doubt: half or more of the clause is said of another number of the same
list, or of a later one of the same sentence; or two clauses of the answer say of each other's numbers what one material
says of their own. A number that stands anywhere beside a word of its clause passes, and so do comparisons, sums and
what is denied. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from rag.answering.clauses import Clause, Sentence, sentences, stems

_MOST = 30  # clauses of an answer, and places of a number, that are looked at
_BEFORE = 3  # sentences that may tell what the number of the next one is of
_HEAD_END = "\nText:\n"  # of a fact: its own numbers are of pages and days
_COMPARES = re.compile(
    r"\b(?:кроме|помимо|вне|без|остальн\w+|друг\w+|чем|больше|меньше|выше|ниже|дороже|дешевле|дольше|короче|реже|чаще|"
    r"[а-я]+ее|вдвое|втрое|раза?|отличи\w+|всего|итого|вместе|найден\w*|нашл\w+|total|together|found|except|besides|"
    r"others?|than|more|less|twice|unlike|without)\b"
)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A clause of a material; `heads` are words that stand above it and are of all below."""

    clause: Clause
    sentence: Sentence
    heads: frozenset[str]


class _Passage:
    """One material; each reading is made when it is first asked for."""

    def __init__(self, fact: str) -> None:
        """Of a fact as the model was told it, or of any text."""
        head, mark, body = fact.partition(_HEAD_END)
        self.text = body if mark else fact
        self._head = head.casefold().replace("ё", "е") if mark else ""
        self._beside: dict[str, list[frozenset[str]]] = {}

    @cached_property
    def _sentences(self) -> list[Sentence]:
        return list(sentences(self.text))

    @cached_property
    def _places(self) -> list[list[_Place]]:
        """Of each sentence."""
        return [
            [_Place(clause=clause, sentence=each, heads=self._heads(at)) for clause in each.clauses]
            for at, each in enumerate(self._sentences)
        ]

    @cached_property
    def places(self) -> list[_Place]:
        """All of them."""
        return [place for places in self._places for place in places]

    @cached_property
    def lists(self) -> list[list[_Place]]:
        """Sentences of several clauses; neighbours of one each."""
        runs: list[list[_Place]] = [[]]
        for sentence, places in zip(self._sentences, self._places, strict=True):
            if len(sentence.parts) == 1:
                runs[-1] += places
            elif runs[-1]:
                runs.append([])
        several = [places for places in self._places if len(places) > 1]
        return [run for run in (*several, *runs) if len(run) > 1]

    def beside(self, number: str) -> list[frozenset[str]]:
        """What is said where it stands: of its clause where that can be told apart, else of the sentence. Asked for
        often, and read once."""
        if number not in self._beside:
            there = (each for each in self._sentences if number in each.numbers)
            self._beside[number] = [words for each in there for words in _words_beside(number, each)]
        return self._beside[number]

    def around(self, number: str, besides: Collection[Sentence]) -> Iterator[frozenset[str]]:
        """What is said where else it stands, in the sentences before it, and above."""
        for at, each in enumerate(self._sentences):
            if each not in besides and number in each.numbers:
                near = (before.words for before in self._sentences[max(0, at - _BEFORE) : at + 1])
                yield self._heads(at).union(*near)

    def _heads(self, at: int) -> frozenset[str]:
        above = [each for each in self._sentences[max(0, at - _MOST) : at] if not each.numbers]
        titles = [each.words for each in above if each.text.lstrip().startswith("#")]
        return stems(self._head).union(*titles[-1:], *(each.words for each in above[-1:]))


def _words_beside(number: str, sentence: Sentence) -> list[frozenset[str]]:
    parts = sentence.parts if len(sentence.parts) > 1 else ()
    return [clause.words for clause in parts if clause.number == number] or [sentence.words]


class _Said:
    """All that is known, by numbers."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._passages = [_Passage(text) for text in texts]
        self._found: dict[str, list[_Passage]] = {}

    def with_number(self, clause: Clause) -> list[_Passage]:
        """Passages in which it may stand."""
        if clause.number not in self._found:
            forms = _forms(clause)
            found = [each for each in self._passages if any(form in each.text for form in forms)]
            self._found[clause.number] = found
        return self._found[clause.number]

    def bears_out(self, clause: Clause, words: frozenset[str]) -> bool:
        """Whether one of the words stands beside the number anywhere; where it stands all over, one might."""
        found = (each for passage in self.with_number(clause) for each in passage.beside(clause.number))
        return any(count >= _MOST or not words.isdisjoint(each) for count, each in enumerate(found, 1))

    def is_of_other(self, clause: Clause, words: frozenset[str], own: _Place, other: _Place) -> bool:
        """Whether half of its `words` are those of the other place and not of its own, nor of any further place that
        has its number, with what stands above and before that."""
        strange = words & (other.clause.words - own.clause.words)
        if len(strange) * 2 < len(words) or not (strange := strange - own.heads):
            return False
        besides = (own.sentence, other.sentence)
        places = (each for passage in self.with_number(clause) for each in passage.around(clause.number, besides))
        return all(strange.isdisjoint(each) for each in places)


def exchanged_numbers(answer: str, facts: Sequence[str], asked: str) -> tuple[str, ...]:
    """As they are written in the answer. `facts` are as the model was told them, `asked` is the question and what was
    said before."""
    own = [(clause, sentence) for sentence in sentences(answer) for clause in sentence.clauses][:_MOST]
    if not own:
        return ()
    said = _Said([*facts, asked])
    alone = (
        clause.shown
        for clause, sentence in own
        if clause in sentence.parts and not _COMPARES.search(sentence.plain) and _is_of_next(clause, said)
    )
    paired = (
        clause.shown
        for one, other in combinations([clause for clause, _ in own], 2)
        if one.number != other.number and _are_of_each_other(one, other, said)
        for clause in (one, other)
    )
    return tuple(dict.fromkeys((*alone, *paired)))


def _is_of_next(clause: Clause, said: _Said) -> bool:
    """Whether what it says is said of another number of a list that has its own. Not of the first of a sentence: what
    is said there may go on («Неустойка за просрочку 0,1 % в день, максимум 10 %»)."""
    if said.bears_out(clause, clause.words):
        return False
    lists = (each[:_MOST] for passage in said.with_number(clause) for each in passage.lists)
    neighbours = (
        (own, other)
        for each in lists
        for own in each
        if own.clause.number == clause.number
        for other in each
        if other.clause.number != clause.number
    )
    return any(
        said.is_of_other(clause, clause.words, own, other) for own, other in neighbours if not other.clause.heads
    )


def _are_of_each_other(one: Clause, other: Clause, said: _Said) -> bool:
    """Whether each says of its number what one passage says of the other's."""
    ones, others = one.words - other.words, other.words - one.words
    if not ones or not others or said.bears_out(one, ones) or said.bears_out(other, others):
        return False
    pairs = (
        (first, second)
        for passage in said.with_number(one)
        if passage in said.with_number(other)
        for first in [each for each in passage.places if each.clause.number == one.number][:_MOST]
        for second in [each for each in passage.places if each.clause.number == other.number][:_MOST]
    )
    return any(
        said.is_of_other(one, ones, first, second) and said.is_of_other(other, others, second, first)
        for first, second in pairs
    )


def _forms(clause: Clause) -> frozenset[str]:
    """Ways in which the number may be written."""
    found = {clause.shown, clause.number, clause.number.replace(".", ",")}
    if clause.number.isdecimal():
        found.update(f"{int(clause.number):,}".replace(",", space) for space in (" ", "\u00a0", "\u202f"))
    return frozenset(found)

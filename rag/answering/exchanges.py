"""Finds exchanged numbers: «Москва 80, Казань 120» for «Москва 120, Казань 80».

In: an answer, the materials, what was asked. Out: numbers of the answer that the materials give for something else.
Only two clear cases are judged. First: at least half of the clause's words are, in the materials, about another number
of the same list, or a later one of the same sentence. Second: two clauses of the answer have each other's numbers,
compared with one material. A number that occurs anywhere beside a word of its clause passes; so do comparisons,
calculations and denials. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from rag.answering.clauses import Clause, Sentence, sentences, stems
from rag.words import folded

_MOST = 30  # clauses of an answer, and places of a number, that are examined
_BEFORE = 3  # sentences before a number that may say what it is about
_HEAD_END = "\nText:\n"  # end of a fact's heading, whose numbers are of pages and dates
_COMPARES = re.compile(
    r"\b(?:кроме|помимо|вне|без|остальн\w+|друг\w+|чем|больше|меньше|выше|ниже|дороже|дешевле|дольше|короче|реже|чаще|"
    r"[а-я]+ее|вдвое|втрое|раза?|отличи\w+|всего|итого|вместе|найден\w*|нашл\w+|total|together|found|except|besides|"
    r"others?|than|more|less|twice|unlike|without)\b"
)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A clause of a material; `heads` are words of headings above it, which apply to everything below."""

    clause: Clause
    sentence: Sentence
    heads: frozenset[str]


class _Passage:
    """One material; each property is computed on first access."""

    def __init__(self, fact: str) -> None:
        """`fact`: a fact as it was in the prompt, or any text."""
        head, mark, body = fact.partition(_HEAD_END)
        self.text = body if mark else fact
        self._head = folded(head) if mark else ""
        self._beside: dict[str, list[frozenset[str]]] = {}

    @cached_property
    def _sentences(self) -> list[Sentence]:
        return list(sentences(self.text))

    @cached_property
    def _places(self) -> list[list[_Place]]:
        """The places of each sentence."""
        return [
            [_Place(clause=clause, sentence=each, heads=self._heads(at)) for clause in each.clauses]
            for at, each in enumerate(self._sentences)
        ]

    @cached_property
    def places(self) -> list[_Place]:
        """All places."""
        return [place for places in self._places for place in places]

    @cached_property
    def lists(self) -> list[list[_Place]]:
        """Lists of places: sentences with several clauses, and runs of neighbouring sentences with one clause each."""
        runs: list[list[_Place]] = [[]]
        for sentence, places in zip(self._sentences, self._places, strict=True):
            if len(sentence.parts) == 1:
                runs[-1] += places
            elif runs[-1]:
                runs.append([])
        several = [places for places in self._places if len(places) > 1]
        return [run for run in (*several, *runs) if len(run) > 1]

    def beside(self, number: str) -> list[frozenset[str]]:
        """The words beside a number, for each sentence that has it: those of its clause, or of the whole sentence where
        clauses cannot be separated. Cached, since it is called often."""
        if number not in self._beside:
            there = (each for each in self._sentences if number in each.numbers)
            self._beside[number] = [words for each in there for words in _words_beside(number, each)]
        return self._beside[number]

    def around(self, number: str, besides: Collection[Sentence]) -> Iterator[frozenset[str]]:
        """The words around each other occurrence of a number: its sentence, the sentences before it, and headings."""
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
    """All known texts, searched by number."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._passages = [_Passage(text) for text in texts]
        self._found: dict[str, list[_Passage]] = {}

    def with_number(self, clause: Clause) -> list[_Passage]:
        """Passages that may hold the number of the clause."""
        if clause.number not in self._found:
            forms = _forms(clause)
            found = [each for each in self._passages if any(form in each.text for form in forms)]
            self._found[clause.number] = found
        return self._found[clause.number]

    def bears_out(self, clause: Clause, words: frozenset[str]) -> bool:
        """Whether one of the words occurs beside the number anywhere; True also if the number occurs `_MOST` times."""
        found = (each for passage in self.with_number(clause) for each in passage.beside(clause.number))
        return any(count >= _MOST or not words.isdisjoint(each) for count, each in enumerate(found, 1))

    def is_of_other(self, clause: Clause, words: frozenset[str], own: _Place, other: _Place) -> bool:
        """Whether at least half of the `words` belong to the `other` place and not to the clause's `own` one, and none
        of these occurs around any further occurrence of the number."""
        strange = words & (other.clause.words - own.clause.words)
        if len(strange) * 2 < len(words) or not (strange := strange - own.heads):
            return False
        besides = (own.sentence, other.sentence)
        places = (each for passage in self.with_number(clause) for each in passage.around(clause.number, besides))
        return all(strange.isdisjoint(each) for each in places)


def exchanged_numbers(answer: str, facts: Sequence[str], asked: str) -> tuple[str, ...]:
    """The exchanged numbers, as the answer writes them. `facts` are as they were in the prompt; `asked` is the question
    with the dialogue."""
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
    """Whether a list with the clause's number has its words at another number. The first number of a sentence does not
    count as the other one: its words may apply to the rest («Неустойка за просрочку 0,1 % в день, максимум 10 %»)."""
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
    """Whether each clause has the words that one passage has at the other clause's number."""
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
    """The ways to write the number."""
    found = {clause.shown, clause.number, clause.number.replace(".", ",")}
    if clause.number.isdecimal():
        found.update(f"{int(clause.number):,}".replace(",", space) for space in (" ", "\u00a0", "\u202f"))
    return frozenset(found)

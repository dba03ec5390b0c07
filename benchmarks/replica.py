"""The lexical leg of the database in numpy, with a switch for each of its settings, which SQL does not have.

In: passages as the product cuts them, and questions. Out: the score of every passage, and the weight of each term. With
the settings as they are (`Words()`) it ranks as supabase/migrations/*_terms.sql does, except for terms that are too
frequent to be read in full, which a base of this size hardly has.
"""

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rag.records import Spelling

Scores = npt.NDArray[np.float32]
Analyze = Callable[[str], Sequence[str]]

BEGINNING_LETTERS = 5  # here and below: as in the SQL
SPELLINGS_TAKEN = 3
_CODE = re.compile(r"[-0-9._@+#']")


@dataclass(frozen=True, kw_only=True)
class Words:
    """How words count. The defaults are the product's."""

    k1: float = 1.2
    b: float = 1.0  # how much of the length is made up for
    shortest: int = 16  # terms; a shorter passage counts as one of so many
    titled: float | None = 0.5  # a word of the title counts so much; None: the title is the passage's first line
    wide_share: float = 0.5  # of a word's weight for all that begins alike
    feedback: float = 0.0  # weight of the words that the best passages have in common, beside 1 for the question's


@dataclass(frozen=True, kw_only=True)
class Written:
    """A passage's words and those of the title above it."""

    text: str
    above: str = ""


@dataclass(frozen=True, kw_only=True)
class Meant:
    """A term that is looked for, in the place of the question's term that it stands for."""

    place: int
    term: str
    own: float = 0.0
    wide: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A score for every passage, 0 where no word stands, and what each term of the question is worth."""

    scores: Scores
    rarities: tuple[float, ...] = field(default=())


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The terms of every passage and of the title above it, as often as they occur."""

    bodies: tuple[Counter[str], ...]
    titles: tuple[Counter[str], ...]


def count_terms(passages: Sequence[Written], analyze: Analyze, *, apart: bool) -> Counted:
    """`apart`: the title is a field of its own; otherwise the passage's first line."""
    return Counted(
        bodies=tuple(Counter(analyze(p.text if apart else f"{p.above}\n{p.text}")) for p in passages),
        titles=tuple(Counter(analyze(p.above) if apart else ()) for p in passages),
    )


class Index:
    """Postings of all passages under one analysis."""

    def __init__(self, counted: Counted, words: Words) -> None:
        bodies, titles = counted.bodies, counted.titles
        lengths = np.array([body.total() for body in bodies], dtype=np.float32)
        average = max(float(lengths.mean()), 1.0)
        norms = 1 - words.b + words.b * np.maximum(lengths, max(words.shortest, 1)) / average
        weights: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, (body, title) in enumerate(zip(bodies, titles, strict=True)):
            for term in body.keys() | title.keys():
                weight = body[term] / float(norms[number]) + title[term] * (words.titled or 0)
                weights[term].append((number, weight))
        self.words = words
        self.bodies = bodies
        self.postings = {term: _columns(rows) for term, rows in weights.items()}
        self.size = len(bodies)

    def score(self, terms: Sequence[str], spellings: Iterable[Spelling] = ()) -> Scored:
        """As `search_terms` of the SQL."""
        asked = list(dict.fromkeys(terms))
        weighed = self._weigh([*self._asked(asked), *self._respelled(asked, spellings)])
        scores = np.zeros(self.size, dtype=np.float32)
        for each in weighed:
            own, around = self.postings.get(each.term), self._around(each.term) if each.wide else None
            for weight, found in ((each.own, own), (each.wide, around)):
                if found is not None and weight:
                    scores[found[0]] += weight * found[1] * (self.words.k1 + 1) / (found[1] + self.words.k1)
        worth = tuple(
            max((each.own + each.wide for each in weighed if each.place == place), default=0.0)
            for place in range(len(asked))
        )
        return Scored(scores=scores, rarities=worth)

    def rarity(self, holding: int) -> float:
        """Of a term with so many postings."""
        return math.log(1 + (max(self.size - holding, 0) + 0.5) / (holding + 0.5))

    def _asked(self, asked: Sequence[str]) -> list[Meant]:
        return [Meant(place=place, term=term) for place, term in enumerate(asked)]

    def _respelled(self, asked: Sequence[str], spellings: Iterable[Spelling]) -> list[Meant]:
        found = {
            (asked.index(spelling.term), term)
            for spelling in spellings
            if spelling.term not in self.postings
            for term in self._similar(spelling)
        }
        return [Meant(place=place, term=term) for place, term in sorted(found)]

    def _similar(self, spelling: Spelling) -> list[str]:
        pattern = re.compile(spelling.pattern)
        beginning = (term for start in spelling.beginnings for term in self._beginning(start))
        return [term for term in beginning if pattern.search(term)][:SPELLINGS_TAKEN]

    def _weigh(self, meant: Sequence[Meant]) -> list[Meant]:
        """What each is worth; of those that begin alike the most frequent has the wide weight."""
        share, led = self.words.wide_share, set()
        weighed = []
        for each in sorted(meant, key=lambda each: (-self._count(each.term), each.place)):
            if not is_word(each.term) or not share:
                weighed.append(Meant(place=each.place, term=each.term, own=self.rarity(self._count(each.term))))
                continue
            beginning = each.term[:BEGINNING_LETTERS]
            around = sum(len(self.postings[term][0]) for term in self._beginning(beginning))
            wide = 0.0 if beginning in led else share * self.rarity(around)
            led.add(beginning)
            own = (1 - share) * self.rarity(self._count(each.term))
            weighed.append(Meant(place=each.place, term=each.term, own=own, wide=wide))
        return [each for each in weighed if self._count(each.term) or each.wide]

    def _count(self, term: str) -> int:
        return len(self.postings[term][0]) if term in self.postings else 0

    def _around(self, term: str) -> tuple[npt.NDArray[np.int32], Scores]:
        sums = np.zeros(self.size, dtype=np.float32)
        for other in self._beginning(term[:BEGINNING_LETTERS]):
            numbers, weights = self.postings[other]
            sums[numbers] += weights
        numbers = np.nonzero(sums)[0].astype(np.int32)
        return numbers, sums[numbers]

    def _beginning(self, letters: str) -> Sequence[str]:
        """All terms that begin with these letters, in order."""
        vocabulary = self._vocabulary
        return vocabulary[bisect_left(vocabulary, letters) : bisect_left(vocabulary, f"{letters}\U0010ffff")]

    @cached_property
    def _vocabulary(self) -> list[str]:
        return sorted(self.postings)


def is_word(term: str) -> bool:
    """As `is_word` of the SQL."""
    return len(term) >= BEGINNING_LETTERS and not _CODE.search(term)


def feed_back(index: Index, terms: Sequence[str], first: Scored, *, passages: int, words: int) -> Scores:
    """Pseudo-relevance feedback, RM3: the scores of the words that the best passages have in common.

    Lavrenko and Croft 2001; scaled so that all these words together weigh as much as the question's.
    """
    best = [int(number) for number in np.argsort(-first.scores, kind="stable")[:passages] if first.scores[number] > 0]
    whole = float(sum(first.scores[number] for number in best))
    common: dict[str, float] = defaultdict(float)
    for number in best:
        body = index.bodies[number]
        for term in body.keys() - set(terms):
            share = float(first.scores[number]) / whole * body[term] / body.total()
            common[term] += share * index.rarity(len(index.postings[term][0]))
    chosen = dict(sorted(common.items(), key=lambda item: (-item[1], item[0]))[:words])
    scale = len(set(terms)) / (sum(chosen.values()) or 1.0)
    scores = np.zeros(index.size, dtype=np.float32)
    for term, weight in chosen.items():
        numbers, weights = index.postings[term]
        worth = weight * scale * index.rarity(len(numbers)) * (index.words.k1 + 1)
        scores[numbers] += worth * weights / (weights + index.words.k1)
    return scores


def _columns(rows: Sequence[tuple[int, float]]) -> tuple[npt.NDArray[np.int32], Scores]:
    numbers, weights = zip(*rows, strict=True)
    return np.array(numbers, dtype=np.int32), np.array(weights, dtype=np.float32)

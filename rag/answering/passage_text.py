"""What is told of a passage: its sentences and the rows of its tables, and how much of a question each carries.

In: ranked passages and the words of a question. Out: sentences in order, with the heading or the question that each
stands under; the question's words with their weights. It chooses nothing (`quotes`). Pure.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rag.records import Passage, RankedPassage
from rag.table_rows import in_words
from rag.words import AskedWords, akin, rarity, sentences, stem_of, union

AKIN_SHARE = 0.7  # of a word's weight, for one of the same root in its place
HEADING_CHARS = 120
SUM_SHARE = 2.0  # of the rarest word's rarity, for a word that a sum answers

ITEM = re.compile(r"[-*•–] |\d+[.)] ")
CLAUSE = re.compile(r"[-*•–] |\d+(?:\.\d+)*[.)]? ")
SUM = re.compile(
    r"[$€£]\s?\d|\d[\d\s.,]*(?:(?:тыс|млн|млрд|thousand|million|billion)\w*\.?\s*)?(?:[₽$€£]|руб|р\.|долл|евро|dollar|euro)",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"(?:\w{3}|\d|%)[»\")]*[.!…]$")
_ENDS_SENTENCE = (".", "!", "…", ":", ";", ",")


@dataclass(frozen=True, kw_only=True)
class PassageText:
    """What a quote may be taken from: the passage below its title, its tables in words."""

    passage: Passage
    text: str
    rows: Mapping[str, str] = field(default_factory=dict)  # line in words -> row of the table
    named: frozenset[str]  # words of its document's names and opening
    asked: AskedWords

    @classmethod
    def of(cls, ranked: RankedPassage) -> "PassageText":
        """Without its first line if that is the title, as on many pages: it is shown beside the quote."""
        passage, text = ranked.passage, ranked.passage.text.strip()
        first, _, rest = text.partition("\n")
        line, title = (" ".join(each.strip("#*. ").casefold().split()) for each in (first, passage.title))
        text, rows = in_words(rest.strip() if line == title and rest.strip() else text)
        named = ranked.asked.stems(f"{passage.title}\n{passage.name}\n{passage.opening}")
        return cls(passage=passage, text=text, rows=rows, named=named, asked=ranked.asked)

    @property
    def about(self) -> frozenset[str]:
        """The names where they tell nothing: of one of several passages."""
        return self.named if self.passage.searchable > 1 else frozenset()

    def stems(self, said: str) -> frozenset[str]:
        """The words of a part of it."""
        return self.asked.stems(said) | (self.asked.said_by_sum if SUM.search(said) else frozenset())

    @cached_property
    def parts(self) -> "Sequence[Sentence]":
        """Its sentences in order, read once. A row is one, whatever stops are in it («Дрип-пакеты, 10 шт.»). A
        paragraph of one line that ends no sentence, or asks something, heads what follows."""
        found: list[Sentence] = []
        heading, under, read_to = frozenset[str](), -1, 0
        for span in sentences(self.text):
            if span.start < read_to:
                continue
            line = self.text[span.start :].partition("\n")[0]
            is_row = line in self.rows
            said = line if is_row else self.text[span.start : span.end]
            read_to, words = span.start + len(said), self.stems(said)
            is_heading = not is_row and self._is_heading(span.start, said, below=bool(found and found[-1].is_heading))
            if is_heading:
                heading, under = words, len(found)
            found.append(
                Sentence(
                    start=span.start,
                    end=read_to,
                    text=said,
                    words=words,
                    heading=frozenset() if is_heading else heading,
                    under=-1 if is_heading else under,
                    is_heading=is_heading,
                    is_row=is_row,
                )
            )
        return found

    def _is_heading(self, start: int, said: str, *, below: bool) -> bool:
        """`below` a heading stands a value under its label («Телефон»), or a subtitle."""
        end = start + len(said)
        is_alone = self.text[start - 1 : start] in ("", "\n") and self.text.startswith("\n\n", end)
        # «2. Срок» above «2.1. …» is no item
        is_item = ITEM.match(said) and (ITEM.match(self.text, end + 2) or not said[0].isdigit())
        is_line = len(said) <= HEADING_CHARS and not said.endswith(_ENDS_SENTENCE) and not is_item
        return is_alone and is_line and (said.endswith("?") or not below)


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of a passage, or a row of a table, with the heading or the question that it stands under."""

    start: int
    end: int
    text: str
    words: frozenset[str]
    heading: frozenset[str]
    under: int  # place of its heading among the sentences; -1 without one
    is_heading: bool = False
    is_row: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it states something: a title and «г. Томск, 18 октября 2026 г.» do not end so."""
        return self.is_row or (not self.is_heading and bool(_WHOLE.search(self.text)))


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of the question."""

    weight: float
    forms: Mapping[str, float]  # stem that stands for it in what is told -> share of its weight, 1 for itself


def weighted_words(question: str, told: Sequence[PassageText], asked: AskedWords) -> tuple[Word, ...]:
    """The words of the question that are told. A word's weight is the geometric mean of how rare it is in the base
    (which words matter) and among the sentences that are told (which tell them apart); either alone is worse, see
    benchmarks/README.md. One that the search was not asked for weighs as much as the rarest."""
    most = max(asked.rarities.values(), default=1.0)
    rarities: dict[str, float] = {}
    for term in asked.terms_of(question):
        rarities[stem_of(term)] = max(asked.rarities.get(term, most), rarities.get(stem_of(term), 0.0))
    rarities |= dict.fromkeys(rarities.keys() & asked.said_by_sum, SUM_SHARE * most)
    read = [each.words for said in told for each in said.parts]
    found = akin(rarities, union(read))
    return tuple(
        Word(
            weight=math.sqrt(rarities[stem] * rarity(sum(not forms.isdisjoint(words) for words in read), len(read))),
            forms={form: 1.0 if form == stem else AKIN_SHARE for form in forms},
        )
        for stem, forms in found.items()
    )


def weight_in(words: Sequence[Word], told: frozenset[str]) -> float:
    """The weight of the words that stand in what is told."""
    return sum(word.weight * max((word.forms[form] for form in word.forms.keys() & told), default=0) for word in words)

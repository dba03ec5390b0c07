"""What the passages that were found lead to: a search inside a document of which only a part was found, and the second
hop of a question («неустойка у поставщика, из-за которого перенесли запуск»).

In: the facts of the first searches and their query. Out: documents, or queries of the next search. Pure.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from domain.ids import DocumentId
from rag.execution.facts import Fact, FactKind
from rag.execution.search_tool import searched_text
from rag.retrieval.alike import are_alike, opening_of
from rag.words import STEM_LETTERS, held, sentences, share, stems, union

HALF_FOUND = 2  # documents that are looked into: the one that is meant, and one that mentions it
MOST_NAMES = 3  # of a sentence; a list of participants leads nowhere
PARTLY = 0.7  # share of the query's words; a document that holds more of them answers it itself
REACHED = 0.5  # share of the words that were missing: «которого» is one of them, too

_QUOTED = re.compile(r"[«“\"]([^«»“”\"\n]{2,60})[»”\"]")
_NAMED = re.compile(r"(?<=[^\s.!?…:•*-]) +((?:[A-ZА-ЯЁ][\w-]*[a-zа-яё][\w-]*)(?: [A-ZА-ЯЁ][\w-]*[a-zа-яё][\w-]*)*)")
_WORD = re.compile(r"[\w-]+")


@dataclass(frozen=True, kw_only=True)
class Hop:
    """A search for what the question asks of a thing that only a found sentence names."""

    names: tuple[str, ...]
    asked: tuple[str, ...]  # words of the query that the document with that sentence lacks
    source: DocumentId  # that document

    @property
    def query(self) -> str:
        """The words to search for."""
        return " ".join((*self.asked, *self.names))

    def reaches(self, fact: Fact) -> bool:
        """Whether this passage holds most of what is asked, in another document that is about the thing: it begins with
        its name or is called so."""
        if fact.document in (None, self.source) or fact.passage is None:
            return False
        names, asked = stems(" ".join(self.names)), stems(" ".join(self.asked))
        of = fact.passage.passage
        subject = f"{of.name}\n{of.title}\n{opening_of(of)}"
        return held(names, subject) == names and len(held(asked, fact.text)) >= REACHED * len(asked)


def half_found(facts: Sequence[Fact], query: str) -> tuple[DocumentId, ...]:
    """Documents that were found by a telling word of the query (one that hardly any other found document has), while
    words that they lack were found in others; in the order in which they were found, HALF_FOUND at most."""
    holds = _holds(facts, stems(query))
    found = union(holds.values())
    holders = Counter(stem for words in holds.values() for stem in words)
    telling = {stem for stem, count in holders.items() if count <= HALF_FOUND < len(holds) or count == 1 < len(holds)}
    return tuple(each for each, words in holds.items() if words & telling and found - words)[:HALF_FOUND]


def second_hop(facts: Sequence[Fact], query: str, *, in_alike: bool = False) -> Hop | None:
    """The hop that the best document or a half-found one leads to, if its best sentence names something and others have
    words of the query that it lacks (`in_alike`: others of one form, of which the name chooses one); else None."""
    wanted = stems(query)
    holds = _holds(facts, wanted)
    for document in dict.fromkeys((*list(holds)[:1], *half_found(facts, query))):
        missing = {
            stem for stem in union(holds.values()) - holds[document] if not in_alike or _is_in_alike(stem, facts)
        }
        sentence = _best_sentence([fact for fact in facts if fact.document == document], wanted)
        names = tuple(dict.fromkeys(each for each in _names(sentence) if stems(each) and not stems(each) & wanted))
        longer = (word for word in _WORD.findall(query) if len(word) >= STEM_LETTERS)
        asked = tuple(dict.fromkeys(word for word in longer if stems(word) & missing))
        if asked and 0 < len(names) <= MOST_NAMES and share(wanted, holds[document]) <= PARTLY:
            return Hop(names=names, asked=asked, source=document)
    return None


def _is_in_alike(stem: str, facts: Sequence[Fact]) -> bool:
    """Whether alike passages of two documents hold it."""
    holders = {fact.document: stems(fact.text) for fact in facts if fact.document and held((stem,), fact.text)}
    return any(are_alike(one, other) for one, other in combinations(holders.values(), 2))


def _holds(facts: Sequence[Fact], wanted: frozenset[str]) -> Mapping[DocumentId, frozenset[str]]:
    """For each document the wanted words that its passages hold."""
    texts: dict[DocumentId, list[str]] = {}
    for fact in facts:
        if fact.kind is FactKind.PASSAGE and fact.document:
            texts.setdefault(fact.document, []).append(searched_text(fact))
    return {document: held(wanted, "\n".join(said)) for document, said in texts.items()}


def _best_sentence(facts: Sequence[Fact], wanted: frozenset[str]) -> str:
    """The one that holds most of the query."""
    told = (fact.text[span.start : span.end] for fact in facts for span in sentences(fact.text))
    return max(told, key=lambda each: len(held(wanted, each)), default="")


def _names(sentence: str) -> Iterator[str]:
    """What stands in quotation marks, then words with a capital that do not begin the sentence."""
    yield from (found[1] for found in _QUOTED.finditer(sentence))
    yield from (found[1] for found in _NAMED.finditer(_QUOTED.sub(" ", sentence)))

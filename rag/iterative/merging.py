"""Merges the ledgers of several groups of documents.

In: the groups' ledgers, in any order. Out: facts, each once with all its sources and a new id; and the facts in the
wording of the synthesis. No fact is lost, and the order of the groups does not matter. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from domain.ids import DocumentId
from rag.iterative.grounding import plain, tie
from rag.iterative.ledger import KnownFact, Ledger
from rag.iterative.wire import Certainty, NumberedFact
from rag.records import Conflict, RankedPassage

_RANKS: Mapping[str, int] = {certainty: rank for rank, certainty in enumerate(Certainty)}


def merge_facts(ledgers: Iterable[Ledger], order: Mapping[DocumentId, int]) -> tuple[KnownFact, ...]:
    """The most certain first, then by the documents' `order`. Of two wordings that differ only in case or punctuation,
    the one that sorts first is kept."""
    found = [fact for ledger in ledgers for fact in ledger.facts]
    merged: dict[str, KnownFact] = {}
    for fact in sorted(found, key=lambda fact: _place(fact, order)):
        same = merged.get(plain(fact.text))
        merged[plain(fact.text)] = same.also(*fact.sources) if same else fact
    complete = [replace(fact, sources=_sorted(fact.sources, order)) for fact in merged.values()]
    return tuple(replace(fact, id=f"f{number}") for number, fact in enumerate(complete, start=1))


def merge_conflicts(ledgers: Iterable[Ledger]) -> tuple[Conflict, ...]:
    """Each conflict once, in an order that does not depend on the order of the groups."""
    found = [conflict for ledger in ledgers for conflict in ledger.conflicts]
    unique = {(each.about, *sorted(claim.value for claim in each.claims)): each for each in found}
    return tuple(unique[key] for key in sorted(unique))


def refine(facts: Sequence[KnownFact], chosen: Sequence[NumberedFact], *, asked: str) -> tuple[KnownFact, ...]:
    """The facts in the order of the synthesis, and in its wording where their passages support it. Facts that it leaves
    out come last: it may not know why they matter."""
    known = {fact.id: fact for fact in facts}
    first = {each.id: _reworded(known[each.id], each, asked) for each in chosen if each.id in known}
    return (*first.values(), *(fact for fact in facts if fact.id not in first))


def _reworded(fact: KnownFact, said: NumberedFact, asked: str) -> KnownFact:
    passages = [source.passage for source in fact.sources]
    if tie(said.fact, said.reasoning, passages, asked=asked) is None:
        return fact
    return replace(fact, text=said.fact, certainty=said.certainty)


def _place(fact: KnownFact, order: Mapping[DocumentId, int]) -> tuple[int, int, int, str]:
    passage = fact.sources[0].passage
    place = order.get(passage.document_id, len(order))
    return (_RANKS[fact.certainty], place, passage.ordinal, f"{fact.text}\0{fact.reasoning}")


def _sorted(sources: Sequence[RankedPassage], order: Mapping[DocumentId, int]) -> tuple[RankedPassage, ...]:
    def place(source: RankedPassage) -> tuple[int, int, int]:
        passage = source.passage
        return (order.get(passage.document_id, len(order)), passage.ordinal, passage.chunk_id)

    return tuple(sorted(sources, key=place))

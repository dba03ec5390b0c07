"""Puts together what several groups of documents have brought.

In: the groups' ledgers, in any order. Out: facts, each once with all its sources and an id of its own, and the
synthesis' view of them. No fact is lost, and the order of the groups does not matter. Pure.
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
    """The surest first, then by the documents' `order`; of two wordings that differ in case or punctuation alone the
    one of the earlier document stays."""
    found = [fact for ledger in ledgers for fact in ledger.facts]
    merged: dict[str, KnownFact] = {}
    for fact in sorted(found, key=lambda fact: _place(fact, order)):
        same = merged.get(plain(fact.text))
        merged[plain(fact.text)] = same.also(*fact.sources) if same else fact
    complete = [replace(fact, sources=_sorted(fact.sources, order)) for fact in merged.values()]
    return tuple(replace(fact, id=f"f{number}") for number, fact in enumerate(complete, start=1))


def merge_conflicts(ledgers: Iterable[Ledger]) -> tuple[Conflict, ...]:
    """Each once, in an order that does not hang on the groups'."""
    found = [conflict for ledger in ledgers for conflict in ledger.conflicts]
    unique = {(each.about, *sorted(claim.value for claim in each.claims)): each for each in found}
    return tuple(unique[key] for key in sorted(unique))


def refine(facts: Sequence[KnownFact], chosen: Sequence[NumberedFact], *, asked: str) -> tuple[KnownFact, ...]:
    """The facts in the synthesis' order and wording where their own passages bear it; those that it leaves out come
    after, for it may not know why they matter."""
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

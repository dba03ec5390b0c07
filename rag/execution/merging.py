"""Puts the results of several tools together.

In: payloads in the order of the plan's calls. Out: one, each fact once, and no more of them than the plan's limits let
through. Pure.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.records import DocumentsRead


def merge(payloads: Sequence[FactsPayload]) -> FactsPayload:
    """All facts, each once, the first of every payload before the second of any.

    The coverage is the least of all: each call stands for a part of the question, and a part that nothing answers
    leaves the whole unanswered. `left_out` adds up.
    """
    if not payloads:
        return FactsPayload()
    return FactsPayload(
        facts=_together([payload.facts for payload in payloads]),
        coverage=min(payload.coverage for payload in payloads),
        left_out=sum(payload.left_out for payload in payloads),
        documents=_documents([each.documents for each in payloads if each.documents]),
        table=max((each.table for each in payloads if each.table), key=lambda table: len(table.rows), default=None),
        conflicts=tuple(conflict for payload in payloads for conflict in payload.conflicts),
    )


def _documents(read: Sequence[DocumentsRead]) -> DocumentsRead | None:
    """Of the tool that read most; rows that any left out are missing in the whole."""
    if not read:
        return None
    most = max(read, key=lambda each: each.read)
    return replace(most, missing_rows=sum(each.missing_rows for each in read))


LISTED = frozenset({FactKind.STATEMENT, FactKind.DOCUMENT, FactKind.VALUE})
"""What an answer lists. Passages are what it is read from, and the search that found them has a limit of its own."""
ROWS = frozenset({FactKind.DOCUMENT, FactKind.VALUE})
"""The same after several steps: what these have concluded is what the answer is read from."""


def limit(payload: FactsPayload, *, items: int, skip: int = 0, counted: frozenset[FactKind] = LISTED) -> FactsPayload:
    """`items` of the `counted` kinds after the first `skip`; those that come later are counted in `left_out`.

    Facts of one item count once. A remark on the others («12 documents fit») is no item, and stays: it has no title, or
    is a number that stands in no document and is no row.
    """
    known = list(dict.fromkeys(fact.item or place for place, fact in _listed(payload, counted)))
    gone = {*known[:skip], *known[skip + items :]}
    left = {place for place, fact in _listed(payload, counted) if (fact.item or place) in gone}
    facts = tuple(fact for place, fact in enumerate(payload.facts) if place not in left)
    left_out = payload.left_out + max(len(known) - skip - items, 0)
    return replace(payload, facts=facts, left_out=left_out)


def _listed(payload: FactsPayload, counted: frozenset[FactKind]) -> Iterable[tuple[int, Fact]]:
    items = ((place, fact) for place, fact in enumerate(payload.facts) if fact.kind in counted and fact.title)
    return ((place, fact) for place, fact in items if not fact.is_number)


def _together(rows: Sequence[tuple[Fact, ...]]) -> tuple[Fact, ...]:
    if len(rows) == 1 and all(fact.kind is FactKind.PASSAGE for fact in rows[0]):
        return rows[0]  # one search has left out the repetitions itself (`rag.retrieval.duplicates`)
    return tuple(_unique(_in_turns(rows)))


def _in_turns(rows: Sequence[Sequence[Fact]]) -> Iterable[Fact]:
    longest = max((len(row) for row in rows), default=0)
    return (row[place] for place in range(longest) for row in rows if place < len(row))


def _unique(facts: Iterable[Fact]) -> Iterable[Fact]:
    seen: set[Hashable] = set()
    for fact in facts:
        keys = fact_keys(fact)
        if seen.isdisjoint(keys):
            yield fact
        seen.update(keys)


def fact_keys(fact: Fact) -> set[Hashable]:
    """What makes two facts the same: the passage, or the words."""
    words = (fact.kind, fact.title.casefold(), " ".join(fact.text.casefold().split()))
    is_passage = fact.passage is not None and fact.kind is FactKind.PASSAGE
    return {words, fact.passage.passage.chunk_id} if fact.passage and is_passage else {words}

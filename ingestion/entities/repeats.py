"""Removes facts that the model repeats after the document's structure has stated them.

In: facts of one document. Out: the same facts in order, without those of the model that another fact includes. A fact
from structure is never removed. Pure.
"""

import re
from collections.abc import Iterable, Sequence

from ingestion.entities.records import NewFact, Relation

SURE = 1.0  # confidence of facts from structure; only less certain facts may be removed

_WORD = re.compile(r"\w+")


def without_repeats(facts: Iterable[NewFact]) -> list[NewFact]:
    """Of two facts where one has all words of the other, the more certain stays, else the longer."""
    groups: dict[tuple[str, Relation], list[NewFact]] = {}
    for fact in facts:
        groups.setdefault((fact.canonical, fact.relation), []).append(fact)
    kept = [fact for group in groups.values() for fact in _distinct(group)]
    return sorted(kept, key=lambda fact: fact.position)


def _distinct(group: Sequence[NewFact]) -> list[NewFact]:
    kept: list[tuple[NewFact, frozenset[str]]] = []
    for fact in sorted(group, key=lambda each: (-each.confidence, -len(each.text))):
        words = frozenset(_WORD.findall(fact.text.casefold()))
        if fact.confidence >= SURE or not any(_says(other, held, fact, words) for other, held in kept):
            kept.append((fact, words))
    return [fact for fact, _ in kept]


def _says(other: NewFact, held: frozenset[str], fact: NewFact, words: frozenset[str]) -> bool:
    """Whether `other` covers `fact`. A sure list item («Python») also covers a quotation of its whole list."""
    if fact.object not in (None, other.object):
        return False
    return words <= held or (other.confidence >= SURE and fact.object is not None and held <= words)

"""What is said of an entity twice: by the document's structure and by the model that read the same lines.

In: facts of one document. Out: the same, in order, without the model's that another one says too. What structure says
is never left out. Pure.
"""

import re
from collections.abc import Iterable, Sequence

from ingestion.entities.records import NewFact, Relation

SURE = 1.0  # what structure says; only what is less sure may be left out

_WORD = re.compile(r"\w+")


def without_repeats(facts: Iterable[NewFact]) -> list[NewFact]:
    """Of two whose words are the same, or part of the other's, the surer stays, else the longer."""
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
    """A sure list item («Python») also says what the model quotes the whole list for."""
    if fact.object not in (None, other.object):
        return False
    return words <= held or (other.confidence >= SURE and fact.object is not None and held <= words)

"""What a turn knows of the base's entities, the ports to the registry and the graph, and whom a question names.

In: a question, and the question before it. Out: `KnownEntity`s in any grammatical form and alphabet, the likeliest
first; several when the name is ambiguous: the planner decides (seed 4, section 5.1). One call of the database.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Protocol

from domain.ids import BaseId
from domain.names import NameWord
from rag.records import KnownEntity, Passage

MOST_WORDS = 40  # of a question that are examined; what follows is a pasted text
MOST_CHARS = 1_000  # of a question that are examined
LONGEST_NAME = 4  # words
MOST_SPELLINGS = 8  # keys of one run of words; the registry keeps as many
MOST_ROWS = 200
MOST_ENTITIES = 8
EARLIER_SHARE = 0.5  # factor for entities that only the previous question named
GUESS_SHARE = 0.6  # factor for a match whose type is a mere guess
NAMED_SHARE = 0.7  # factor for an entity without facts: «АЛОР» is the project rather than its customer


@dataclass(frozen=True, kw_only=True)
class NamedEntity:
    """An entity that the registry holds under a key of the question."""

    id: str  # canonical
    type: str
    name: str
    forms: tuple[str, ...]  # as documents write the name
    key: str
    weight: float  # 0 to 1, how surely the key means this entity
    as_name: bool  # the key is an ordinary word: it counts only where it is written as a name
    confidence: float  # 0 to 1, that the type is right
    facts: int  # number of facts that the graph has about it


@dataclass(frozen=True, kw_only=True)
class GraphFact:
    """What a document says about an entity."""

    entity: str  # the entity's name
    relation: str  # a structural intent
    text: str
    object: str | None  # the name of a second entity that the fact is about
    confidence: float
    passage: Passage


class NameReader(Protocol):
    """Folds names into keys; the names in documents are folded by the same reader."""

    def words(self, text: str) -> tuple[NameWord, ...]:
        """Words in order, without signs and legal forms."""


class EntityNames(Protocol):
    """The registry of a base."""

    async def named(self, base: BaseId, keys: Sequence[str], *, limit: int) -> list[NamedEntity]:
        """Entities under these keys, the most certain first, in one call of the database."""


class EntityGraph(Protocol):
    """The facts of a base."""

    async def facts(
        self, base: BaseId, *, entity: str | None, relations: Sequence[str], related: bool, limit: int
    ) -> list[GraphFact]:
        """Facts about the entity with this canonical id, or about all entities when it is None. Order: the entity's own
        facts, then others' facts that name it, then with `related` (not for a project) all facts of those others."""

    async def unread(self, base: BaseId) -> int:
        """How many documents of the base nobody has read for entities and facts yet. Raises DatabaseAway."""


@dataclass(frozen=True, kw_only=True)
class _Run:
    start: int  # of neighbouring words of the question
    end: int
    is_written_as_name: bool
    share: float  # 1, or EARLIER_SHARE for the previous question

    def confidence(self, entity: NamedEntity) -> float:
        """That they mean this entity."""
        certainty = GUESS_SHARE + (1 - GUESS_SHARE) * entity.confidence
        return entity.weight * certainty * self.share * (1.0 if entity.facts else NAMED_SHARE)


_Match = tuple[NamedEntity, _Run]


@dataclass(frozen=True)
class RegistryResolver:
    """Finds the entities of a base that a question names, in any grammatical form or alphabet."""

    names: EntityNames
    reader: NameReader

    async def resolve(self, base: BaseId, question: str, *, earlier: str = "") -> tuple[KnownEntity, ...]:
        """`earlier` is the previous question: its entities come after those of this one. Raises DatabaseAway."""
        runs = await asyncio.to_thread(self._runs, question, earlier)  # the first call loads a dictionary, 0.3 s
        if not runs:
            return ()
        found = await self.names.named(base, list(runs), limit=MOST_ROWS)
        matches = ((entity, run) for entity in found for run in runs[entity.key])
        named = [(entity, run) for entity, run in matches if run.is_written_as_name or not entity.as_name]
        return tuple(
            KnownEntity(
                id=entity.id,
                type=entity.type,
                name=entity.name,
                aliases=tuple(form for form in entity.forms if form != entity.name),
                confidence=round(run.confidence(entity), 3),
            )
            for entity, run in islice(_best(named), MOST_ENTITIES)
        )

    def _runs(self, question: str, earlier: str) -> dict[str, list[_Run]]:
        """Key -> the runs of words that give it. The earlier question gets offsets beyond the later one's, so that runs
        of the two never overlap. A single ordinary word is a run only where it is written as a name."""
        found: dict[str, list[_Run]] = {}
        for text, offset, share in ((question, 0, 1.0), (earlier, MOST_WORDS * 2, EARLIER_SHARE)):
            words = self.reader.words(text[:MOST_CHARS])[:MOST_WORDS]
            for start, end in combinations(range(len(words) + 1), 2):
                own = words[start:end]
                as_name = any(word.is_written_as_name for word in own)
                if len(own) > LONGEST_NAME or (len(own) == 1 and own[0].is_ordinary and not as_name):
                    continue
                run = _Run(start=offset + start, end=offset + end, is_written_as_name=as_name, share=share)
                for key in islice(product(*(word.keys for word in own)), MOST_SPELLINGS):
                    found.setdefault(" ".join(key), []).append(run)
        return found


def _best(matches: Sequence[_Match]) -> Iterator[_Match]:
    """Each entity once, without matches inside a longer name that matches in full."""
    whole = [(run.start, run.end) for entity, run in matches if entity.weight >= 1]
    best: dict[str, _Match] = {}
    for entity, run in sorted(matches, key=lambda each: (-each[1].confidence(each[0]), -each[0].facts, each[0].name)):
        start, end = run.start, run.end
        if not any(first <= start and end <= last and end - start < last - first for first, last in whole):
            best.setdefault(entity.id, (entity, run))
    for entity, run in best.values():
        # «Дмитрий» beside «Дмитрий Иванов», when he has more facts and no other Дмитрий matches
        alike = [each for each, its in best.values() if its == run and each.type == entity.type]
        longer = [each for each in alike if each.weight < 1]
        if entity.weight < 1 or len(longer) != 1 or longer[0].facts <= entity.facts:
            yield entity, run

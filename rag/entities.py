"""What a turn knows of the base's entities, and the ports to the registry and the graph.

In: nothing. Out: frozen records of the registry and the graph, and the Protocols by which `rag.planning.entities` and
`rag.execution.graph_tool` reach them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.ids import BaseId
from domain.names import NameWord
from rag.records import Passage


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
        ...


class EntityNames(Protocol):
    """The registry of a base."""

    async def named(self, base: BaseId, keys: Sequence[str], *, limit: int) -> list[NamedEntity]:
        """Entities under these keys, the most certain first, in one call of the database."""
        ...


class EntityGraph(Protocol):
    """The facts of a base."""

    async def facts(
        self, base: BaseId, *, entity: str | None, relations: Sequence[str], related: bool, limit: int
    ) -> list[GraphFact]:
        """Facts about the entity with this canonical id, or about all entities when it is None. Order: the entity's own
        facts, then others' facts that name it, then with `related` (not for a project) all facts of those others."""
        ...

    async def unread(self, base: BaseId) -> int:
        """How many documents of the base nobody has read for entities and facts yet. Raises DatabaseAway."""
        ...

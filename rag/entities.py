"""What a turn knows of the base's entities, and the doors to it.

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
    """An entity that is found under a key of the question."""

    id: str  # canonical
    type: str
    name: str
    forms: tuple[str, ...]  # as documents write it
    key: str
    weight: float  # 0 to 1, how surely the key means it
    as_name: bool  # an ordinary word: it counts only where it is written as a name
    confidence: float  # 0 to 1, that it is what its type says
    facts: int  # that the graph has of it


@dataclass(frozen=True, kw_only=True)
class GraphFact:
    """What a document says of an entity."""

    entity: str  # its name
    relation: str  # a structural intent
    text: str
    object: str | None  # the name of the entity that the fact is about, too
    confidence: float
    passage: Passage


class NameReader(Protocol):
    """Folds names into keys; the same one that documents went through."""

    def words(self, text: str) -> tuple[NameWord, ...]:
        """Words in order, without signs and legal forms."""
        ...


class EntityNames(Protocol):
    """The registry of a base."""

    async def named(self, base: BaseId, keys: Sequence[str], *, limit: int) -> list[NamedEntity]:
        """Entities under these keys, the surest first, in one call of the database."""
        ...


class EntityGraph(Protocol):
    """The facts of a base."""

    async def facts(
        self, base: BaseId, *, entity: str | None, relations: Sequence[str], related: bool, limit: int
    ) -> list[GraphFact]:
        """Of an entity by its canonical id, or of everybody: its own first, then those of others that name it, then
        with `related` all of those others."""
        ...

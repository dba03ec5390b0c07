"""The records of entity extraction, and its ports as small Protocols; `adapters` implements them structurally.

In: nothing. Out: frozen records that reading, merging and storing pass on. Offsets (`at`) count characters of the
document's text, as `ingestion.records.Span` does. Store calls raise `domain.errors.DatabaseAway`; calls under a lease
raise `ingestion.errors.LeaseLost` when the lease is no longer ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from domain.ids import BaseId, ChunkId, DocumentId, LeaseId
from domain.names import NameWord, Relation
from ingestion.records import Block


class EntityType(StrEnum):
    """The type of an entity; its canonical id begins with it."""

    PERSON = "person"
    ORGANIZATION = "organization"
    PLACE = "place"
    PROJECT = "project"  # a project, product, contract or case
    TECHNOLOGY = "technology"
    THING = "thing"


@dataclass(frozen=True, kw_only=True)
class EntityName:
    """A thing under a name that the document gives it."""

    type: EntityType
    name: str


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A name that occurs in the document."""

    of: EntityName
    at: int  # its first occurrence
    count: int = 1
    confidence: float = 1.0  # 0 to 1, how sure the type is
    forms: tuple[str, ...] = ()  # other names that the document uses for it


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What the document says of an entity, in the document's words."""

    subject: EntityName
    relation: Relation
    text: str
    at: int
    object: EntityName | None = None
    confidence: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Extract:
    """The result of one reading of a document or of a part of it."""

    mentions: tuple[Mention, ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ClaimedEnrichment:
    """A ready document that this worker extracts entities from."""

    document: DocumentId
    base_id: BaseId
    lease: LeaseId
    attempt: int  # 1 the first time
    title: str
    language: str | None  # ISO 639-1


@dataclass(frozen=True, kw_only=True)
class PassageSpan:
    """The characters [start, end) of the document that a passage holds."""

    chunk: ChunkId
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class RegisteredEntity:
    """An entity that the base has already, under one of its keys."""

    id: str  # canonical
    type: EntityType
    name: str
    key: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class NewAlias:
    """A key that leads to an entity."""

    canonical: str
    key: str
    form: str  # as the document writes it
    weight: float  # 0 to 1, how surely the key means this entity
    as_name: bool  # True: an ordinary word, which counts only where it is written as a name


@dataclass(frozen=True, kw_only=True)
class NewEntity:
    """An entity of the document, as stored."""

    canonical: str
    type: EntityType
    name: str
    count: int
    chunk: ChunkId | None
    confidence: float


@dataclass(frozen=True, kw_only=True)
class NewFact:
    """A fact of the document, as stored."""

    canonical: str
    relation: Relation
    text: str
    object: str | None  # canonical id
    chunk: ChunkId
    position: int
    confidence: float


@dataclass(frozen=True, kw_only=True)
class NewEntities:
    """All entities, aliases and facts of a document."""

    entities: tuple[NewEntity, ...] = ()
    aliases: tuple[NewAlias, ...] = ()
    facts: tuple[NewFact, ...] = ()


class NameReader(Protocol):
    """Folds names into keys."""

    def words(self, text: str) -> tuple[NameWord, ...]:
        """The words in order, without punctuation and legal forms."""

    def slug(self, name: str) -> str:
        """The readable Latin form at the end of a canonical id; empty when no character can be transliterated."""

    def names_person(self, name: str) -> bool:
        """Whether a heading looks like a person's full name."""


class NameFinder(Protocol):
    """Finds names in running text."""

    async def find(self, text: str) -> list[Mention]:
        """People, organisations and places in the nominative case, each name once. Raises ServiceError."""


class FactReader(Protocol):
    """A model that reads entities and facts from prose."""

    @property
    def name(self) -> str:
        """The model's name, stored with the result."""

    async def read(self, blocks: Sequence[tuple[Block, int]], *, title: str, known: Sequence[str]) -> Extract:
        """Read one part of a document; each block comes with its offset. `known` are names found in earlier parts.
        Raises ServiceError."""


class EnrichmentQueue(Protocol):
    """Ready documents whose entities are not extracted yet, and what the base knows of entities."""

    async def claim(self, *, lease_s: int, attempts: int, only: BaseId | None = None) -> ClaimedEnrichment | None:
        """The next document, or one whose lease has expired; a document that was begun `attempts` times without an end
        is given up. `only` restricts the claim to the new documents of one base."""

    async def read_again(self, *, reader: str) -> int:
        """Queue all documents that this reader has read, behind new ones; they keep their entities until they are read
        again. Returns how many documents."""

    async def renew(self, claimed: ClaimedEnrichment, *, lease_s: int) -> None:
        """Extend the lease to `lease_s` seconds from now."""

    async def spans(self, claimed: ClaimedEnrichment) -> list[PassageSpan]:
        """The document's passages, in order."""

    async def store(self, claimed: ClaimedEnrichment, *, found: NewEntities, reader: str) -> None:
        """Replace what was stored before with `found`, and end the work."""

    async def postpone(self, claimed: ClaimedEnrichment, *, delay_s: float, problem: str, is_final: bool) -> None:
        """Release the document for a later retry, or give it up if `is_final`."""

    async def known(self, base: BaseId, keys: Sequence[str]) -> list[RegisteredEntity]:
        """The entities that the base has already under these keys."""

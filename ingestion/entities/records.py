"""What is read of entities from one document.

In: nothing. Out: frozen records between reading, merging and storing. Places are characters of the document's text, as
`ingestion.records.Span` counts them.
"""

from dataclasses import dataclass
from enum import StrEnum

from domain.ids import BaseId, ChunkId, DocumentId, LeaseId


class EntityType(StrEnum):
    """What an entity is; a canonical id begins with it."""

    PERSON = "person"
    ORGANIZATION = "organization"
    PLACE = "place"
    PROJECT = "project"  # a project, product, contract or case
    TECHNOLOGY = "technology"
    THING = "thing"


class Relation(StrEnum):
    """How a fact hangs on its entity: the intents of prompts/intents.toml that the graph answers, by the same names."""

    CURRENT_JOB = "CURRENT_JOB"
    PROJECT_DETAILS = "PROJECT_DETAILS"
    PROJECT_ACHIEVEMENTS = "PROJECT_ACHIEVEMENTS"
    PROJECT_TECH_STACK = "PROJECT_TECH_STACK"
    TECHNOLOGY_USAGE = "TECHNOLOGY_USAGE"
    EXPERIENCE_SUMMARY = "EXPERIENCE_SUMMARY"
    TECHNOLOGY_OVERVIEW = "TECHNOLOGY_OVERVIEW"
    CONTACTS = "CONTACTS"
    ENTITY_FACTS = "ENTITY_FACTS"


@dataclass(frozen=True, kw_only=True)
class EntityName:
    """Something by the name that a document gives it."""

    type: EntityType
    name: str


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A name that stands in the document."""

    of: EntityName
    at: int  # where it stands first
    count: int = 1
    confidence: float = 1.0  # 0 to 1, that it is what its type says
    forms: tuple[str, ...] = ()  # other names that the document gives it


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What the document says of an entity, in its own words."""

    subject: EntityName
    relation: Relation
    text: str
    at: int
    object: EntityName | None = None
    confidence: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Extract:
    """All that one reading of a document, or of a part of it, brings."""

    mentions: tuple[Mention, ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ClaimedEnrichment:
    """A ready document that this worker reads entities from."""

    document: DocumentId
    base_id: BaseId
    lease: LeaseId
    attempt: int  # 1 the first time
    title: str
    language: str | None  # ISO 639-1


@dataclass(frozen=True, kw_only=True)
class PassageSpan:
    """Which characters of the document a passage holds: [start, end)."""

    chunk: ChunkId
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class RegisteredEntity:
    """An entity that the base knows already, under one key."""

    canonical: str
    type: EntityType
    name: str
    key: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class NewAlias:
    """A key under which an entity is to be found."""

    canonical: str
    key: str
    form: str  # as the document writes it
    weight: float  # 0 to 1, how surely the key means this entity
    as_name: bool  # an ordinary word: it counts only where it is written as a name


@dataclass(frozen=True, kw_only=True)
class NewEntity:
    """An entity of the document, as it is stored."""

    canonical: str
    type: EntityType
    name: str
    count: int
    chunk: ChunkId | None
    confidence: float


@dataclass(frozen=True, kw_only=True)
class NewFact:
    """A fact of the document, as it is stored."""

    canonical: str
    relation: Relation
    text: str
    object: str | None  # canonical
    chunk: ChunkId
    position: int
    confidence: float


@dataclass(frozen=True, kw_only=True)
class NewEntities:
    """All of a document."""

    entities: tuple[NewEntity, ...] = ()
    aliases: tuple[NewAlias, ...] = ()
    facts: tuple[NewFact, ...] = ()

"""The doors that reading entities needs, as small Protocols; `adapters` meets them by shape.

In and out: records of `ingestion.entities.records` and `domain.names`. Store calls raise `domain.errors.DatabaseAway`;
calls under a lease raise `ingestion.errors.LeaseLost` when it is no longer ours.
"""

from collections.abc import Sequence
from typing import Protocol

from domain.ids import BaseId
from domain.names import NameWord
from ingestion.entities.records import (
    ClaimedEnrichment,
    Extract,
    Mention,
    NewEntities,
    PassageSpan,
    RegisteredEntity,
)
from ingestion.records import Block


class NameReader(Protocol):
    """Folds names into keys."""

    def words(self, text: str) -> tuple[NameWord, ...]:
        """Words in order, without signs and legal forms."""
        ...

    def slug(self, name: str) -> str:
        """The readable Latin form that a canonical id ends with; empty when there is nothing to write."""
        ...

    def names_person(self, name: str) -> bool:
        """Whether a heading looks like somebody's name in full."""
        ...


class NameFinder(Protocol):
    """Finds names in running text."""

    async def find(self, text: str) -> list[Mention]:
        """People, organisations and places, in the first case, each name once. Raises ServiceError."""
        ...


class FactReader(Protocol):
    """Reads entities and facts from prose: a model."""

    @property
    def name(self) -> str:
        """For the record: which model it is."""
        ...

    async def read(self, blocks: Sequence[tuple[Block, int]], *, title: str, known: Sequence[str]) -> Extract:
        """Of one part of a document; each block with where it begins. `known` are names that the base has already.

        Raises ServiceError."""
        ...


class EnrichmentQueue(Protocol):
    """Ready documents that entities are still to be read from."""

    async def claim(self, *, lease_s: int, attempts: int, only: BaseId | None = None) -> ClaimedEnrichment | None:
        """The next one, or one whose worker has gone silent; what was begun `attempts` times without an end is given
        up. `only` asks for what is new in one base."""
        ...

    async def read_again(self, *, reader: str) -> int:
        """Let all documents that were read in this way wait once more, behind new ones, with what is known of them kept
        until then; how many."""
        ...

    async def renew(self, claimed: ClaimedEnrichment, *, lease_s: int) -> None:
        """Hold it for that long from now."""
        ...

    async def spans(self, claimed: ClaimedEnrichment) -> list[PassageSpan]:
        """The document's passages, in order."""
        ...

    async def store(self, claimed: ClaimedEnrichment, *, found: NewEntities, reader: str) -> None:
        """Keep what was found in place of any earlier, and end the work."""
        ...

    async def postpone(self, claimed: ClaimedEnrichment, *, delay_s: float, problem: str, is_final: bool) -> None:
        """Give it back for a later try, or up."""
        ...


class EntityRegistry(Protocol):
    """What the base knows already."""

    async def known(self, base: BaseId, keys: Sequence[str]) -> list[RegisteredEntity]:
        """Entities that are found under these keys."""
        ...

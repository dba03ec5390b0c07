"""The ports of entity extraction, as small Protocols; `adapters` implements them structurally.

In and out: records of `ingestion.entities.records` and `domain.names`. Store calls raise `domain.errors.DatabaseAway`;
calls under a lease raise `ingestion.errors.LeaseLost` when the lease is no longer ours.
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
        """The words in order, without punctuation and legal forms."""
        ...

    def slug(self, name: str) -> str:
        """The readable Latin form at the end of a canonical id; empty when no character can be transliterated."""
        ...

    def names_person(self, name: str) -> bool:
        """Whether a heading looks like a person's full name."""
        ...


class NameFinder(Protocol):
    """Finds names in running text."""

    async def find(self, text: str) -> list[Mention]:
        """People, organisations and places in the nominative case, each name once. Raises ServiceError."""
        ...


class FactReader(Protocol):
    """A model that reads entities and facts from prose."""

    @property
    def name(self) -> str:
        """The model's name, stored with the result."""
        ...

    async def read(self, blocks: Sequence[tuple[Block, int]], *, title: str, known: Sequence[str]) -> Extract:
        """Read one part of a document; each block comes with its offset. `known` are names found in earlier parts.

        Raises ServiceError.
        """
        ...


class EnrichmentQueue(Protocol):
    """Ready documents whose entities are not extracted yet."""

    async def claim(self, *, lease_s: int, attempts: int, only: BaseId | None = None) -> ClaimedEnrichment | None:
        """The next document, or one whose lease has expired; a document that was begun `attempts` times without an end
        is given up. `only` restricts the claim to the new documents of one base."""
        ...

    async def read_again(self, *, reader: str) -> int:
        """Queue all documents that this reader has read, behind new ones; they keep their entities until they are read
        again. Returns how many documents."""
        ...

    async def renew(self, claimed: ClaimedEnrichment, *, lease_s: int) -> None:
        """Extend the lease to `lease_s` seconds from now."""
        ...

    async def spans(self, claimed: ClaimedEnrichment) -> list[PassageSpan]:
        """The document's passages, in order."""
        ...

    async def store(self, claimed: ClaimedEnrichment, *, found: NewEntities, reader: str) -> None:
        """Replace what was stored before with `found`, and end the work."""
        ...

    async def postpone(self, claimed: ClaimedEnrichment, *, delay_s: float, problem: str, is_final: bool) -> None:
        """Release the document for a later retry, or give it up if `is_final`."""
        ...


class EntityRegistry(Protocol):
    """The entities that the base has already."""

    async def known(self, base: BaseId, keys: Sequence[str]) -> list[RegisteredEntity]:
        """The entities stored under these keys."""
        ...

"""A DocumentCatalogue of given cards, typed by `rag.ports`."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.documents import DocumentCard, Removed
from domain.ids import BaseId
from tests.fakes.rag import BASE


@dataclass
class Catalogue:
    """Finds by title alone."""

    cards: Sequence[DocumentCard] = ()

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        assert base == BASE
        fitting = [each for each in self.cards if (name_contains or "").casefold() in each.title.casefold()]
        return fitting[offset : offset + limit]

    async def count(self, base: BaseId, *, name_contains: str | None = None) -> Removed:
        return Removed(documents=len(await self.documents(base, limit=len(self.cards), name_contains=name_contains)))

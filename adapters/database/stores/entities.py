"""The registry of entities and the queue that fills it.

In: what was read from documents, keys of names. Out: entities, and facts with the passages they stand in. It folds no
names and decides nothing: `ingestion.entities` and `rag.planning` do.
"""

from collections.abc import Sequence

from adapters.database import rows
from adapters.database.payloads import json_bytes, storable
from adapters.database.transport import PAGE_ROWS
from domain.ids import BaseId
from ingestion.entities.records import ClaimedEnrichment, NewEntities, PassageSpan, RegisteredEntity
from rag.entities import GraphFact, NamedEntity

KEYS_AT_ONCE = 400


class EntityStore(rows.Store):
    """Meets `ingestion.entities.records.EnrichmentQueue`, `rag.entities.EntityNames` and
    `EntityGraph`."""

    async def claim(self, *, lease_s: int, attempts: int, only: BaseId | None = None) -> ClaimedEnrichment | None:
        return await self._first(ClaimedEnrichment, "claim_enrichment", lease_s=lease_s, attempts=attempts, only=only)

    async def read_again(self, *, reader: str) -> int:
        waiting = 0
        while found := await self._call("read_again", reader=reader, limit=PAGE_ROWS):
            waiting += len(found)
        return waiting

    async def renew(self, claimed: ClaimedEnrichment, *, lease_s: int) -> None:
        await self._leased("renew_enrichment", claimed.document, claimed.lease, lease_s=lease_s)

    async def postpone(self, claimed: ClaimedEnrichment, *, delay_s: float, problem: str, is_final: bool) -> None:
        document, said = claimed.document, storable(problem)
        await self._leased(
            "postpone_enrichment", document, claimed.lease, delay_s=delay_s, problem=said, final=is_final
        )

    async def store(self, claimed: ClaimedEnrichment, *, found: NewEntities, reader: str) -> None:
        written = json_bytes(vars(found))
        await self._leased("store_entities", claimed.document, claimed.lease, found=written, reader=reader)

    async def spans(self, claimed: ClaimedEnrichment) -> list[PassageSpan]:
        found = await self._paged("read_spans", base=claimed.base_id, document=claimed.document)
        return rows.records(PassageSpan, found)

    async def known(self, base: BaseId, keys: Sequence[str]) -> list[RegisteredEntity]:
        found: list[RegisteredEntity] = []
        for start in range(0, len(keys), KEYS_AT_ONCE):
            some = keys[start : start + KEYS_AT_ONCE]
            found += await self._all(RegisteredEntity, "resolve_names", base=base, keys=some, limit=PAGE_ROWS)
        return found

    async def named(self, base: BaseId, keys: Sequence[str], *, limit: int) -> list[NamedEntity]:
        return await self._all(NamedEntity, "resolve_names", base=base, keys=keys, limit=limit) if keys else []

    async def facts(
        self, base: BaseId, *, entity: str | None, relations: Sequence[str], related: bool, limit: int
    ) -> list[GraphFact]:
        found = await self._call(
            "entity_facts", base=base, entity=entity, relations=relations, related=related, limit=limit
        )
        shown = rows.passages([rows.value(dict, row["passage"]) for row in found])
        return [rows.record(GraphFact, row, passage=passage) for row, passage in zip(found, shown, strict=True)]

    async def unread(self, base: BaseId) -> int:
        return await self._one(int, "unread_for_entities", "unread", base=base)

"""The registry of entities and the queue that fills it.

In: what was read from documents, keys of names. Out: entities, and facts with the passages they stand in. It folds no
names and decides nothing: `ingestion.entities` and `rag.planning` do.
"""

from collections.abc import Sequence

from adapters.database import rows
from adapters.database.payloads import json_text, storable
from adapters.database.transport import LEASE_LOST, PAGE_ROWS, Argument, DatabaseError, Row
from domain.ids import BaseId
from domain.locator import JsonValue
from ingestion.entities.records import ClaimedEnrichment, NewEntities, NewEntity, NewFact, PassageSpan, RegisteredEntity
from ingestion.errors import LeaseLost
from rag.entities import GraphFact, NamedEntity

KEYS_AT_ONCE = 400


class EntityStore(rows.Store):
    """Meets `ingestion.entities.records.EnrichmentQueue`, `rag.entities.EntityNames` and
    `EntityGraph`."""

    async def claim(self, *, lease_s: int, attempts: int, only: BaseId | None = None) -> ClaimedEnrichment | None:
        """The next ready document that nobody has read entities from; None when there is none."""
        found = await self._call("claim_enrichment", lease_s=lease_s, attempts=attempts, only=only)
        if not found:
            return None
        return rows.record(ClaimedEnrichment, found[0], document=found[0]["document_id"], attempt=found[0]["attempts"])

    async def read_again(self, *, reader: str) -> int:
        """Queue all documents of this reader once more, behind new ones; returns how many."""
        waiting = 0
        while found := await self._call("read_again", reader=reader, limit=PAGE_ROWS):
            waiting += len(found)
        return waiting

    async def renew(self, claimed: ClaimedEnrichment, *, lease_s: int) -> None:
        """Extend the lease to `lease_s` from now."""
        await self._lease_call("renew_enrichment", claimed, lease_s=lease_s)

    async def postpone(self, claimed: ClaimedEnrichment, *, delay_s: float, problem: str, is_final: bool) -> None:
        """Release it for a later retry, or give it up (`is_final`)."""
        await self._lease_call(
            "postpone_enrichment", claimed, delay_s=delay_s, problem=storable(problem), final=is_final
        )

    async def store(self, claimed: ClaimedEnrichment, *, found: NewEntities, reader: str) -> None:
        """Keep what was found in place of any earlier, and end the work."""
        content: dict[str, JsonValue] = {
            "entities": [_at_chunk(entity) for entity in found.entities],
            "aliases": [vars(alias) for alias in found.aliases],
            "facts": [_at_chunk(fact) for fact in found.facts],
        }
        await self._lease_call("store_entities", claimed, found=json_text(content), reader=reader)

    async def spans(self, claimed: ClaimedEnrichment) -> list[PassageSpan]:
        """The document's passages, in order."""
        spans: list[PassageSpan] = []
        after = -1
        while True:
            page = await self._call(
                "read_spans", base=claimed.base_id, document=claimed.document, after=after, limit=PAGE_ROWS
            )
            spans.extend(map(_span, page))
            if len(page) < PAGE_ROWS:
                return spans
            after = rows.value(int, page[-1]["ordinal"])

    async def known(self, base: BaseId, keys: Sequence[str]) -> list[RegisteredEntity]:
        """Entities of the base that are found under these keys."""
        found: list[RegisteredEntity] = []
        for start in range(0, len(keys), KEYS_AT_ONCE):
            page = await self._resolve(base, keys[start : start + KEYS_AT_ONCE], limit=PAGE_ROWS)
            found.extend(rows.records(RegisteredEntity, page))
        return found

    async def named(self, base: BaseId, keys: Sequence[str], *, limit: int) -> list[NamedEntity]:
        """The same for a question, with what is needed to judge which is meant; one call."""
        return [
            rows.record(NamedEntity, row, id=row["canonical"])
            for row in (await self._resolve(base, keys, limit=limit) if keys else ())
        ]

    async def facts(
        self, base: BaseId, *, entity: str | None, relations: Sequence[str], related: bool, limit: int
    ) -> list[GraphFact]:
        """Facts about an entity, or about all (None), the newest documents first."""
        found = await self._call(
            "entity_facts", base=base, entity=entity, relations=list(relations), related=related, limit=limit
        )
        return [_graph_fact(row) for row in found]

    async def unread(self, base: BaseId) -> int:
        """How many documents wait for their first reading."""
        return rows.value(int, (await self._call("unread_for_entities", base=base))[0]["unread"])

    async def _resolve(self, base: BaseId, keys: Sequence[str], *, limit: int) -> list[Row]:
        return await self._call("resolve_names", base=base, keys=[storable(key) for key in keys], limit=limit)

    async def _lease_call(self, function: str, claimed: ClaimedEnrichment, **given: Argument) -> list[Row]:
        try:
            return await self._call(function, timeout_s=None, document=claimed.document, lease=claimed.lease, **given)
        except DatabaseError as exc:
            if exc.code == LEASE_LOST:
                raise LeaseLost(claimed.document) from exc
            raise


def _span(row: Row) -> PassageSpan:
    return rows.record(PassageSpan, row, chunk=row["chunk_id"], start=row["span_start"], end=row["span_end"])


def _graph_fact(row: Row) -> GraphFact:
    passage = rows.passage(rows.value(dict, row["passage"]))
    return rows.record(GraphFact, row, entity=row["entity_name"], object=row["object_name"], passage=passage)


def _at_chunk(found: NewEntity | NewFact) -> JsonValue:
    return {**vars(found), "chunk_id": found.chunk}

"""Search in one base.

In: a query as a vector, terms or both. Out: candidates of both legs. `rag.retrieval` fuses and orders them.
"""

from collections.abc import Sequence
from typing import Protocol

from adapters.database import rows
from adapters.database.payloads import iso, json_text, storable, vectors_in_line
from adapters.database.segments.mirror import Near
from adapters.database.transport import Transport
from domain.ids import BaseId, ChunkId
from domain.locator import JsonValue
from rag.records import Candidate, DocumentMatch, Passage, SearchFilter, SearchQuery, Spelling

INDEX_S = 2 * 60 * 60  # for the words of very large bases on one slow core; a step of a segment takes a second


class Proposals(Protocol):
    """Proposes candidates for the vector search in large bases."""

    async def near(self, base: BaseId, model: str | None, vector: Sequence[float], *, limit: int) -> Near | None:
        """Candidates for the nearest `limit` passages; None where the database has to find them itself."""
        ...


class SearchStore:
    """Meets `rag.ports.PassageSearch` and `rag.ports.DocumentScores`."""

    def __init__(self, transport: Transport, proposals: Proposals | None = None) -> None:
        self._transport = transport
        self._proposals = proposals

    async def search(self, query: SearchQuery) -> list[Candidate]:
        """Up to `query.limit` candidates of each leg, each passage once, in one call of the database."""
        near = await self._near(query)
        found = await self._transport.call(
            "search",
            p_base=query.base_id,
            p_embedding=None if query.vector is None else vectors_in_line([query.vector]),
            p_model=query.model,
            p_terms=[storable(term) for term in query.terms],
            p_spellings=_spellings_text(query),
            p_filter=None if query.only is None else json_text(_filter_json(query.only)),
            p_limit=query.limit,
            p_near=None if near is None else _numbers_text(near.passages),
            p_near_segment=None if near is None else near.segment,
            p_near_row=None if near is None else near.last_row,
        )
        return rows.candidates(found)

    async def find_documents(self, query: SearchQuery) -> list[DocumentMatch]:
        """Up to `query.limit` documents that the terms choose, best first."""
        found = await self._transport.call(
            "find_documents",
            p_base=query.base_id,
            p_terms=[storable(term) for term in query.terms],
            p_spellings=_spellings_text(query),
            p_limit=query.limit,
        )
        return [rows.document_match(row) for row in found]

    async def passage(self, base: BaseId, chunk: ChunkId) -> Passage | None:
        """One passage of this base; None when the base does not hold it (any more)."""
        found = await self._transport.call("passage", p_base=base, p_chunk=chunk)
        return rows.passage(found[0]) if found else None

    async def holds_documents(self, base: BaseId) -> bool:
        """Whether the base has any searchable passage."""
        found = await self._transport.call("holds_documents", p_base=base)
        return any(row["holds"] for row in found)

    async def _near(self, query: SearchQuery) -> Near | None:
        """None under a filter, which leaves other passages nearest."""
        if self._proposals is None or query.vector is None or query.only is not None:
            return None
        return await self._proposals.near(query.base_id, query.model, query.vector, limit=query.limit)

    async def ensure_index(self) -> bool:
        """Make what large bases need: segments of vectors and of postings, counts of words; True when any was made now.

        It can take minutes, and blocks neither searches nor writers. An interrupted step is repeated. Raises
        DatabaseError, DatabaseAway.
        """
        made = False
        while await self._transport.call("ensure_vector_segments", timeout_s=INDEX_S):
            made = True
        made |= bool(await self._transport.call("refresh_common_terms", timeout_s=INDEX_S))
        while await self._transport.call("ensure_posting_segments", timeout_s=INDEX_S):
            made = True
        return made


def _numbers_text(numbers: Sequence[int]) -> str:
    """An array literal of PostgreSQL: in a list each of a thousand numbers would be quoted."""
    return "{" + ",".join(map(str, numbers)) + "}"


def _spellings_text(query: SearchQuery) -> str:
    return json_text([_spelling_json(spelling) for spelling in query.spellings])


def _spelling_json(spelling: Spelling) -> dict[str, JsonValue]:
    return {"term": spelling.term, "beginnings": [*spelling.beginnings], "pattern": spelling.pattern}


def _filter_json(only: SearchFilter) -> dict[str, JsonValue]:
    """Only the conditions that are set."""
    asked: dict[str, JsonValue] = {
        "documents": [*only.documents],
        "types": [kind.value for kind in only.types],
        "media": [medium.value for medium in only.media],
        "sender": only.sender,
        "sent_by": only.sent_by,
        "author": only.author,
        "since": iso(only.since),
        "before": iso(only.before),
    }
    return {name: value for name, value in asked.items() if value not in (None, "", [])}

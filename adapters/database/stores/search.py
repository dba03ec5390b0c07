"""Search in one base.

In: a query as a vector, terms or both. Out: candidates of both legs. Fusing and ordering is work of `rag.retrieval`.
"""

from adapters.database import rows
from adapters.database.payloads import iso, json_text, storable, vector_text
from adapters.database.transport import Transport
from domain.ids import BaseId, ChunkId
from domain.locator import JsonValue
from rag.records import Candidate, Passage, SearchFilter, SearchQuery, Spelling

INDEX_S = 2 * 60 * 60  # for the words of very large bases on one slow core; a step of a shelf takes a second


class SearchStore:
    """Meets `rag.ports.PassageSearch`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def search(self, query: SearchQuery) -> list[Candidate]:
        """Up to `query.limit` candidates of each leg, each passage once, in one call of the database."""
        found = await self._transport.call(
            "search",
            p_base=query.base_id,
            p_embedding=None if query.vector is None else vector_text(query.vector),
            p_model=query.model,
            p_terms=[storable(term) for term in query.terms],
            p_spellings=json_text([_spelling_json(spelling) for spelling in query.spellings]),
            p_filter=None if query.only is None else json_text(_filter_json(query.only)),
            p_limit=query.limit,
        )
        return [rows.candidate(row) for row in found]

    async def passage(self, base: BaseId, chunk: ChunkId) -> Passage | None:
        """One passage of this base; None when the base does not hold it (any more)."""
        found = await self._transport.call("passage", p_base=base, p_chunk=chunk)
        return rows.passage(found[0]) if found else None

    async def holds_documents(self, base: BaseId) -> bool:
        """Whether anything in the base can be found."""
        found = await self._transport.call("holds_documents", p_base=base)
        return any(row["holds"] for row in found)

    async def ensure_index(self) -> bool:
        """Make what large bases need: shelves, counts of words, blocks of terms; True when any was made now.

        It can take minutes, and holds up nobody: neither who searches nor who writes. A step that was cut short is
        made again. Raises DatabaseError, DatabaseAway.
        """
        made = False
        while await self._transport.call("ensure_vector_index", timeout_s=INDEX_S):
            made = True
        made |= bool(await self._transport.call("refresh_common_terms", timeout_s=INDEX_S))
        while await self._transport.call("ensure_term_blocks", timeout_s=INDEX_S):
            made = True
        return made


def _spelling_json(spelling: Spelling) -> dict[str, JsonValue]:
    return {"term": spelling.term, "beginnings": [*spelling.beginnings], "pattern": spelling.pattern}


def _filter_json(only: SearchFilter) -> dict[str, JsonValue]:
    """Without what is not asked for."""
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

"""What stays of questions and answers: dialogues, tables under answers, and what models have read.

In: exchanges; a `SourcedTable`; the hash of a request and replies as JSON. Out: the same again, as long as a base holds
the documents. It does not know what a reply contains, and makes no file.
"""

from collections.abc import Sequence

from adapters.database import rows
from adapters.database.payloads import json_text, storable
from adapters.database.transport import Store
from domain.documents import SourcedTable
from domain.ids import BaseId, SessionId, ThreadId, UserId
from domain.locator import JsonValue
from rag.ports import Dialogue, Unsummarised
from rag.records import Exchange, KeptReading, PastSession, SaidMessage


class DialogueStore(Store):
    """Meets `rag.ports.DialogueStore`."""

    async def recollect(
        self, user: UserId, session: SessionId, *, pairs: int, terms: Sequence[str], recalled: int
    ) -> Dialogue:
        """The window, the summary, and `recalled` archived exchanges most like `terms`, in one call."""
        found = await self._transport.call(
            "recollect",
            p_user=user,
            p_session=session,
            p_pairs=pairs,
            p_terms=[storable(term) for term in terms],
            p_recalled=recalled,
        )
        parts = {name: [row for row in found if row["part"] == name] for name in ("summary", "recalled", "window")}
        return Dialogue(
            summary=rows.text(parts["summary"][0], "answer") if parts["summary"] else "",
            recalled=tuple(rows.records(Exchange, parts["recalled"])),
            window=tuple(rows.records(Exchange, parts["window"])),
        )

    async def append(
        self,
        user: UserId,
        session: SessionId,
        *,
        base: BaseId,
        exchange: Exchange,
        question_terms: Sequence[str],
        answer_terms: Sequence[str],
        keep: int,
    ) -> int:
        """Add an exchange, keep the last `keep` messages and move older ones to the archive; returns how many moved."""
        found = await self._transport.call(
            "insert_and_trim_pairs",
            p_user=user,
            p_session=session,
            p_base=base,
            p_question=storable(exchange.question),
            p_answer=storable(exchange.answer),
            p_question_terms=[storable(term) for term in question_terms],
            p_answer_terms=[storable(term) for term in answer_terms],
            p_keep=keep,
            p_sources=json_text(exchange.sources),
            p_context=json_text(exchange.context_used),
        )
        return rows.integer(found[0], "archived")

    async def unsummarised(self, user: UserId, session: SessionId, *, limit: int) -> Unsummarised:
        """The summary so far, and the archived exchanges that it does not cover yet, oldest first."""
        pending = await self._transport.call("unsummarised_pairs", p_user=user, p_session=session, p_limit=limit)
        known = await self.recollect(user, session, pairs=0, terms=(), recalled=0)
        return Unsummarised(
            summary=known.summary,
            exchanges=tuple(rows.records(Exchange, pending)),
            up_to=rows.integer(pending[-1], "last_id") if pending else 0,
        )

    async def save_summary(self, user: UserId, session: SessionId, *, summary: str, up_to: int) -> bool:
        """Keep it; False when a later one is there, or the dialogue was erased meanwhile."""
        found = await self._transport.call(
            "save_summary", p_user=user, p_session=session, p_summary=storable(summary), p_up_to=up_to
        )
        return bool(found)

    async def sessions(self, user: UserId, *, base: BaseId, limit: int) -> list[PastSession]:
        """Dialogues of a person about a base, the latest first."""
        found = await self._transport.call("list_sessions", p_user=user, p_base=base, p_limit=limit)
        return [rows.past_session(row) for row in found]

    async def messages(
        self, user: UserId, session: SessionId, *, base: BaseId, limit: int, before: int | None = None
    ) -> list[SaidMessage]:
        """The last messages of a dialogue, or the last ones before the message `before`; oldest first."""
        found = await self._transport.call(
            "list_messages", p_user=user, p_base=base, p_session=session, p_limit=limit, p_before=before
        )
        return rows.records(SaidMessage, found)

    async def resume(self, user: UserId, session: SessionId, *, thread: ThreadId | None = None) -> bool:
        """Go on with an earlier dialogue; False when this person has no such dialogue."""
        return bool(await self._transport.call("resume_session", p_user=user, p_session=session, p_thread=thread or 0))


class TableStore(Store):
    """Tables of answers, stored until a button asks for one as a file."""

    async def save_table(self, user: UserId, base: BaseId, table: SourcedTable) -> int:
        """The number of its button."""
        content: dict[str, JsonValue] = {
            "title": table.title,
            "columns": list(table.columns),
            "rows": [list(row) for row in table.rows],
        }
        saved = await self._transport.call("save_table", p_user=user, p_base=base, p_content=json_text(content))
        return rows.integer(saved[0], "id")

    async def read_table(self, base: BaseId, number: int) -> SourcedTable | None:
        """None when this base has no such table (any more)."""
        found = await self._transport.call("read_table", p_base=base, p_table=number)
        return next(
            (rows.record(SourcedTable, content) for row in found if isinstance(content := row["content"], dict)), None
        )


class KeptReadingStore(Store):
    """Meets `rag.ports.ReadingMemory`."""

    async def recall(self, base: BaseId, request: str) -> list[KeptReading]:
        """The replies that this base has kept, oldest first."""
        found = await self._transport.call("recall_readings", p_base=base, p_request=request)
        return rows.records(KeptReading, found)

    async def keep(self, base: BaseId, request: str, reading: KeptReading) -> None:
        """Keep a reply, unless the base does not hold all its documents."""
        await self._transport.call(
            "keep_reading",
            p_base=base,
            p_request=request,
            p_key=reading.key,
            p_documents=[str(document) for document in reading.documents],
            p_content=reading.content,
        )

"""What stays of questions and answers: dialogues, and what models have read.

In: exchanges; the hash of a request and replies as JSON. Out: the same again, as long as a base holds the documents.
"""

from collections.abc import Sequence

from adapters.database import rows
from adapters.database.payloads import json_bytes
from domain.ids import BaseId, SessionId, ThreadId, UserId
from rag.ports import Dialogue, Unsummarised
from rag.records import Exchange, KeptReading, PastSession, SaidMessage


class DialogueStore(rows.Store):
    """Meets `rag.ports.DialogueStore`."""

    async def recollect(
        self, user: UserId, session: SessionId, *, pairs: int, terms: Sequence[str], recalled: int
    ) -> Dialogue:
        found = await self._call("recollect", user=user, session=session, pairs=pairs, terms=terms, recalled=recalled)
        parts = {name: [row for row in found if row["part"] == name] for name in ("summary", "recalled", "window")}
        return Dialogue(
            summary=rows.value(str, parts["summary"][0]["answer"]) if parts["summary"] else "",
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
        return await self._one(
            int,
            "insert_and_trim_pairs",
            "archived",
            user=user,
            session=session,
            base=base,
            question=exchange.question,
            answer=exchange.answer,
            question_terms=question_terms,
            answer_terms=answer_terms,
            keep=keep,
            sources=json_bytes(exchange.sources),
            context=json_bytes(exchange.context_used),
        )

    async def unsummarised(self, user: UserId, session: SessionId, *, limit: int) -> Unsummarised:
        pending = await self._call("unsummarised_pairs", user=user, session=session, limit=limit)
        known = await self.recollect(user, session, pairs=0, terms=(), recalled=0)
        return Unsummarised(
            summary=known.summary,
            exchanges=tuple(rows.records(Exchange, pending)),
            up_to=rows.value(int, pending[-1]["last_id"]) if pending else 0,
        )

    async def save_summary(self, user: UserId, session: SessionId, *, summary: str, up_to: int) -> bool:
        return await self._does("save_summary", user=user, session=session, summary=summary, up_to=up_to)

    async def sessions(self, user: UserId, *, base: BaseId, limit: int) -> list[PastSession]:
        """Dialogues of a person about a base, the latest first."""
        return await self._all(PastSession, "list_sessions", user=user, base=base, limit=limit)

    async def messages(
        self, user: UserId, session: SessionId, *, base: BaseId, limit: int, before: int | None = None
    ) -> list[SaidMessage]:
        """The last messages of a dialogue, or the last ones before the message `before`; oldest first."""
        return await self._all(
            SaidMessage, "list_messages", user=user, base=base, session=session, limit=limit, before=before
        )

    async def resume(self, user: UserId, session: SessionId, *, thread: ThreadId | None = None) -> bool:
        """Go on with an earlier dialogue; False when this person has no such dialogue."""
        return await self._does("resume_session", user=user, session=session, thread=thread or 0)


class KeptReadingStore(rows.Store):
    """Meets `rag.ports.ReadingMemory`."""

    async def recall(self, base: BaseId, request: str) -> list[KeptReading]:
        return await self._all(KeptReading, "recall_readings", base=base, request=request)

    async def keep(self, base: BaseId, request: str, reading: KeptReading) -> None:
        await self._call("keep_reading", base=base, request=request, **vars(reading))

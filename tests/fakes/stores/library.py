"""What bases hold and what live messages show, in memory.

In and out: what `bot.ports.Library` and `bot.ports.Notices` say.
"""

from domain.documents import DocumentCard, DocumentStatus, Notice, Removed
from domain.ids import BaseId, BatchId, ChatId, DocumentId, MessageId, UserId
from ingestion.errors import FailureCode
from ingestion.records import Failure
from tests.fakes.stores.tables import BatchRow, DocumentRow, Tables, after, now


class MemoryLibrary:
    """Meets `bot.ports.Library`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        part = (name_contains or "").lower()
        rows = [row for row in self._listed(base) if part in row.title.lower() or part in row.source.identifier.lower()]
        rows.sort(key=lambda row: row.id)
        rows.sort(key=lambda row: row.created_at, reverse=True)
        return [row.card() for row in rows[offset : offset + limit]]

    async def count(self, base: BaseId) -> Removed:
        cards = [row.card() for row in self._listed(base)]
        return Removed(documents=len(cards), chunks=sum(card.chunks for card in cards))

    async def card(self, base: BaseId, document: DocumentId) -> DocumentCard | None:
        row = self._tables.document_of(base, document)
        return row.card() if row else None

    async def cancel(self, base: BaseId, document: DocumentId) -> bool:
        row = self._tables.document_of(base, document)
        if row is None or row.status.is_final:
            return False
        row.finish(DocumentStatus.CANCELLED, Failure(code=FailureCode.CANCELLED.value))
        return True

    async def delete(self, base: BaseId, document: DocumentId) -> bool:
        row = self._tables.document_of(base, document)
        if row is None:
            return False
        del self._tables.documents[row.id]
        if not any(other.batch is row.batch for other in self._tables.documents.values()):
            del self._tables.batches[row.batch.id]
        return True

    async def clean_base(self, base: BaseId) -> Removed:
        gone = await self.count(base)
        for row in self._tables.documents_of(base):
            await self.delete(base, row.id)
        return gone

    async def save_feedback(self, user: UserId, base: BaseId, chat: ChatId, message: MessageId, *, rating: int) -> None:
        self._tables.feedback[user, chat, message] = rating

    async def save_turn(
        self, user: UserId, base: BaseId, *, kind: str, model: str | None, seconds: float, passages: int
    ) -> None:
        self._tables.turns.append(kind)

    def _listed(self, base: BaseId) -> list[DocumentRow]:
        return [row for row in self._tables.documents_of(base) if row.is_listed]


class MemoryNotices:
    """Meets `bot.ports.Notices`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def attach(self, batch: BatchId, message: MessageId) -> None:
        if batch in self._tables.batches:
            self._tables.batches[batch].notice_message_id = message

    async def due(self, *, limit: int, hold_s: int) -> list[Notice]:
        behind = [row for row in self._tables.batches.values() if _is_behind(row)]
        behind.sort(key=lambda row: row.notice_due_at)
        notices = [self._notice(row, row.chat_id) for row in behind[:limit] if row.chat_id is not None]
        for row in behind[:limit]:
            row.notice_due_at = after(hold_s)
        return notices

    async def confirm(self, batch: BatchId, *, revision: int) -> None:
        row = self._tables.batches.get(batch)
        if row:
            row.shown_revision = max(row.shown_revision, revision)
            row.notice_due_at = now()

    def _notice(self, row: BatchRow, chat: ChatId) -> Notice:
        documents = [document for document in self._tables.documents.values() if document.batch is row]
        documents.sort(key=lambda document: document.position)
        return Notice(
            batch_id=row.id,
            chat_id=chat,
            thread_id=row.thread_id,
            reply_to=row.message_id,
            message_id=row.notice_message_id,
            language=row.language,
            revision=row.revision,
            documents=tuple(document.card() for document in documents),
        )


def _is_behind(row: BatchRow) -> bool:
    return row.chat_id is not None and row.shown_revision < row.revision and row.notice_due_at <= now()

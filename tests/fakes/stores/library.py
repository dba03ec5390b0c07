"""What bases hold and what live messages show, in memory.

In and out: what `bot.ports.Library` and `bot.ports.Notices` say.
"""

from collections.abc import Mapping
from datetime import timedelta
from math import inf

from adapters.database.payloads import name_key
from domain.documents import Choice, DocumentCard, DocumentStatus, Notice, Removed, SourceType
from domain.ids import BaseId, BatchId, ChatId, DocumentId, MessageId, UserId
from domain.locator import JsonValue
from domain.statistics import Spending
from ingestion.errors import FailureCode
from ingestion.records import Failure, NameLine
from rag.metering import TurnMetrics
from tests.fakes.stores.tables import BatchRow, DocumentRow, Tables, after, now

DAY = timedelta(hours=24)


class MemoryLibrary:
    """Meets `bot.ports.Library`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        rows = self._listed(base, name_contains)
        rows.sort(key=lambda row: row.id)
        rows.sort(key=lambda row: row.created_at, reverse=True)
        return [self._tables.card_of(row) for row in rows[offset : offset + limit]]

    async def count(self, base: BaseId, *, name_contains: str | None = None) -> Removed:
        cards = [row.card() for row in self._listed(base, name_contains)]
        return Removed(documents=len(cards), chunks=sum(card.chunks for card in cards))

    async def card(self, base: BaseId, document: DocumentId) -> DocumentCard | None:
        row = self._tables.document_of(base, document)
        if row and row.status in (DocumentStatus.SUPERSEDED, DocumentStatus.FAILED):
            others = self._tables.documents_of(base)
            row = next((other for other in others if other.is_ready and other.lineage == row.lineage), row)
        return self._tables.card_of(row) if row else None

    async def choose(self, base: BaseId, document: DocumentId, choice: Choice) -> bool:
        row = self._tables.document_of(base, document)
        if row is None or row.status is not DocumentStatus.CHOOSING:
            return False
        if choice is Choice.SKIP:
            row.finish(DocumentStatus.CANCELLED, Failure(code=FailureCode.SKIPPED.value))
            return True
        if choice is Choice.KEEP_BOTH:
            row.given_title = row.title = self._tables.free_name(row)
            row.given_terms = None
            row.name_key = name_key(row.title)
        other = self._tables.document_of(base, DocumentId(str(row.question["document_id"])))
        if choice is Choice.REPLACE and other is not None:
            row.lineage = other.lineage
        row.status, row.chosen, row.attempts, row.question = DocumentStatus.QUEUED, True, 0, {}
        row.started_at = row.finished_at = None
        row.run_after = now()
        row.batch.revision += 1
        return True

    async def rename(self, base: BaseId, document: DocumentId, title: str, *, terms: Mapping[str, int]) -> bool:
        row = self._tables.document_of(base, document)
        if row is None:
            return False
        row.given_title, row.given_terms, row.title = title, terms, title
        if row.is_ready:
            row.retitle(NameLine(text=title, terms=terms))
        if row.source.type is SourceType.FILE:
            row.name_key = name_key(title)
        return True

    async def versions(self, base: BaseId, document: DocumentId) -> list[DocumentCard]:
        row = self._tables.document_of(base, document)
        if row is None:
            return []
        alike = (other for other in self._tables.documents_of(base) if other.lineage == row.lineage)
        earlier = [other for other in alike if other.status is DocumentStatus.SUPERSEDED]
        older = [other for other in earlier if other.version < row.version]
        return [each.card() for each in sorted({row.id: row, **{o.id: o for o in older}}.values(), key=_newest)]

    async def cancel_batch(self, base: BaseId, batch: BatchId) -> int:
        rows = [row for row in self._tables.documents_of(base) if row.batch.id == batch]
        return sum([await self.cancel(base, row.id) for row in rows])

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
        older = await self.versions(base, document) if row.is_ready else [row.card()]
        gone = {card.id for card in older} | {other.id for other in self._renewals(row)}
        for other in self._tables.documents_of(base):
            if other.id in gone or (other.status is DocumentStatus.DUPLICATE and _twin_of(other) in gone):
                self._tables.remove(other)
        return True

    def _renewals(self, row: DocumentRow) -> list[DocumentRow]:
        """What its source was to be read anew as, in vain or still."""
        alike = [other for other in self._tables.documents_of(row.batch.base_id) if other.lineage == row.lineage]
        working = [other for other in alike if not other.status.is_final]
        anew = [other for other in working if other.source.type is not SourceType.FILE]
        return [*self._tables.failed_after(row), *anew] if row.is_ready else []

    async def clean_base(self, base: BaseId) -> Removed:
        gone = await self.count(base)
        for row in self._tables.documents_of(base):
            self._tables.remove(row)
        return gone

    async def keep(self, base: BaseId, document: DocumentId) -> bool:
        card = await self.card(base, document)
        row = self._tables.document_of(base, card.id) if card else None
        if row is None:
            return False
        if row.expires_at is not None:
            self._tables.stay_until(row, None)
            for other in self._tables.documents_of(base):
                other.expires_at = None if other.lineage == row.lineage else other.expires_at
        return True

    async def keep_batch(self, base: BaseId, batch: BatchId) -> bool:
        rows = [row for row in self._tables.documents_of(base) if row.batch.id == batch]
        return any([await self.keep(base, row.id) for row in rows])

    async def remove_expired(self) -> int:
        rows = [row for row in self._tables.documents.values() if row.expires_at and row.expires_at <= now()]
        current = [row for row in rows if row.status is not DocumentStatus.SUPERSEDED]
        return sum([await self.delete(row.batch.base_id, row.id) for row in current])

    async def save_feedback(self, user: UserId, base: BaseId, chat: ChatId, message: MessageId, *, rating: int) -> None:
        self._tables.feedback[user, chat, message] = rating

    async def save_turn(self, user: UserId, base: BaseId, turn: TurnMetrics, *, asker: UserId | None = None) -> None:
        self._tables.turns.append(turn)
        self._tables.askers.append((asker or user, now()))

    async def spent_in_a_day(
        self, person: UserId, *, questions: int | None = None, cost: float | None = None
    ) -> Spending:
        asked, spent, until = 0, 0.0, None
        for (asker, at), turn in zip(reversed(self._tables.askers), reversed(self._tables.turns), strict=True):
            if asker != person or not _is_by_model(turn) or at <= now() - DAY:
                continue
            asked, spent = asked + 1, spent + turn.usage.cost
            is_reached = asked >= (questions or inf) or spent >= (cost or inf)
            until = until or (at + DAY if is_reached else None)
        return Spending(questions=asked, cost=spent, until=until)

    def _listed(self, base: BaseId, name_contains: str | None) -> list[DocumentRow]:
        words = (name_contains or "").lower().replace("ё", "е").split()
        rows = [row for row in self._tables.documents_of(base) if self._tables.is_listed(row)]
        return [row for row in rows if all(word in _names(row) for word in words)]


def _is_by_model(turn: TurnMetrics) -> bool:
    return bool(turn.usage.calls or turn.model or turn.plan not in (None, "default"))


def _twin_of(row: DocumentRow) -> JsonValue:
    return row.failure.params.get("document_id") if row.failure else None


def _names(row: DocumentRow) -> str:
    return f"{row.title}\n{row.identifier}".lower().replace("ё", "е")


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
            is_empty = row.removed and not any(other.batch is row for other in self._tables.documents.values())
            if is_empty and row.shown_revision >= row.revision:
                del self._tables.batches[batch]

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
            removed=row.removed,
            documents=tuple(self._tables.card_of(document) for document in documents),
        )


def _newest(row: DocumentRow) -> int:
    return -row.version


def _is_behind(row: BatchRow) -> bool:
    return row.chat_id is not None and row.shown_revision < row.revision and row.notice_due_at <= now()

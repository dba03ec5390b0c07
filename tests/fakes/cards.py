"""Documents as the library and the notices show them, to be varied by a test."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from domain.documents import DocumentCard, DocumentStatus, Notice, SourceType
from domain.ids import BaseId, BatchId, ChatId, DocumentId, MessageId

CARD = DocumentCard(
    id=DocumentId("11111111-1111-1111-1111-111111111111"),
    base_id=BaseId("base"),
    batch_id=BatchId("batch"),
    source_type=SourceType.FILE,
    source_identifier="Договор аренды.pdf",
    title="Договор аренды.pdf",
    status=DocumentStatus.QUEUED,
    progress_done=0,
    progress_total=0,
    waits_for_service=False,
    error_code=None,
    language=None,
    pages=None,
    chunks=0,
    seconds=None,
    created_at=datetime(2026, 5, 12, 12, tzinfo=UTC),
    chat_id=ChatId(7),
    message_id=MessageId(1),
)
READY = replace(CARD, status=DocumentStatus.READY, language="ru", pages=48, chunks=131, seconds=9.2)


def card(**changes: Any) -> DocumentCard:
    """A queued document."""
    return replace(CARD, **changes)


def ready(**changes: Any) -> DocumentCard:
    """A document that was read."""
    return replace(READY, **changes)


def notice(*documents: DocumentCard, **changes: Any) -> Notice:
    """A batch of these documents whose live message was never sent."""
    plain = Notice(
        batch_id=BatchId("batch"),
        chat_id=ChatId(7),
        thread_id=None,
        reply_to=MessageId(1),
        message_id=None,
        language="ru",
        revision=1,
        documents=documents,
    )
    return replace(plain, **changes)

"""The queue as the bot sees it: what was sent is stored before the handler returns.

In: batches of sources. Out: the documents that were made of them. Reading them is the worker's work.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from adapters.database import rows
from adapters.database.errors import DatabaseError
from adapters.database.payloads import iso, json_text, name_key, storable
from adapters.database.transport import TOO_MANY_WAITING, Transport
from domain.additions import Added, Once, Refusal
from domain.documents import SourceType
from domain.ids import DocumentId, UserId
from domain.locator import JsonValue
from ingestion.errors import TooManyWaiting
from ingestion.records import Batch, EnqueuedDocument, Source

_ADDRESSES = frozenset({SourceType.LINK, SourceType.SITE})


class IntakeStore:
    """Meets `ingestion.ports.IntakeQueue`."""

    def __init__(self, transport: Transport, *, most_waiting: int | None = None) -> None:
        """`most_waiting` is how many documents one person may have waiting (PERSON_WAITING); None: any number."""
        self._transport = transport
        self._most_waiting = most_waiting

    async def enqueue(self, batch: Batch, *, hold_s: int = 0) -> list[EnqueuedDocument]:
        """Store all sources of a batch at once, in their order; a redelivered batch returns what is stored already."""
        sent, most = json_text(_batch_json(batch)), self._most_waiting
        with self._few_waiting():
            found = await self._transport.call(
                "enqueue_batch", p_base=batch.base_id, p_batch=sent, p_hold_s=hold_s, p_most_waiting=most
            )
        return [
            EnqueuedDocument(
                id=DocumentId(rows.text(row, "id")),
                source=batch.sources[rows.integer(row, "position")],
                created=bool(row["created"]),
            )
            for row in found
        ]

    async def add(
        self, batch: Batch, *, token: UserId, replaces: DocumentId | None = None, once: Once | None = None
    ) -> Added:
        """Store the one source of a batch, as the next version of `replaces` if given. `once` within a day again
        gives the same answer and stores nothing."""
        with self._few_waiting():
            (found,) = await self._transport.call(
                "add_document",
                p_base=batch.base_id,
                p_token=token,
                p_batch=json_text(_batch_json(batch)),
                p_document=replaces,
                p_key=once.key if once else None,
                p_digest=once.digest if once else None,
                p_most_waiting=self._most_waiting,
            )
        refused = rows.text_or_none(found, "refused")
        return Refusal(refused) if refused else rows.document_card(rows.parts(found, "card"))

    @contextmanager
    def _few_waiting(self) -> Iterator[None]:
        """Raises TooManyWaiting."""
        try:
            yield
        except DatabaseError as error:
            if self._most_waiting is not None and error.code == TOO_MANY_WAITING:
                raise TooManyWaiting(self._most_waiting) from error
            raise

    async def join(self, batch: Batch, *, hold_s: int = 0) -> EnqueuedDocument | None:
        """Append the one note of this message to the held note that it continues; None when there is none."""
        found = await self._transport.call(
            "join_note", p_base=batch.base_id, p_batch=json_text(_batch_json(batch)), p_hold_s=hold_s
        )
        for row in found:
            document = DocumentId(rows.text(row, "id"))
            return EnqueuedDocument(id=document, source=batch.sources[0], created=bool(row["joined"]))
        return None

    async def refresh(self, batch: Batch, document: DocumentId) -> EnqueuedDocument | None:
        """Read the source of a document anew; None when there is nothing that can be read anew."""
        found = await self._transport.call(
            "refresh_document", p_base=batch.base_id, p_document=document, p_batch=json_text(_batch_json(batch))
        )
        for row in found:
            new = DocumentId(rows.text(row, "id"))
            return EnqueuedDocument(id=new, source=rows.source(row), created=bool(row["created"]))
        return None


def _batch_json(batch: Batch) -> dict[str, JsonValue]:
    return {
        "user_id": batch.user_id,
        "sender": batch.sender,
        "language": batch.language,
        "chat_id": batch.chat_id,
        "thread_id": batch.thread_id,
        "message_id": batch.message_id,
        "media_group": batch.media_group,
        "ttl_s": batch.ttl_s,
        "sources": [_source_json(source) for source in batch.sources],
    }


def _source_json(source: Source) -> dict[str, JsonValue]:
    return {
        "type": source.type.value,
        "identifier": source.identifier,
        "name_key": source_key(source),
        "title": source.title,
        "text": source.text,
        "file_id": source.file_id,
        "kept_file": source.kept_file,
        "size_bytes": source.size_bytes,
        "media_type": source.media_type,
        "author": source.author,
        "published_at": iso(source.published_at),
        "url": source.url,
        "lane": source.lane.value,
    }


def source_key(source: Source) -> str | None:
    """The key that recognises a later source of the same name: of a file its name (none if it was given a title), of a
    path the path, of an address a digest, since an index entry holds 2,700 bytes and an address may have more."""
    if source.type in _ADDRESSES:
        return hashlib.sha256(storable(source.identifier).encode()).hexdigest()
    if source.type is SourceType.FILE and source.title is None:
        return name_key(source.identifier)
    return source.identifier if source.type is SourceType.PATH else None

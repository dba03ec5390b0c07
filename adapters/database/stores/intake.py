"""What comes in: updates that were acknowledged to Telegram, sources for the queue; and who is told what became of it.

In: updates as JSON; sources with who sent them; what the bot sent; addresses of webhooks. Out: what this process is to
handle, under a lease; documents that wait to be read; live messages that are out of date, and messages for webhooks
that are due (`adapters.webhooks` sends them). It does not look into updates and sends nothing.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from adapters.database import rows
from adapters.database.payloads import name_key, storable
from adapters.database.rows import Given
from adapters.database.transport import PAGE_ROWS, TOO_MANY_WAITING, DatabaseError, Row, Transport
from domain.documents import Added, DocumentCard, Notice, Once, Refusal, SourceType, Webhook
from domain.ids import BaseId, BatchId, DocumentId, MessageId, UserId
from domain.locator import JsonValue
from ingestion.errors import TooManyWaiting
from ingestion.records import Batch, EnqueuedDocument, Source

_ADDRESSES = frozenset({SourceType.LINK, SourceType.SITE})


class IntakeStore(rows.Store):
    """Where documents wait to be read."""

    def __init__(self, transport: Transport, *, most_waiting: int | None = None) -> None:
        """`most_waiting` is how many documents one person may have waiting (PERSON_WAITING); None: any number."""
        super().__init__(transport)
        self._most_waiting = most_waiting

    async def enqueue(self, batch: Batch, *, hold_s: int = 0) -> list[EnqueuedDocument]:
        """Store all sources of a batch at once, in their order; a redelivered batch returns what is stored already."""
        found = await self._within_bound("enqueue_batch", batch, hold_s=hold_s)
        return [
            rows.record(EnqueuedDocument, row, source=batch.sources[rows.value(int, row["position"])]) for row in found
        ]

    async def add(
        self, batch: Batch, *, token: UserId, replaces: DocumentId | None = None, once: Once | None = None
    ) -> Added:
        """Store the one source of a batch, as the next version of `replaces` if given. `once` within a day again
        gives the same answer and stores nothing."""
        (found,) = await self._within_bound(
            "add_document",
            batch,
            token=token,
            document=replaces,
            key=once.key if once else None,
            digest=once.digest if once else None,
        )
        if found["refused"]:
            return Refusal(rows.value(str, found["refused"]))
        return rows.record(DocumentCard, rows.value(dict, found["card"]))

    async def _within_bound(self, function: str, batch: Batch, **given: Given) -> list[Row]:
        """Raises TooManyWaiting."""
        sent, bound = _batch_json(batch), self._most_waiting
        try:
            return await self._call(function, base=batch.base_id, batch=sent, most_waiting=bound, **given)
        except DatabaseError as error:
            if bound is not None and error.code == TOO_MANY_WAITING:
                raise TooManyWaiting(bound) from error
            raise

    async def join(self, batch: Batch, *, hold_s: int = 0) -> EnqueuedDocument | None:
        """Append the one note of this message to the held note that it continues; None when there is none."""
        found = await self._call("join_note", base=batch.base_id, batch=_batch_json(batch), hold_s=hold_s)
        return rows.record(EnqueuedDocument, found[0], source=batch.sources[0]) if found else None

    async def refresh(self, batch: Batch, document: DocumentId) -> EnqueuedDocument | None:
        """Read the source of a document anew; None when there is nothing that can be read anew."""
        return await self._first(
            EnqueuedDocument, "refresh_document", base=batch.base_id, document=document, batch=_batch_json(batch)
        )


def _batch_json(batch: Batch) -> dict[str, JsonValue]:
    sources: list[JsonValue] = [{**vars(source), "name_key": source_key(source)} for source in batch.sources]
    return {**vars(batch), "sources": sources}


def source_key(source: Source) -> str | None:
    """The key that recognises a later source of the same name: of a file its name (none if it was given a title), of a
    path the path, of an address a digest, since an index entry holds 2,700 bytes and an address may have more."""
    if source.type in _ADDRESSES:
        return hashlib.sha256(storable(source.identifier).encode()).hexdigest()
    if source.type is SourceType.FILE and source.title is None:
        return name_key(source.identifier)
    return source.identifier if source.type is SourceType.PATH else None


class InboxStore(rows.Store):
    """Keeps updates from the moment they are acknowledged until they have been handled, each by one process at a time.

    An update is the Bot API's own JSON object and is passed on unread, hence the `Any`. A holder is a process, and
    holds an update until its lease of `lease_s` seconds runs out. All calls raise DatabaseAway.
    """

    async def receive(
        self, bot_id: int, update_id: int, payload: Mapping[str, Any], *, chat_id: int, holder: str, lease_s: float
    ) -> bool:
        """Store the update; whether this holder is to handle it. False when it is stored already (redelivered), or when
        others hold earlier updates of its chat: `hold` gives it out later."""
        return await self._one(
            bool,
            "receive_update",
            "is_ours",
            bot=bot_id,
            update=update_id,
            chat=chat_id,
            payload=payload,
            holder=holder,
            lease_s=lease_s,
        )

    async def hold(
        self, bot_id: int, holder: str, held: Collection[int], *, lease_s: float, takes_more: bool
    ) -> Mapping[int, Mapping[str, Any] | None]:
        """Renew the leases of `held`, and take updates that nobody holds (any more), in order within each chat: the
        numbers of all that are held now, with the bodies of those that were taken. One of `held` that is missing is
        another holder's by now."""
        found = await self._call(
            "hold_updates",
            bot=bot_id,
            holder=holder,
            held=held,
            lease_s=lease_s,
            more=max(PAGE_ROWS - len(held), 0) if takes_more else 0,
        )
        return {
            rows.value(int, row["update_id"]): payload if isinstance(payload := row["payload"], dict) else None
            for row in found
        }

    async def begin(self, bot_id: int, update_id: int, holder: str) -> int | None:
        """Count a start of handling it; returns how many, this one included. None: it is another's by now."""
        return await self._first(int, "begin_update", "attempts", bot=bot_id, update=update_id, holder=holder)

    async def finish(self, bot_id: int, update_id: int) -> None:
        await self._call("finish_update", bot=bot_id, update=update_id)

    async def release(self, bot_id: int, holder: str) -> None:
        await self._call("release_updates", bot=bot_id, holder=holder)


class NoticeStore(rows.Store):
    """The live messages of batches. They survive restarts: a change that was not shown is shown later."""

    async def attach(self, batch: BatchId, message: MessageId) -> None:
        await self._call("attach_notice", batch=batch, message=message)

    async def due(self, *, limit: int, hold_s: int) -> list[Notice]:
        """Batches that have changed since they were shown; each is reserved for this caller for `hold_s` seconds."""
        readable = []
        for row in await self._call("due_notices", limit=limit, hold_s=hold_s):
            try:
                readable.append(rows.record(Notice, row))
            except ValueError as error:  # of a newer Baza: the other notices still go out
                structlog.get_logger().error("notices.unreadable", batch=row["batch_id"], reason=str(error))
        return readable

    async def confirm(self, batch: BatchId, *, revision: int) -> None:
        """The batch has been shown up to this revision; the lease ends."""
        await self._call("confirm_notice", batch=batch, revision=revision)


@dataclass(frozen=True, kw_only=True)
class DueMessage:
    """What is to be sent now; nobody else sends it for a while."""

    id: str
    url: str
    secret: str
    body: str  # JSON
    attempt: int  # 1 the first time


class WebhookStore(rows.Store):
    """Addresses that are told when a document ends."""

    async def add(self, base: BaseId, *, url: str, secret: str, most: int) -> Webhook | None:
        """None when the base has `most` webhooks already."""
        return await self._first(Webhook, "add_webhook", base=base, url=url, secret=secret, most=most)

    async def all(self, base: BaseId) -> list[Webhook]:
        """Those of a base, the oldest first."""
        return await self._all(Webhook, "list_webhooks", base=base)

    async def remove(self, base: BaseId, webhook: str) -> bool:
        """False when the base has no such webhook."""
        return await self._does("remove_webhook", base=base, webhook=webhook)

    async def due(self, *, limit: int, hold_s: float) -> list[DueMessage]:
        """Messages to be sent now, reserved for `hold_s`."""
        return await self._all(DueMessage, "due_webhook_messages", limit=limit, hold_s=hold_s)

    async def note(self, message: str, *, problem: str | None, again_s: float | None) -> None:
        """How a try ended; `again_s` None: it is over, told (`problem` None) or given up."""
        await self._call("note_webhook", message=message, problem=problem, again_s=again_s)

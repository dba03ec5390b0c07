"""Documents as their owner sees them, and the files that Baza keeps itself.

In: a base, a document, a filter; what was uploaded. Out: cards, lists, sources; under which name a file is kept, and
what has to be removed from the storage (`adapters.kept_files` has the bytes). It shows nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from adapters.database import rows
from adapters.database.payloads import json_text, name_key, storable
from adapters.database.transport import PAGE_ROWS, Row, Store
from domain.documents import Choice, DocumentCard, Removed
from domain.ids import BaseId, BatchId, ChatId, DocumentId, FileId, MessageId, UserId
from domain.locator import JsonValue
from domain.statistics import Spending
from rag.metering import TurnMetrics
from rag.reservations import DayBounds, Reservation

REMOVAL_S = 30 * 60  # a million passages have forty million postings, which take minutes; a timeout undoes everything


class LibraryStore(Store):
    """What a base holds."""

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        """Newest first; duplicates, cancelled and superseded ones are left out."""
        cards: list[DocumentCard] = []
        while len(cards) < limit:
            wanted = min(limit - len(cards), PAGE_ROWS)
            page = await self._page(base, limit=wanted, offset=offset + len(cards), name_contains=name_contains)
            cards.extend(map(rows.document_card, page))
            if len(page) < wanted:
                break
        return cards

    async def _page(self, base: BaseId, *, limit: int, offset: int, name_contains: str | None) -> list[Row]:
        part = _part_of_name(name_contains)
        return await self._transport.call(
            "list_documents", p_base=base, p_limit=limit, p_offset=offset, p_name_contains=part
        )

    async def count(self, base: BaseId, *, name_contains: str | None = None) -> Removed:
        """How many of the listed documents are ready, with their passages, how many are not, and how many failed."""
        part = _part_of_name(name_contains)
        return rows.records(Removed, await self._transport.call("count_base", p_base=base, p_name_contains=part))[0]

    async def card(self, base: BaseId, document: DocumentId) -> DocumentCard | None:
        """One document of this base, in any state."""
        found = await self._transport.call("document_card", p_base=base, p_document=document)
        return rows.document_card(found[0]) if found else None

    async def choose(self, base: BaseId, document: DocumentId, choice: Choice) -> bool:
        """Answer the question that a CHOOSING document asks; False when it asks none any more."""
        return bool(
            await self._transport.call("choose_document", p_base=base, p_document=document, p_choice=choice.value)
        )

    async def rename(self, base: BaseId, document: DocumentId, title: str, *, terms: Mapping[str, int]) -> bool:
        """Give a document another name; False when there is none. In the same transaction the lexical `terms` of the
        new name (term -> count) replace those of the old name for all its passages."""
        name = storable(title)
        found = await self._transport.call(
            "rename_document",
            p_base=base,
            p_document=document,
            p_title=name,
            p_name_key=name_key(name),
            p_terms=json_text(terms),
        )
        return bool(found)

    async def versions(self, base: BaseId, document: DocumentId) -> list[DocumentCard]:
        """The document and the versions that it replaced, newest first; at most 900 of them."""
        found = await self._transport.call("document_versions", p_base=base, p_document=document)
        return [rows.document_card(row) for row in found]

    async def cancel_batch(self, base: BaseId, batch: BatchId) -> int:
        """Stop the work on all documents of a batch that are not final; returns how many."""
        found = await self._transport.call("cancel_batch", p_base=base, p_batch_id=batch)
        return rows.integer(found[0], "cancelled")

    async def sender_of_batch(self, base: BaseId, batch: BatchId) -> UserId | None:
        """Who sent the documents of a batch together; None when the base holds none of them."""
        found = await self._transport.call("sender_of_batch", p_base=base, p_batch_id=batch)
        return UserId(rows.integer(found[0], "user_id")) if found else None

    async def cancel(self, base: BaseId, document: DocumentId) -> bool:
        """Stop work on it; False when it was final already."""
        return bool(await self._transport.call("cancel_document", p_base=base, p_document=document))

    async def delete(self, base: BaseId, document: DocumentId) -> bool:
        """Remove it with all that is stored of it; False when the base does not hold it."""
        found = await self._transport.call("delete_document", timeout_s=REMOVAL_S, p_base=base, p_document=document)
        return bool(found)

    async def clean_base(self, base: BaseId) -> Removed:
        """Remove everything, also what is being read right now."""
        return rows.records(Removed, await self._transport.call("clean_base", timeout_s=REMOVAL_S, p_base=base))[0]

    async def keep(self, base: BaseId, document: DocumentId) -> bool:
        """Make a document permanent that was sent to be read now; False when there is no such document."""
        return bool(await self._transport.call("keep_document", p_base=base, p_document=document))

    async def keep_batch(self, base: BaseId, batch: BatchId) -> bool:
        """The same for all documents of a batch; False when it has none."""
        return bool(await self._transport.call("keep_batch", p_base=base, p_batch_id=batch))

    async def remove_expired(self) -> int:
        """Remove what was sent to be read now and whose time has come, in all bases, one by one; returns how many.

        Raises DatabaseError, DatabaseAway.
        """
        removed = 0
        while await self._transport.call("remove_expired", timeout_s=REMOVAL_S):
            removed += 1
        return removed

    async def save_feedback(self, user: UserId, base: BaseId, chat: ChatId, message: MessageId, *, rating: int) -> None:
        """A rating (1 or -1) of an answer; a later one replaces it."""
        await self._transport.call(
            "save_feedback", p_user=user, p_base=base, p_chat=chat, p_message=message, p_rating=rating
        )

    async def save_turn(
        self,
        user: UserId,
        base: BaseId,
        turn: TurnMetrics,
        *,
        asker: UserId | None = None,
        reservation: str | None = None,
    ) -> None:
        """What a turn took and cost; `asker` is the person where `user` is a group. Its reservation ends."""
        row = json_text(turn_row(turn))
        await self._transport.call(
            "save_turn", p_user=user, p_base=base, p_turn=row, p_asker=asker, p_reservation=reservation
        )

    async def reserve_question(self, user: UserId, asker: UserId, *, bounds: DayBounds, lease_s: float) -> Reservation:
        """For one more question of `user` (a person, a group, a token) in the day of `asker`; ended by `save_turn`."""
        (row,) = await self._transport.call(
            "reserve_question",
            p_user=user,
            p_asker=asker,
            p_questions=bounds.questions,
            p_cost=bounds.cost,
            p_token_cost=bounds.token_cost,
            p_lease_s=lease_s,
        )
        return rows.record(Reservation, row, cost=row["cost"] or 0.0)

    async def renew_reservation(self, reservation: str, *, lease_s: float) -> None:
        """It is still being answered."""
        await self._transport.call("renew_reservation", p_reservation=reservation, p_lease_s=lease_s)

    async def spent_in_a_day(
        self,
        person: UserId,
        *,
        questions: int | None = None,
        cost: float | None = None,
        token: UserId | None = None,
    ) -> Spending:
        """What the person (by this token of theirs) has asked of models in the last 24 hours, over all chats, compared
        with these bounds (None: no bound)."""
        (row,) = await self._transport.call(
            "spent_in_a_day", p_user=person, p_questions=questions, p_cost=cost, p_token=token
        )
        return rows.record(Spending, row, cost=row["cost"] or 0.0)


def _part_of_name(part: str | None) -> str | None:
    return None if part is None else storable(part)


def turn_row(turn: TurnMetrics) -> dict[str, JsonValue]:
    """The columns of `turn_metrics`."""
    return {
        "kind": turn.kind,
        "model": turn.model,
        "plan": turn.plan,
        "seconds": turn.seconds,
        **asdict(turn.pace),
        "facts": turn.facts,
        "facts_used": turn.facts_used,
        "used_rank": turn.used_rank,
        "checked": asdict(turn.check),
        "passages": turn.passages,
        "steps_planned": turn.steps.planned,
        "steps_run": turn.steps.run,
        "adapted": turn.steps.adapted,
        "each_step": [asdict(step) for step in turn.each_step],
        "searching_s": turn.usage.searching.seconds,
        "models_s": turn.usage.models.seconds,
        "calls": turn.usage.calls,
        "prompt_tokens": turn.usage.prompt_tokens,
        "answer_tokens": turn.usage.answer_tokens,
        "cost": turn.usage.cost,
    }


class KeptFileStore(Store):
    """Meets `api.services.FileList`."""

    async def keep(self, base: BaseId, *, sha256: str, size_bytes: int, most_bytes: int) -> FileId | None:
        """The name under which the content is to be stored now, kept for an hour unless a document takes it; None when
        the base would keep more than `most_bytes`."""
        found = await self._transport.call(
            "keep_file", p_base=base, p_hash=sha256, p_size_bytes=size_bytes, p_most_bytes=most_bytes
        )
        return FileId(rows.text(found[0], "id")) if found else None

    async def count_bytes(self, base: BaseId, token: UserId, size_bytes: int, *, per_day: int) -> int | None:
        """Counts what a token has uploaded; seconds to wait once it is more than `per_day` bytes today."""
        found = await self._transport.call(
            "count_bytes", p_base=base, p_token=token, p_bytes=size_bytes, p_per_day=per_day
        )
        return rows.integer(found[0], "wait_s") if found and found[0]["wait_s"] is not None else None

    async def release(self, limit: int) -> list[tuple[BaseId, FileId]]:
        """Files that no document has; they are told again until they are forgotten."""
        found = await self._transport.call("release_files", p_limit=limit)
        return [(BaseId(rows.text(row, "base_id")), FileId(rows.text(row, "id"))) for row in found]

    async def forget(self, files: Sequence[FileId]) -> None:
        """They are gone from the storage."""
        await self._transport.call("forget_files", p_files=[*map(str, files)])

    async def forget_additions(self) -> None:
        """Removes the answers that were kept for a day under an Idempotency-Key."""
        await self._transport.call("forget_additions")

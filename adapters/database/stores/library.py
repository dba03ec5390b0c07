"""Documents as their owner sees them, the files that Baza keeps itself, and statistics of a base and of all bases.

In: a base, a document, a filter; what was uploaded. Out: cards, lists, sources; under which name a file is kept, and
what has to be removed from the storage (`adapters.kept_files` has the bytes); records of `domain.statistics`. It shows
nothing, and the bot decides who may see figures of all bases.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from adapters.database import rows
from adapters.database.payloads import json_bytes, name_key, storable
from domain.documents import Choice, DocumentCard, Removed, SourcedTable
from domain.ids import BaseId, BatchId, ChatId, DocumentId, FileId, MessageId, UserId
from domain.statistics import BaseStatistics, OverallStatistics, QueueState, Spending
from rag.metering import TurnMetrics
from rag.reservations import DayBounds, Reservation


class LibraryStore(rows.Store):
    """What a base holds; meets `rag.ports.DocumentCatalogue`."""

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        """At most 900 at once."""
        return await self._all(
            DocumentCard, "list_documents", base=base, limit=limit, offset=offset, name_contains=name_contains
        )

    async def count(self, base: BaseId, *, name_contains: str | None = None) -> Removed:
        return await self._one(Removed, "count_base", base=base, name_contains=name_contains)

    async def card(self, base: BaseId, document: DocumentId) -> DocumentCard | None:
        """One document of this base, in any state."""
        return await self._first(DocumentCard, "document_card", base=base, document=document)

    async def cards(self, base: BaseId, documents: Sequence[DocumentId]) -> Mapping[DocumentId, DocumentCard]:
        """The same of several, as far as the base has them."""
        found = await self._call("read_cards", base=base, documents=documents)
        cards = rows.records(DocumentCard, [rows.value(dict, row["card"]) for row in found])
        return {rows.value(DocumentId, row["asked"]): card for row, card in zip(found, cards, strict=True)}

    async def choose(self, base: BaseId, document: DocumentId, choice: Choice) -> bool:
        """Answer the question that a CHOOSING document asks; False when it asks none any more."""
        return await self._does("choose_document", base=base, document=document, choice=choice)

    async def rename(self, base: BaseId, document: DocumentId, title: str, *, terms: Mapping[str, int]) -> bool:
        """Give a document another name; False when there is none. In the same transaction the lexical `terms` of the
        new name (term -> count) replace those of the old name for all its passages."""
        key = name_key(storable(title))
        return await self._does("rename_document", base=base, document=document, title=title, name_key=key, terms=terms)

    async def versions(self, base: BaseId, document: DocumentId) -> list[DocumentCard]:
        """The document and the versions that it replaced, newest first; at most 900 of them."""
        return await self._all(DocumentCard, "document_versions", base=base, document=document)

    async def cancel_batch(self, base: BaseId, batch: BatchId) -> int:
        """Stop the work on all documents of a batch that are not final; returns how many."""
        return await self._one(int, "cancel_batch", "cancelled", base=base, batch_id=batch)

    async def sender_of_batch(self, base: BaseId, batch: BatchId) -> UserId | None:
        """Who sent the documents of a batch together; None when the base holds none of them."""
        return await self._first(UserId, "sender_of_batch", "user_id", base=base, batch_id=batch)

    async def cancel(self, base: BaseId, document: DocumentId) -> bool:
        """Stop work on it; False when it was final already."""
        return await self._does("cancel_document", base=base, document=document)

    async def delete(self, base: BaseId, document: DocumentId) -> bool:
        """Remove it with all that is stored of it; False when the base does not hold it."""
        return await self._does("delete_document", base=base, document=document)

    async def clean_base(self, base: BaseId) -> Removed:
        return await self._one(Removed, "clean_base", base=base)

    async def keep(self, base: BaseId, document: DocumentId) -> bool:
        """Make a document permanent that was sent to be read now; False when there is no such document."""
        return await self._does("keep_document", base=base, document=document)

    async def keep_batch(self, base: BaseId, batch: BatchId) -> bool:
        """The same for all documents of a batch; False when it has none."""
        return await self._does("keep_batch", base=base, batch_id=batch)

    async def remove_expired(self) -> int:
        """Remove what was sent to be read now and whose time has come, in all bases, one by one; returns how many.

        Raises DatabaseError, DatabaseAway.
        """
        removed = 0
        while await self._call("remove_expired"):
            removed += 1
        return removed

    async def save_table(self, user: UserId, base: BaseId, table: SourcedTable) -> int:
        """The number of the button by which a table of an answer becomes a file."""
        return await self._one(int, "save_table", "id", user=user, base=base, content=vars(table))

    async def read_table(self, base: BaseId, number: int) -> SourcedTable | None:
        """None when this base has no such table (any more)."""
        return await self._first(SourcedTable, "read_table", "content", base=base, table=number)

    async def save_feedback(self, user: UserId, base: BaseId, chat: ChatId, message: MessageId, *, rating: int) -> None:
        """A rating (1 or -1) of an answer; a later one replaces it."""
        await self._call("save_feedback", user=user, base=base, chat=chat, message=message, rating=rating)

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
        row = json_bytes(turn_row(turn))
        await self._call("save_turn", user=user, base=base, turn=row, asker=asker, reservation=reservation)

    async def reserve_question(self, user: UserId, asker: UserId, *, bounds: DayBounds, lease_s: float) -> Reservation:
        """For one more question of `user` (a person, a group, a token) in the day of `asker`; ended by `save_turn`."""
        return await self._one(Reservation, "reserve_question", user=user, asker=asker, **vars(bounds), lease_s=lease_s)

    async def renew_reservation(self, reservation: str, *, lease_s: float) -> None:
        await self._call("renew_reservation", reservation=reservation, lease_s=lease_s)

    async def spent_in_a_day(
        self, person: UserId, *, questions: int | None = None, cost: float | None = None, token: UserId | None = None
    ) -> Spending:
        """What the person (by this token of theirs) has asked of models in the last 24 hours, over all chats, compared
        with these bounds (None: no bound)."""
        return await self._one(Spending, "spent_in_a_day", user=person, questions=questions, cost=cost, token=token)


def turn_row(turn: TurnMetrics) -> dict[str, object]:
    """As `save_turn` reads it."""
    usage = turn.usage
    waited = {"searching_s": usage.searching.seconds, "models_s": usage.models.seconds}
    spent = {name: getattr(usage, name) for name in ("calls", "prompt_tokens", "answer_tokens", "cost")}
    return {**vars(turn), "checked": turn.check, "usage": waited | spent}


class KeptFileStore(rows.Store):
    """Which files are kept, and which of them nobody has any more."""

    async def keep(self, base: BaseId, *, sha256: str, size_bytes: int, most_bytes: int) -> FileId | None:
        """The name under which the content is to be stored now, kept for an hour unless a document takes it; None when
        the base would keep more than `most_bytes`."""
        return await self._first(
            FileId, "keep_file", "id", base=base, hash=sha256, size_bytes=size_bytes, most_bytes=most_bytes
        )

    async def count_bytes(self, base: BaseId, token: UserId, size_bytes: int, *, per_day: int) -> int | None:
        """Counts what a token has uploaded; seconds to wait once it is more than `per_day` bytes today."""
        return await self._first(
            int, "count_bytes", "wait_s", base=base, token=token, bytes=size_bytes, per_day=per_day
        )

    async def release(self, limit: int) -> list[tuple[BaseId, FileId]]:
        """Files that no document has; they are told again until they are forgotten."""
        found = await self._call("release_files", limit=limit)
        return [(rows.value(BaseId, row["base_id"]), rows.value(FileId, row["id"])) for row in found]

    async def forget(self, files: Sequence[FileId]) -> None:
        """They are gone from the storage."""
        await self._call("forget_files", files=files)

    async def forget_additions(self) -> None:
        """Removes the answers that were kept for a day under an Idempotency-Key."""
        await self._call("forget_additions")


class StatisticsStore(rows.Store):
    """Figures for people, and what reading costs."""

    async def save_reading_cost(self, base: BaseId, document: DocumentId, cost: float) -> None:
        """What models have cost for reading the document, in US dollars."""
        await self._call("save_reading_cost", base=base, document=document, cost=cost)

    async def sender_spent_until(
        self,
        base: BaseId,
        document: DocumentId,
        *,
        cost: float | None,
        token_cost: float | None = None,
        exempt: Collection[int],
    ) -> datetime | None:
        """Until when reading the document may cost nothing more, as its sender, or the token that sent it, has spent so
        much (None: no bound); None: it may."""
        return await self._first(
            datetime,
            "sender_spent_until",
            "until",
            base=base,
            document=document,
            cost=cost,
            token_cost=token_cost,
            exempt=exempt,
        )

    async def of_base(self, base: BaseId, *, days: int, offset_minutes: int = 0) -> BaseStatistics:
        """The last `days` days, today included, by a clock that is so many minutes ahead of UTC."""
        return await self._one(BaseStatistics, "base_statistics", base=base, days=days, offset_minutes=offset_minutes)

    async def queue(self) -> QueueState:
        """Of all bases."""
        return await self._one(QueueState, "queue_state")

    async def of_all(self, *, days: int, offset_minutes: int = 0) -> OverallStatistics:
        """The same of everybody."""
        return await self._one(OverallStatistics, "overall_statistics", days=days, offset_minutes=offset_minutes)

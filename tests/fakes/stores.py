"""What the bot keeps, in memory: just enough for tests of its handlers, which look at what was asked for and said.

In and out: what the stores of the database and `PassageSearch` say, of documents that wait, are ready or
have ended. What workers do, how versions follow each other and what is found is the database's, and is tested there.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import inf

from adapters.database.stores.dialogue import DialogueStore
from adapters.database.stores.library import LibraryStore
from adapters.database.stores.people import PeopleStore
from domain.documents import Choice, DocumentCard, DocumentStatus, Removed, SourcedTable, SourceType
from domain.ids import BaseId, BatchId, ChatId, ChunkId, DocumentId, MessageId, SessionId, ThreadId, UserId
from domain.people import Mode, PendingQuestion, UserState
from domain.statistics import Spending
from ingestion.records import Batch, Block, EnqueuedDocument, Source
from rag.metering import TurnMetrics
from rag.ports import Dialogue
from rag.records import Candidate, Exchange, Passage, PastSession, SearchQuery
from rag.reservations import DayBounds, Refused, Reservation

DAY = timedelta(hours=24)


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


def fresh_id() -> str:
    """A UUID as text."""
    return str(uuid.uuid4())


@dataclass(kw_only=True)
class Sent:
    """One document that was sent."""

    id: DocumentId
    base_id: BaseId
    batch_id: BatchId
    batch: Batch
    source: Source
    title: str
    run_after: datetime
    expires_at: datetime | None
    created_at: datetime = field(default_factory=now)
    status: DocumentStatus = DocumentStatus.QUEUED
    passages: list[Passage] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def card(self) -> DocumentCard:
        """As the library shows it."""
        return DocumentCard(
            id=self.id,
            base_id=self.base_id,
            batch_id=self.batch_id,
            source_type=self.source.type,
            source_identifier=self.source.identifier,
            title=self.title,
            status=self.status,
            progress_done=0,
            progress_total=0,
            waits_for_service=False,
            error_code=None,
            language=None,
            pages=None,
            chunks=len(self.passages),
            searchable=len(self.passages),
            seconds=None,
            created_at=self.created_at,
            expires_at=self.expires_at,
            chat_id=self.batch.chat_id,
            message_id=self.batch.message_id,
            sent_by=self.batch.user_id,
            sender=self.batch.sender,
            author=self.source.author,
            published_at=self.source.published_at,
            url=self.source.url,
        )


class FakePeople(PeopleStore, DialogueStore):
    """`people` and `dialogues`."""

    def __init__(self) -> None:
        self.bases: dict[object, BaseId] = {}  # by (chat, thread) or by name
        self.states: dict[UserId, UserState] = {}
        self.asked: dict[tuple[UserId, SessionId], list[str]] = {}
        """The questions of each dialogue."""
        self.pending: dict[object, PendingQuestion] = {}  # by (chat, thread, person)

    async def open_base(
        self,
        chat: ChatId,
        *,
        thread: ThreadId | None,
        member: UserId | None,
        name: str | None = None,
        topic: str | None = None,
    ) -> BaseId:
        return self.bases.setdefault((chat, thread), BaseId(fresh_id()))

    async def forget(self, person: UserId) -> tuple[int, int]:
        return len(self.bases), 0

    async def open_named_base(self, name: str) -> BaseId:
        return self.bases.setdefault(name, BaseId(fresh_id()))

    async def named_bases(self, name: str) -> list[str]:
        return [key for key in self.bases if isinstance(key, str)]

    async def state(self, user: UserId, *, base: BaseId, language: str, thread: ThreadId | None = None) -> UserState:
        fresh = UserState(user_id=user, mode=None, session_id=SessionId(fresh_id()), base_id=base, language=language)
        return self.states.setdefault(user, fresh)

    async def set_mode(self, user: UserId, mode: Mode | None, *, thread: ThreadId | None = None) -> UserState:
        return await self._change(user, mode=mode)

    async def set_language(self, user: UserId, language: str) -> UserState:
        return await self._change(user, language=language)

    async def set_only(
        self, user: UserId, *, base: BaseId, document: DocumentId | None, thread: ThreadId | None = None
    ) -> UserState:
        return await self._change(user, only=document)

    async def new_session(self, user: UserId, *, thread: ThreadId | None = None) -> UserState:
        return await self._change(user, session_id=SessionId(fresh_id()))

    async def go_home(self, user: UserId, *, thread: ThreadId | None = None) -> UserState:
        return await self._change(user, base_id=await self.open_base(ChatId(user), thread=thread, member=None))

    async def clean_chat(self, user: UserId, *, base: BaseId | None = None) -> Removed:
        await self.new_session(user)
        gone = [key for key in self.asked if key[0] == user]
        return Removed(messages=sum(2 * len(self.asked.pop(key)) for key in gone))

    async def put_question(
        self, chat: ChatId, *, thread: ThreadId | None, person: UserId, question: PendingQuestion, seconds: int
    ) -> None:
        self.pending[chat, thread, person] = question

    async def take_question(
        self, chat: ChatId, *, thread: ThreadId | None, person: UserId, update: int
    ) -> PendingQuestion | None:
        return self.pending.pop((chat, thread, person), None)

    async def sessions(self, user: UserId, *, base: BaseId, limit: int) -> list[PastSession]:
        mine = [(session, said) for (owner, session), said in self.asked.items() if owner == user]
        return [PastSession(id=session, title=said[0], exchanges=len(said)) for session, said in mine[::-1][:limit]]

    async def resume(self, user: UserId, session: SessionId, *, thread: ThreadId | None = None) -> bool:
        if (user, session) not in self.asked:
            return False
        await self._change(user, session_id=session)
        return True

    async def recollect(
        self, user: UserId, session: SessionId, *, pairs: int, terms: Sequence[str], recalled: int
    ) -> Dialogue:
        said = self.asked.get((user, session), [])
        return Dialogue(window=tuple(Exchange(question=each, answer="…") for each in said[-pairs:]))

    def has_asked(self, user: UserId, question: str) -> None:
        """An exchange of the current dialogue, as a turn leaves it."""
        self.asked.setdefault((user, self.states[user].session_id), []).append(question)

    async def _change(self, user: UserId, **changes: object) -> UserState:
        own = await self.open_base(ChatId(user), thread=None, member=None)
        self.states[user] = replace(await self.state(user, base=own, language="ru"), **changes)  # type: ignore[arg-type]
        return self.states[user]


class FakeLibrary(LibraryStore):
    """`library`; also `intake`, `DocumentText` and `PassageSearch`."""

    def __init__(self) -> None:
        self.sent: dict[DocumentId, Sent] = {}
        self.ratings: dict[tuple[UserId, ChatId, MessageId], int] = {}
        self.turns: list[tuple[UserId, datetime, TurnMetrics]] = []
        self.answer_tables: dict[int, tuple[BaseId, SourcedTable]] = {}

    async def enqueue(self, batch: Batch, *, hold_s: int = 0) -> list[EnqueuedDocument]:
        sent = (batch.chat_id, batch.message_id)
        known = [row for row in self._of(batch.base_id) if (row.batch.chat_id, row.batch.message_id) == sent]
        if known and batch.message_id is not None:
            return [EnqueuedDocument(id=row.id, source=row.source, created=False) for row in known]
        album = (row for row in self._of(batch.base_id) if batch.media_group == row.batch.media_group is not None)
        number = next((row.batch_id for row in album), BatchId(fresh_id()))
        return [self._add(batch, number, source, hold_s) for source in batch.sources]

    async def join(self, batch: Batch, *, hold_s: int = 0) -> EnqueuedDocument | None:
        (words,) = batch.sources
        for row in self._of(batch.base_id):
            if row.source.type is SourceType.NOTE and row.run_after > now() and row.batch.user_id == batch.user_id:
                row.source = replace(row.source, text=f"{row.source.text}\n{words.text}")
                return EnqueuedDocument(id=row.id, source=words, created=True)
        return None

    async def refresh(self, batch: Batch, document: DocumentId) -> EnqueuedDocument | None:
        row = self._sent_as(batch.base_id, document)
        if row is None:
            return None
        is_over, row.status = row.status.is_final, DocumentStatus.QUEUED
        return EnqueuedDocument(id=row.id, source=row.source, created=is_over)

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        rows = self._listed(base, name_contains)[::-1]
        return [row.card() for row in rows[offset : offset + limit]]

    async def count(self, base: BaseId, *, name_contains: str | None = None) -> Removed:
        rows = self._listed(base, name_contains)
        failed = sum(row.status is DocumentStatus.FAILED for row in rows)
        return Removed(documents=len(rows) - failed, chunks=sum(len(row.passages) for row in rows), failed=failed)

    async def choose(self, base: BaseId, document: DocumentId, choice: Choice) -> bool:
        row = self._sent_as(base, document)
        if row is None or row.status is not DocumentStatus.CHOOSING:
            return False
        row.status = DocumentStatus.CANCELLED if choice is Choice.SKIP else DocumentStatus.QUEUED
        return True

    async def rename(self, base: BaseId, document: DocumentId, title: str, *, terms: Mapping[str, int]) -> bool:
        row = self._sent_as(base, document)
        if row:
            row.title = title
        return row is not None

    async def versions(self, base: BaseId, document: DocumentId) -> list[DocumentCard]:
        row = self._sent_as(base, document)
        return [row.card()] if row else []

    async def sender_of_batch(self, base: BaseId, batch: BatchId) -> UserId | None:
        return next((row.batch.user_id for row in self._of(base) if row.batch_id == batch), None)

    async def cancel_batch(self, base: BaseId, batch: BatchId) -> int:
        return sum([await self.cancel(base, row.id) for row in self._of(base) if row.batch_id == batch])

    async def card(self, base: BaseId, document: DocumentId) -> DocumentCard | None:
        row = self._sent_as(base, document)
        return row.card() if row else None

    async def cards(self, base: BaseId, documents: Sequence[DocumentId]) -> Mapping[DocumentId, DocumentCard]:
        return {each: card for each in documents if (card := await self.card(base, each))}

    async def cancel(self, base: BaseId, document: DocumentId) -> bool:
        row = self._sent_as(base, document)
        if row is None or row.status.is_final:
            return False
        row.status = DocumentStatus.CANCELLED
        return True

    async def delete(self, base: BaseId, document: DocumentId) -> bool:
        return self._sent_as(base, document) is not None and self.sent.pop(document) is not None

    async def keep(self, base: BaseId, document: DocumentId) -> bool:
        row = self._sent_as(base, document)
        if row:
            row.expires_at = None
        return row is not None

    async def keep_batch(self, base: BaseId, batch: BatchId) -> bool:
        return any([await self.keep(base, row.id) for row in self._of(base) if row.batch_id == batch])

    async def remove_expired(self) -> int:
        due = [row for row in self.sent.values() if row.expires_at and row.expires_at <= now()]
        return sum([await self.delete(row.base_id, row.id) for row in due])

    async def clean_base(self, base: BaseId) -> Removed:
        gone = await self.count(base)
        self.sent = {number: row for number, row in self.sent.items() if row.base_id != base}
        return gone

    async def save_feedback(self, user: UserId, base: BaseId, chat: ChatId, message: MessageId, *, rating: int) -> None:
        self.ratings[user, chat, message] = rating

    async def save_turn(
        self,
        user: UserId,
        base: BaseId,
        turn: TurnMetrics,
        *,
        asker: UserId | None = None,
        reservation: str | None = None,
    ) -> None:
        self.turns.append((asker or user, now(), turn))

    async def reserve_question(self, user: UserId, asker: UserId, *, bounds: DayBounds, lease_s: float) -> Reservation:
        """Of what is spent; what is being answered holds nothing here."""
        spent = await self.spent_in_a_day(asker, questions=bounds.questions, cost=bounds.cost)
        return Reservation(id="1") if spent.until is None else Reservation(refused=Refused.SPENT, until=spent.until)

    async def renew_reservation(self, reservation: str, *, lease_s: float) -> None:
        """Nothing ends here."""

    async def spent_in_a_day(
        self,
        person: UserId,
        *,
        questions: int | None = None,
        cost: float | None = None,
        token: UserId | None = None,
    ) -> Spending:
        """Of turns that called a model. All are of today."""
        mine = [(at, turn.usage.cost) for asker, at, turn in self.turns if asker == person and turn.usage.calls]
        spent = sum(cost for _, cost in mine)
        is_reached = bool(questions and len(mine) >= questions) or bool(cost and spent >= cost)
        return Spending(questions=len(mine), cost=spent, until=mine[0][0] + DAY if is_reached else None)

    async def save_table(self, user: UserId, base: BaseId, table: SourcedTable) -> int:
        number = len(self.answer_tables) + 1
        self.answer_tables[number] = (base, table)
        return number

    async def read_table(self, base: BaseId, number: int) -> SourcedTable | None:
        owner, table = self.answer_tables.get(number, (None, None))
        return table if owner == base else None

    async def blocks(self, base: BaseId, document: DocumentId, *, most_chars: float = inf) -> list[Block]:
        row = self._sent_as(base, document)
        return row.blocks if row else []

    async def search(self, query: SearchQuery) -> list[Candidate]:
        raise NotImplementedError("handlers search through the conversation")

    async def passage(self, base: BaseId, chunk: ChunkId) -> Passage | None:
        found = (passage for row in self._of(base) for passage in row.passages if passage.chunk_id == chunk)
        return next(found, None)

    async def holds_documents(self, base: BaseId) -> bool:
        return any(row.passages for row in self._of(base))

    def _add(self, batch: Batch, number: BatchId, source: Source, hold_s: int) -> EnqueuedDocument:
        row = Sent(
            id=DocumentId(fresh_id()),
            base_id=batch.base_id,
            batch_id=number,
            batch=batch,
            source=source,
            title=source.title or source.identifier,
            run_after=now() + timedelta(seconds=hold_s),
            expires_at=None if batch.ttl_s is None else now() + timedelta(seconds=batch.ttl_s),
        )
        self.sent[row.id] = row
        return EnqueuedDocument(id=row.id, source=source, created=True)

    def _of(self, base: BaseId) -> list[Sent]:
        return [row for row in self.sent.values() if row.base_id == base]

    def _sent_as(self, base: BaseId, document: DocumentId) -> Sent | None:
        return next((row for row in self._of(base) if row.id == document), None)

    def _listed(self, base: BaseId, name_contains: str | None) -> list[Sent]:
        listed = [row for row in self._of(base) if row.status is not DocumentStatus.CANCELLED]
        return [row for row in listed if (name_contains or "").lower() in row.title.lower()]


@dataclass(frozen=True, kw_only=True)
class FakeStores:
    """Both, shared by the people of one test."""

    people: FakePeople = field(default_factory=FakePeople)
    library: FakeLibrary = field(default_factory=FakeLibrary)

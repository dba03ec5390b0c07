"""The bot's own ports, as small Protocols; `adapters.database.stores` implements them structurally.

In and out: records of `domain`. All raise `domain.errors.DatabaseAway` when the database does not answer.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from domain.bases import Invitation, Joined, ListedBase, Member, Role, SentOver
from domain.documents import Choice, DocumentCard, Notice, Removed
from domain.ids import BaseId, BatchId, ChatId, DocumentId, FileId, MessageId, SessionId, ThreadId, UserId
from domain.people import Mode, PendingQuestion, Token, UserState
from domain.statistics import BaseStatistics, OverallStatistics, Spending
from domain.tables import SourcedTable
from rag.ports import Dialogue
from rag.records import PastSession
from rag.reservations import Reservations


class PeopleStore(Protocol):
    """Modes, dialogues and bases of people and groups."""

    async def open_base(
        self,
        chat: ChatId,
        *,
        thread: ThreadId | None,
        member: UserId | None,
        name: str | None = None,
        topic: str | None = None,
    ) -> BaseId:
        """The first base of a private chat (`chat` is the person), a group or a topic; made when it is not there yet.
        `name` is the chat's, `topic` the topic's."""
        ...

    async def open_named_base(self, name: str) -> BaseId:
        """The base of the command line with this name; made when it is not there yet."""
        ...

    async def named_bases(self, name: str) -> list[str]:
        """Names of command-line bases that hold documents (20 at most); `name` comes first if it is one of them."""
        ...

    async def state(self, user: UserId, *, base: BaseId, language: str, thread: ThreadId | None = None) -> UserState:
        """The state in this topic. Where there is none it is created: these values, no mode, a fresh dialogue."""
        ...

    async def set_mode(self, user: UserId, mode: Mode | None, *, thread: ThreadId | None = None) -> UserState:
        """Upserts on `user_id` and topic (seed 1, section 4.1.1)."""
        ...

    async def set_language(self, user: UserId, language: str) -> UserState: ...

    async def set_only(
        self, user: UserId, *, base: BaseId, document: DocumentId | None, thread: ThreadId | None = None
    ) -> UserState:
        """Questions are asked of this document of the base alone; None: of all."""
        ...

    async def new_session(self, user: UserId, *, thread: ThreadId | None = None) -> UserState:
        """Begin a new dialogue; the old one is kept."""
        ...

    async def go_home(self, user: UserId, *, thread: ThreadId | None = None) -> UserState:
        """Open the chat's own base, where the open one was closed to them."""
        ...

    async def clean_chat(self, user: UserId, *, base: BaseId | None = None) -> Removed:
        """Erase window, archive and summaries of dialogues about this base (None: all), and begin a new dialogue."""
        ...

    async def forget(self, person: UserId) -> tuple[int, int]:
        """Remove all that is theirs; how many bases and documents it was."""
        ...

    async def put_question(
        self, chat: ChatId, *, thread: ThreadId | None, person: UserId, question: PendingQuestion, seconds: int
    ) -> None:
        """Remember what the person was asked in this chat, for so long; an earlier question there is forgotten."""
        ...

    async def take_question(
        self, chat: ChatId, *, thread: ThreadId | None, person: UserId, update: int
    ) -> PendingQuestion | None:
        """What the person was asked there. It is given to the first `update` that comes, and again only to the same
        one, which is replayed after a crash."""
        ...


class Bases(Protocol):
    """Bases of people and groups, who else is in them, and links to join. All but `all`, `accept` and what Telegram
    says of groups raise BaseClosed or BaseReadOnly where who acts may not."""

    async def all(self, user: UserId, *, thread: ThreadId | None = None) -> list[ListedBase]:
        """Their own first."""
        ...

    async def show(self, base: BaseId) -> ListedBase | None: ...

    async def make(self, user: UserId, name: str) -> BaseId | None:
        """None when they own as many as anybody may."""
        ...

    async def rename(self, base: BaseId, name: str) -> bool: ...

    async def delete(self, base: BaseId) -> int | None:
        """How many documents it had; None for the first base of a chat, which stays."""
        ...

    async def open(self, user: UserId, base: BaseId, *, thread: ThreadId | None) -> None:
        """Open it in their chat or in a topic of it."""
        ...

    async def bind(self, base: BaseId, chat: ChatId, *, thread: ThreadId | None, name: str) -> None:
        """Open a base of who acts in a group, for all who write there."""
        ...

    async def keep_copy(self, base: BaseId, document: DocumentId, to: BaseId) -> FileId | None:
        """The name for the document's kept file in another base; None: there is none to copy."""
        ...

    async def send(self, base: BaseId, document: DocumentId, to: BaseId, *, move: bool) -> SentOver | None:
        """Copy or move a ready document; None where there is none. Raises NoRoom."""
        ...

    async def members(self, base: BaseId) -> list[Member]:
        """Everybody but the owner."""
        ...

    async def remove_member(self, base: BaseId, member: UserId) -> bool:
        """Take somebody off, or leave."""
        ...

    async def confirm_member(self, user: UserId, base: BaseId) -> bool:
        """Telegram says that the person is in the group whose base it is; False when they have not written there."""
        ...

    async def leave_group(self, chat: ChatId, member: UserId | None) -> None: ...

    async def invite(self, base: BaseId, secret_hash: str, *, role: Role, once: bool, days: int | None) -> Invitation:
        """A link; without `days` it does not end."""
        ...

    async def invitations(self, base: BaseId) -> list[Invitation]:
        """Those that still work, newest first."""
        ...

    async def revoke(self, base: BaseId, invitation: int) -> bool: ...

    async def accept(self, user: UserId, secret_hash: str, *, name: str) -> Joined | None:
        """None for a link that does not work (any more)."""
        ...


class Tokens(Protocol):
    """Tokens of the HTTP API that who acts has made."""

    async def add(self, base: BaseId | None, token_hash: str, *, is_read_only: bool, days: int | None) -> UserId:
        """For one base, or (None) all of theirs."""
        ...

    async def all(self, base: BaseId | None) -> list[Token]:
        """The oldest first."""
        ...

    async def revoke(self, base: BaseId | None, token: UserId) -> bool: ...


class Library(Reservations, Protocol):
    """What a base holds."""

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        """Newest first; duplicates, cancelled and superseded ones are left out."""
        ...

    async def count(self, base: BaseId, *, name_contains: str | None = None) -> Removed:
        """How many of the listed documents are ready, with their passages, how many are not, and how many failed."""
        ...

    async def choose(self, base: BaseId, document: DocumentId, choice: Choice) -> bool:
        """Answer the question that a CHOOSING document asks; False when it asks none any more."""
        ...

    async def rename(self, base: BaseId, document: DocumentId, title: str, *, terms: Mapping[str, int]) -> bool:
        """Give a document another name; False when there is none.

        In the same transaction the lexical `terms` of the new name (term -> count) replace those of the old name for
        all its passages. A document that is still being read gets them when it is published.
        """
        ...

    async def versions(self, base: BaseId, document: DocumentId) -> list[DocumentCard]:
        """The document and the versions that it replaced, newest first."""
        ...

    async def sender_of_batch(self, base: BaseId, batch: BatchId) -> UserId | None:
        """Who sent the documents of a batch together; None when the base holds none of them."""
        ...

    async def cancel_batch(self, base: BaseId, batch: BatchId) -> int:
        """Stop work on all documents of a batch that are not final; returns how many were stopped."""
        ...

    async def card(self, base: BaseId, document: DocumentId) -> DocumentCard | None: ...

    async def cancel(self, base: BaseId, document: DocumentId) -> bool:
        """Stop work on it; False when it was final already."""
        ...

    async def delete(self, base: BaseId, document: DocumentId) -> bool: ...

    async def keep(self, base: BaseId, document: DocumentId) -> bool:
        """Keep a temporary document (`Batch.ttl_s`) for good; False when there is no such document."""
        ...

    async def keep_batch(self, base: BaseId, batch: BatchId) -> bool:
        """The same for all documents of a batch; False when it has none."""
        ...

    async def remove_expired(self) -> int:
        """Remove the temporary documents of all bases whose time is over; returns how many."""
        ...

    async def clean_base(self, base: BaseId) -> Removed:
        """Remove everything, also what is being read right now."""
        ...

    async def save_feedback(
        self, user: UserId, base: BaseId, chat: ChatId, message: MessageId, *, rating: int
    ) -> None: ...

    async def spent_in_a_day(
        self, person: UserId, *, questions: int | None = None, cost: float | None = None
    ) -> Spending:
        """The person's use of models in the last 24 hours, over all chats, compared with these bounds (None: no
        bound)."""
        ...


class AnswerTables(Protocol):
    """Tables of answers, stored until a button asks for one as a file."""

    async def save_table(self, user: UserId, base: BaseId, table: SourcedTable) -> int:
        """Store a table; returns the number for its button."""
        ...

    async def read_table(self, base: BaseId, number: int) -> SourcedTable | None:
        """None when this base has no such table (any more)."""
        ...


class Statistics(Protocol):
    """Figures for people."""

    async def of_base(self, base: BaseId, *, days: int, offset_minutes: int = 0) -> BaseStatistics:
        """The last `days` days, today included, by a clock `offset_minutes` ahead of UTC."""
        ...

    async def of_all(self, *, days: int, offset_minutes: int = 0) -> OverallStatistics:
        """The same days over all bases and people; for admins only."""
        ...


class PastDialogues(Protocol):
    """The earlier dialogues of a person, which can be resumed."""

    async def sessions(self, user: UserId, *, base: BaseId, limit: int) -> list[PastSession]:
        """Those about this base, the latest first."""
        ...

    async def resume(self, user: UserId, session: SessionId, *, thread: ThreadId | None = None) -> bool:
        """Resume an earlier dialogue; False when this person has no such dialogue."""
        ...

    async def recollect(
        self, user: UserId, session: SessionId, *, pairs: int, terms: Sequence[str], recalled: int
    ) -> Dialogue:
        """The last `pairs` exchanges (`rag.ports.DialogueStore`)."""
        ...


class Notices(Protocol):
    """The live messages of batches. They survive restarts: a change that was not shown is shown later."""

    async def attach(self, batch: BatchId, message: MessageId) -> None:
        """Remember which message of ours is the live one."""
        ...

    async def due(self, *, limit: int, hold_s: int) -> Sequence[Notice]:
        """Batches that changed since they were shown. Each is leased to the caller for `hold_s` seconds."""
        ...

    async def confirm(self, batch: BatchId, *, revision: int) -> None:
        """The batch has been shown up to this revision; the lease ends."""
        ...


class InboxKeeper(Protocol):
    """Keeps updates from the moment they are acknowledged until they have been handled, each by one process at a time.

    An update is the Bot API's own JSON object and is passed on unread, hence the `Any`. A holder is a process, and
    holds an update until its lease of `lease_s` seconds runs out. All calls raise DatabaseAway.
    """

    async def receive(
        self, bot_id: int, update_id: int, payload: Mapping[str, Any], *, chat_id: int, holder: str, lease_s: float
    ) -> bool:
        """Store the update; whether this holder is to handle it. False when it is stored already (redelivered), or when
        others hold earlier updates of its chat: `hold` gives it out later."""
        ...

    async def hold(
        self, bot_id: int, holder: str, held: Collection[int], *, lease_s: float, takes_more: bool
    ) -> Mapping[int, Mapping[str, Any] | None]:
        """Renew the leases of `held`, and take updates that nobody holds (any more), in order within each chat.

        Returns the numbers of all that are held now, with the bodies of those that were taken. One of `held` that is
        missing is another holder's by now.
        """
        ...

    async def begin(self, bot_id: int, update_id: int, holder: str) -> int | None:
        """Count one more attempt to handle an update that `hold` gave; returns how many there were, this one included.
        None when it is another holder's by now."""
        ...

    async def finish(self, bot_id: int, update_id: int) -> None:
        """The update was handled; its body is dropped."""
        ...

    async def release(self, bot_id: int, holder: str) -> None:
        """The process stops: others may take at once what it has not handled."""
        ...

"""What the HTTP API needs, as small Protocols and one frozen record.

In: the composition root's parts (`bot.http_api` builds the record). Out: the same under the names of this package,
which chooses no adapter and knows nothing of `bot`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from domain.bases import ListedBase
from domain.documents import Added, Choice, DocumentCard, Once, Removed, Webhook
from domain.ids import BaseId, DocumentId, FileId, SessionId, UserId
from domain.people import Caller
from ingestion.records import Batch, Block
from rag.conversation import Conversation
from rag.metering import TurnMetrics
from rag.records import Answer, PastSession, SaidMessage
from rag.reservations import DayBounds, Reservations
from rag.retrieval.search import Retrieval


class Tokens(Protocol):
    """Whose request it is."""

    async def use(self, token_hash: str, *, per_minute: int) -> Caller | None:
        """Counts the request; None for a token that is unknown, revoked or over."""
        ...


class Bases(Protocol):
    """The bases of a person, for tokens that open all of them. `show` and what changes raise BaseClosed or
    BaseReadOnly."""

    async def all(self, user: UserId) -> list[ListedBase]: ...

    async def show(self, base: BaseId) -> ListedBase | None: ...

    async def make(self, user: UserId, name: str) -> BaseId | None:
        """None when the person owns as many as anybody may."""
        ...

    async def rename(self, base: BaseId, name: str) -> bool: ...

    async def delete(self, base: BaseId) -> int | None:
        """None for the first base of a chat, which stays."""
        ...


class Library(Reservations, Protocol):
    """What a base holds."""

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        """Newest first."""
        ...

    async def card(self, base: BaseId, document: DocumentId) -> DocumentCard | None: ...

    async def choose(self, base: BaseId, document: DocumentId, choice: Choice) -> bool:
        """Answer the question that a CHOOSING document asks; False when it asks none any more."""
        ...

    async def delete(self, base: BaseId, document: DocumentId) -> bool: ...

    async def count(self, base: BaseId, *, name_contains: str | None = None) -> Removed: ...


class Intake(Protocol):
    """Where documents wait to be read."""

    async def add(
        self, batch: Batch, *, token: UserId, replaces: DocumentId | None = None, once: Once | None = None
    ) -> Added:
        """Store the one source of a batch; `once` within a day again gives the same answer and stores nothing."""
        ...


class FileList(Protocol):
    """Which files are kept."""

    async def keep(self, base: BaseId, *, sha256: str, size_bytes: int, most_bytes: int) -> FileId | None:
        """The name under which to store it; None when the base would keep more than `most_bytes`."""
        ...

    async def count_bytes(self, base: BaseId, token: UserId, size_bytes: int, *, per_day: int) -> int | None:
        """Seconds to wait once the token has uploaded more than `per_day` bytes today."""
        ...


class Storage(Protocol):
    """The bytes of kept files. Raises ServiceError when it is away."""

    async def put(self, base: BaseId, file: FileId, content: Path) -> None:
        """Take a copy, which appears whole or not at all."""
        ...

    def read(self, base: BaseId, file: FileId) -> AsyncIterator[bytes]:
        """In pieces. Raises SourceError FILE_GONE."""
        ...


class Webhooks(Protocol):
    """Who is told when a document ends."""

    async def add(self, base: BaseId, *, url: str, secret: str, most: int) -> Webhook | None:
        """None when the base has `most` webhooks already."""
        ...

    async def all(self, base: BaseId) -> list[Webhook]: ...

    async def remove(self, base: BaseId, webhook: str) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class UploadLimits:
    """How much comes and stays."""

    folder: Path  # where an upload is until it is stored
    file_bytes: int
    bytes_per_day: int  # of one token
    kept_bytes: int  # of one base


class Texts(Protocol):
    """What was read out of documents."""

    async def blocks(self, base: BaseId, document: DocumentId) -> Sequence[Block]:
        """In order; empty when the base holds no such document."""
        ...


class Dialogues(Protocol):
    """What was said with a token."""

    async def sessions(self, user: UserId, *, base: BaseId, limit: int) -> list[PastSession]:
        """The latest first."""
        ...

    async def messages(
        self, user: UserId, session: SessionId, *, base: BaseId, limit: int, before: int | None = None
    ) -> list[SaidMessage]:
        """The last messages, or the last ones before the message `before`; oldest first."""
        ...


@dataclass(frozen=True, kw_only=True)
class ApiServices:
    """Everything outside HTTP that the endpoints use."""

    tokens: Tokens
    bases: Bases
    library: Library
    intake: Intake
    files: FileList
    storage: Storage
    uploads: UploadLimits
    webhooks: Webhooks
    new_secret: Callable[[], str]  # of a webhook
    check_address: Callable[[str], object]  # raises SourceError for one that leads inside
    text: Texts
    dialogues: Dialogues
    passages: Retrieval
    conversation: Conversation
    frugal_conversation: Conversation  # calls no model: for tokens that have used up the daily bounds of a person
    bounds_of: Callable[[Caller], DayBounds]  # of the token and its person
    token_spent_until: Callable[[Caller], Awaitable[datetime | None]]  # of API_DAILY_COST
    turn_ended: Callable[[TurnMetrics], None]  # for the metrics of this process
    worded: Callable[[Answer, str], str]  # the answer's text in full, never blank, in the language of the interface
    say: Callable[[str, str], str]  # (language, problem) -> its sentence
    failure: Callable[[DocumentCard, str], str]  # why a document was not read, in a language
    wake: Callable[[], None]  # wakes a worker of this process after something was enqueued
    default_language: str = "ru"
    requests_per_minute: int = 120  # of one token

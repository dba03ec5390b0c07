"""What the HTTP API needs, as one frozen record.

In: the composition root's parts (`bot.http_api` builds the record). Out: the same under the names of this package,
which knows the stores, chooses no other adapter, and knows nothing of `bot`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from adapters.database.stores import Stores
from adapters.kept_files import FolderFiles, SupabaseFiles
from domain.documents import DocumentCard
from domain.people import Caller
from rag.conversation import Conversation
from rag.metering import TurnMetrics
from rag.records import Answer
from rag.reservations import DayBounds
from rag.retrieval.search import Retrieval


@dataclass(frozen=True, kw_only=True)
class ApiServices:
    """Everything outside HTTP that the endpoints use."""

    stores: Stores  # each call for a base says for whom (`domain.people`)
    storage: FolderFiles | SupabaseFiles
    file_bytes: int
    bytes_per_day: int  # of the uploads of one token
    kept_bytes: int  # of one base
    new_secret: Callable[[], str]  # of a webhook
    check_address: Callable[[str], object]  # raises SourceError for one that leads inside
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

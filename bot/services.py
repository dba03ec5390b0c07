"""The dependencies of handlers and middlewares, and who the bot is talking with.

In: the composition root's parts; what the middlewares found out. Out: two frozen records, which handlers get under the
names `services` and `talk`; with the first the language that each chat has chosen (for messages sent before its state
is read, or when it cannot be) and how much a person may use models within 24 hours. They hold no message content, and
build nothing.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Set
from dataclasses import dataclass, field

from adapters.database.stores.dialogue import DialogueStore, TableStore
from adapters.database.stores.library import LibraryStore
from adapters.database.stores.people import BaseStore, PeopleStore, TokenStore
from adapters.database.stores.statistics import StatisticsStore
from bot.measures import Measures
from bot.replies.sending import Place
from bot.settings import Settings
from bot.texts import Texts, Words
from domain.ids import BaseId, ChatId, ThreadId, UserId
from domain.people import PendingQuestion, UserState
from domain.statistics import Spending
from ingestion.ports import DocumentText, IntakeQueue, KeptFiles
from rag.conversation import Conversation
from rag.ports import PassageSearch
from rag.reservations import DayBounds
from rag.small_talk import SmallTalkRule

Room = tuple[UserId, ThreadId | None]
"""Where a dialogue is held: a person or a group, and the topic. Topics wait for no other."""

CHATS = 10_000  # about 100 bytes each; the one noted least recently is evicted


@dataclass(frozen=True, kw_only=True)
class Talk:
    """One person or group, for the time of one update."""

    person: UserId  # who sent the message or pressed the button
    state: UserState  # of the person, or of the group
    base_id: BaseId  # of the person, the group or the topic
    words: Words
    place: Place  # where answers go
    asked: PendingQuestion | None = None  # by the bot, before this update; see `bot.handlers.filters`

    @property
    def room(self) -> Room:
        """Where this dialogue is held."""
        return self.state.user_id, self.state.thread


class ChosenLanguages:
    """Languages of private chats and groups; for unknown chats the caller decides."""

    def __init__(self, *, limit: int = CHATS) -> None:
        self._limit = limit
        self._known: dict[ChatId, str] = {}

    def note(self, chat: ChatId, language: str) -> None:
        """Set the chat's language."""
        self._known.pop(chat, None)
        self._known[chat] = language
        if len(self._known) > self._limit:
            del self._known[next(iter(self._known))]

    def of(self, chat: ChatId) -> str | None:
        """None when the chat's state has not been read yet."""
        return self._known.get(chat)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The bounds of one person and of one base; 0: no bound."""

    questions: int = 0  # in 24 hours; only questions that called a model count
    cost: float = 0.0  # US dollars in 24 hours
    passages: int = 0  # of a base
    exempt: Set[int] = frozenset()  # ADMIN_USERS

    @property
    def of_people(self) -> bool:
        """Whether anybody's questions are bounded."""
        return bool(self.questions or self.cost)

    def of_day(self, person: UserId) -> DayBounds:
        """Those of this person's questions."""
        if person in self.exempt:
            return DayBounds()
        return DayBounds(questions=self.questions or None, cost=self.cost or None)

    async def spending(self, person: UserId, library: LibraryStore) -> Spending | None:
        """The person's spending; None, without a database call, for a person without bounds. Raises DatabaseAway."""
        if not self.of_people or person in self.exempt:
            return None
        return await library.spent_in_a_day(person, questions=self.questions or None, cost=self.cost or None)


def bounds_of(settings: Settings) -> Bounds:
    """The bounds that the host has set."""
    bounds = settings.bounds
    return Bounds(
        questions=bounds.person_questions,
        cost=bounds.person_cost,
        passages=bounds.base_passages,
        exempt=settings.telegram.admin_users,
    )


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything outside Telegram that handlers and middlewares use."""

    people: PeopleStore
    bases: BaseStore
    tokens: TokenStore
    library: LibraryStore
    intake: IntakeQueue
    conversation: Conversation
    frugal_conversation: Conversation  # calls no model: for people who have used up their daily bounds
    dialogues: DialogueStore
    passages: PassageSearch
    text: DocumentText
    kept_files: KeptFiles
    answer_tables: TableStore
    statistics: StatisticsStore
    texts: Texts
    count_terms: Callable[[str], Mapping[str, int]]  # lexical terms of a document's name, term -> count
    small_talk: SmallTalkRule
    wake: Callable[[], None]  # wakes the notice loop and this process's worker after something was enqueued
    measures: Measures = field(default_factory=Measures)
    languages: ChosenLanguages = field(default_factory=ChosenLanguages)
    hear: Callable[[str], Awaitable[str]] | None = None  # file id of a voice message -> its words
    allowed_users: frozenset[int] = frozenset()  # empty: everybody
    admin_users: frozenset[int] = frozenset()
    bounds: Bounds = field(default_factory=Bounds)
    messages_per_minute: int = 40
    default_language: str = "ru"
    answers_generally: bool = True  # a model is configured and may answer from general knowledge
    file_limit_mb: int = 20  # of a file that is sent to the bot
    is_limited_by_telegram: bool = True  # the limit is Telegram's, not our own setting
    has_model: bool = True  # that writes answers
    is_local: bool = False  # people talk on the page of this machine, not on Telegram
    is_first_time: Callable[[str], bool] = lambda _: True  # for what this installation tells once in its life
    add_search: Callable[[], AsyncIterator[str]] | None = None  # brings search by meaning, and says how far it is

    @property
    def hears(self) -> str:
        """`yes` or `no`, for texts that promise to listen."""
        return "yes" if self.hear else "no"

    def is_owner(self, talk: Talk) -> bool:
        """Whether this person may change the installation: an admin, and whoever sits at the local page."""
        return talk.person in self.admin_users or (self.is_local and talk.place.is_private)

    def is_allowed(self, user: UserId) -> bool:
        """Whether this person may talk to the bot (ALLOWED_USERS; admins always may)."""
        return not self.allowed_users or user in self.allowed_users | self.admin_users

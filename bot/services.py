"""The dependencies of handlers and middlewares.

In: the composition root's parts. Out: one frozen record, which handlers get under the name `services`.
It builds nothing itself.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from bot.bounds import Bounds
from bot.languages import ChosenLanguages
from bot.metrics.measures import Measures
from bot.ports import AnswerTables, Bases, Library, PastDialogues, PeopleStore, Statistics, Tokens
from bot.talk import Talk
from bot.texts import Texts
from domain.ids import UserId
from ingestion.ports import DocumentText, IntakeQueue, KeptFiles
from rag.ports import PassageSearch
from rag.records import Question, TurnEvent
from rag.small_talk import SmallTalkRule


class Conversation(Protocol):
    """One turn, start to end (`rag.conversation`)."""

    def answer(self, question: Question, *, stop: asyncio.Event | None = None) -> AsyncIterator[TurnEvent]:
        """Events of the turn; the last one is `Answered`. Once `stop` is set it answers from the facts found so far."""
        ...


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything outside Telegram that handlers and middlewares use."""

    people: PeopleStore
    bases: Bases
    tokens: Tokens
    library: Library
    intake: IntakeQueue
    conversation: Conversation
    frugal_conversation: Conversation  # calls no model: for people who have used up their daily bounds
    dialogues: PastDialogues
    passages: PassageSearch
    text: DocumentText
    kept_files: KeptFiles
    answer_tables: AnswerTables
    statistics: Statistics
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

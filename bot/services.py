"""The dependencies of handlers and middlewares, and who the bot is talking with.

In: the composition root's parts; what the middlewares found out. Out: two frozen records, which handlers get under the
names `services` and `talk`. They hold no message content, and build nothing.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from aiogram import Bot
from aiogram.types import CallbackQuery, InlineKeyboardMarkup, Message

from adapters.database.stores import Stores
from bot.measures import Measures
from bot.settings import Settings
from bot.telegram import Keyboard, Place, acknowledge, edit, send
from bot.texts import Texts, Value, Words
from domain.ids import BaseId, ChatId, DocumentId, MessageId, ThreadId, UserId
from domain.people import PendingQuestion, UserState
from ingestion.ports import KeptFiles
from rag.conversation import Conversation
from rag.reservations import DayBounds
from rag.small_talk import SmallTalkRule

Room = tuple[UserId, ThreadId | None]
"""Where a dialogue is held: a person or a group, and the topic. Topics wait for no other."""

DAY_S = 86_400.0


class Refusal(Exception):
    """Nothing is done; `key` is that of the text that says why."""

    def __init__(self, key: str, **values: Value) -> None:
        super().__init__(key)
        self.key, self.values = key, values


@dataclass(frozen=True, kw_only=True)
class Talk:
    """One person or group and what they did, for the time of one update: handlers get it in place of the event."""

    event: Message | CallbackQuery
    bot: Bot
    services: "Services"
    done: asyncio.Event | None = None  # set when the next update of the chat may begin (`bot.inbox`)
    person: UserId  # who sent the message or pressed the button
    state: UserState  # of the person, or of the group
    place: Place  # where answers go
    asked: PendingQuestion | None = None  # by the bot, before this update; see `bot.handlers.filters`
    answered: asyncio.Event = field(default_factory=asyncio.Event)  # the press, so that its button stops spinning

    @property
    def base_id(self) -> BaseId:
        """The open one, of the person, the group or the topic."""
        return self.state.base_id

    @property
    def words(self) -> Words:
        """In their language."""
        return self.services.texts.for_language(self.state.language)

    @property
    def room(self) -> Room:
        """Where this dialogue is held."""
        return self.state.user_id, self.state.thread

    @property
    def stores(self) -> Stores:
        """Of all people; the functions themselves check what this person may."""
        return self.services.stores

    @property
    def message(self) -> Message:
        """What was sent; of a button the message above it, which `bot.handlers.filters.has_message` has found."""
        message = self.event.message if isinstance(self.event, CallbackQuery) else self.event
        if not isinstance(message, Message):
            raise TypeError("Telegram does not deliver the message of this button any more")
        return message

    async def ask_only(self, document: DocumentId | None) -> None:
        """Questions are asked of this document alone from now on; None: of all."""
        people, state = self.stores.people, self.state
        await people.set_only(state.user_id, base=self.base_id, document=document, thread=state.thread)

    def release(self) -> None:
        """Let what the chat sends meanwhile, as pressing «База», work at once: an answer takes long."""
        if self.done:
            self.done.set()

    async def say(self, html: str, keyboard: Keyboard | None = None) -> MessageId:
        """Send `html` there."""
        return await send(self.bot, self.place, html, keyboard)

    async def tell(self, key: str, keyboard: Keyboard | None = None, **values: Value) -> MessageId:
        """The same with a text of the locale."""
        return await self.say(self.words(key, **values), keyboard)

    async def reply(self, html: str, keyboard: Keyboard | None = None, *, to: Message | None = None) -> MessageId:
        """The same in reply to the person's message (or `to` another), in private chats, too."""
        answered = MessageId((to or self.message).message_id)
        return await send(self.bot, replace(self.place, reply_to=answered), html, keyboard)

    async def show(self, html: str, keyboard: InlineKeyboardMarkup | None = None) -> None:
        """Show `html` in place of the pressed button's message; after a message in one of its own."""
        if isinstance(self.event, CallbackQuery):
            await edit(self.bot, self.place.chat, MessageId(self.message.message_id), html, keyboard)
        else:
            await self.say(html, keyboard)

    async def acknowledge(self, key: str | None = None, *, alert: bool = False, **values: Value) -> None:
        """Answer the press, with a text of the locale that is shown for a moment; with `alert` until it is closed."""
        self.answered.set()
        if isinstance(self.event, CallbackQuery):
            await acknowledge(self.event, self.words.plain(key, **values) if key else None, alert=alert)


class Turns:
    """Serialises the turns of each dialogue, and remembers who was told what today."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Room, asyncio.Lock] = WeakValueDictionary()
        self._told_at: dict[tuple[str, UserId], float] = {}
        self._running: dict[Room, tuple[UserId, asyncio.Event]] = {}  # who asked, and what stops it

    @contextmanager
    def stoppable(self, room: Room, *, asker: UserId) -> Iterator[asyncio.Event]:
        """An event that `stop` sets while the context is open: the turn is to end with the facts found so far."""
        _, stop = self._running[room] = (asker, asyncio.Event())
        try:
            yield stop
        finally:
            del self._running[room]

    def asker(self, room: Room) -> UserId | None:
        """Who asked what is being answered there; None when nothing is."""
        return self._running[room][0] if room in self._running else None

    def stop(self, room: Room) -> bool:
        """Tell the running turn there to end; False when there is none."""
        if room in self._running:
            self._running[room][1].set()
        return room in self._running

    def order(self, room: Room) -> asyncio.Lock:
        """The lock that is held during a turn; waiters get it in the order in which they asked."""
        return self._locks.setdefault(room, asyncio.Lock())

    @asynccontextmanager
    async def at_rest(self, room: Room) -> AsyncIterator[None]:
        """No turn runs there while the context is open; a plan needs two stops: of its steps, of the answer."""
        order = self.order(room)
        while order.locked():
            self.stop(room)
            await asyncio.sleep(0.1)
        async with order:
            yield

    def may_tell(self, what: str, person: UserId) -> bool:
        """True once a day for each person, for what need not be repeated. It is forgotten with the process."""
        now = time.monotonic()
        if now - self._told_at.get((what, person), -DAY_S) < DAY_S:
            return False
        self._told_at[what, person] = now
        return True


def day_bounds(settings: Settings, person: UserId) -> DayBounds:
    """Of this person's questions that call a model; admins have none."""
    bounds = settings.bounds
    if person in settings.telegram.admin_users:
        return DayBounds()
    return DayBounds(questions=bounds.person_questions or None, cost=bounds.person_cost or None)


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything outside Telegram that handlers and middlewares use."""

    stores: Stores
    conversation: Conversation
    frugal_conversation: Conversation  # calls no model: for people who have used up their daily bounds
    kept_files: KeptFiles
    settings: Settings
    texts: Texts
    count_terms: Callable[[str], Mapping[str, int]]  # lexical terms of a document's name, term -> count
    small_talk: SmallTalkRule
    wake: Callable[[], None]  # wakes the notice loop and this process's worker after something was enqueued
    measures: Measures = field(default_factory=Measures)
    languages: dict[ChatId, str] = field(default_factory=dict)  # that chats have chosen, as far as their state was read
    turns: Turns = field(default_factory=Turns)
    hear: Callable[[str], Awaitable[str]] | None = None  # file id of a voice message -> its words
    is_first_time: Callable[[str], bool] = lambda _: True  # for what this installation tells once in its life
    add_search: Callable[[], AsyncIterator[str]] | None = None  # brings search by meaning, and says how far it is

    @property
    def hears(self) -> str:
        """`yes` or `no`, for texts that promise to listen."""
        return "yes" if self.hear else "no"

    def is_owner(self, talk: Talk) -> bool:
        """Whether this person may change the installation: an admin, and whoever sits at the local page."""
        telegram = self.settings.telegram
        return talk.person in telegram.admin_users or (telegram.token is None and talk.place.is_private)

    def is_allowed(self, user: UserId) -> bool:
        """Whether this person may talk to the bot (ALLOWED_USERS; admins always may)."""
        telegram = self.settings.telegram
        return not telegram.allowed_users or user in telegram.allowed_users | telegram.admin_users

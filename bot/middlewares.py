"""What every message and button press passes before a handler; the order is in `bot.dispatcher`.

In: updates. Out: the same updates with a `Talk`, or nothing when they are not for the bot. `Access`: who may talk to
the bot (ALLOWED_USERS). `Throttle`: how much one person may send in a minute. `OnlyAddressed`: in groups only what
addresses the bot. `ReadState`: who is talking, in which mode and language, with which base. Refusals read no state:
that costs a database call, or is the very call that failed.
"""

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import structlog
from aiogram import BaseMiddleware, Bot
from aiogram.dispatcher.middlewares.user_context import EVENT_CONTEXT_KEY, EventContext
from aiogram.enums import ChatType, MessageEntityType
from aiogram.types import CallbackQuery, Chat, Message, MessageEntity, ReplyParameters, TelegramObject, Update, User

from bot.handlers.filters import is_in_group
from bot.inbox import TICKET, Ticket
from bot.replies.sending import Place, acknowledge
from bot.services import Services, Talk
from bot.telegram import COMMANDS
from bot.texts import Value, Words, language_of
from domain.bases import Role
from domain.ids import ChatId, MessageId, ThreadId, UserId
from domain.people import UserState, acting_for

Handler = Callable[[Any, dict[str, Any]], Awaitable[Any]]
"""The next middleware or the handler. The dict is aiogram's: the values that handlers get by parameter name."""
log = structlog.get_logger()
WINDOW_S = 60.0
BURST_FACTOR = 10  # a file or forward costs a row in the queue, a question costs a model call
FILES = ("document", "photo", "audio", "video", "animation")
BURSTS = (*FILES, "voice", "video_note", "forward_origin")
"""Fields of messages that people select and send many at a time."""
ALBUMS = 1000  # addressed albums that are remembered; their other files arrive within a second
ALBUM_S = 2.0  # how long a file waits for another file of its album that addresses the bot
_COMMAND = re.compile(r"/(?P<name>\w+)(?:@(?P<bot>\w+))?(?:\s|$)")


def words_for(event: Message | CallbackQuery, services: Services) -> Words:
    """Texts in the language that the chat has chosen, if it is known; else in that of the person's Telegram."""
    message = event.message if isinstance(event, CallbackQuery) else event
    chosen = services.languages.get(ChatId(message.chat.id)) if message else None
    code = event.from_user.language_code if event.from_user else None
    return services.texts.for_language(chosen or language_of(code, default=services.settings.answer.interface_language))


async def answer_event(
    event: Message | CallbackQuery, words: Words, key: str, *, in_reply: bool = False, **values: Value
) -> None:
    """Answer a press with a pop-up, a message with a message; with `in_reply` the answer is a reply to it."""
    if isinstance(event, CallbackQuery):
        await acknowledge(event, words.plain(key, **values), alert=True)
        return
    answered = ReplyParameters(message_id=event.message_id, allow_sending_without_reply=True) if in_reply else None
    await event.answer(words(key, **values), reply_parameters=answered)


class Access(BaseMiddleware):
    """Lets allowed people through."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        if not isinstance(event, Message | CallbackQuery) or event.from_user is None:
            return None
        services, person = self._services, UserId(event.from_user.id)
        if services.is_allowed(person):
            return await handler(event, data)
        if isinstance(event, CallbackQuery) or (
            not event.left_chat_member and services.turns.may_tell("refused", person)
        ):  # a press is always answered; who left a group has said nothing
            log.info("access.refused", user=person)
            await answer_event(event, words_for(event, services), "refused", user=str(person))
        return None


class Throttle(BaseMiddleware):
    """Counts per person, in memory; a restart resets the counts."""

    def __init__(self, services: Services, *, bursts: Sequence[str] = BURSTS) -> None:
        """Messages with one of the fields in `bursts` have the larger limit."""
        self._services = services
        self._bursts = bursts
        self._recent: dict[tuple[int, bool], deque[float]] = {}
        self._warned: set[tuple[int, bool]] = set()

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        if not isinstance(event, Message | CallbackQuery) or event.from_user is None:
            return None
        in_burst = isinstance(event, Message) and any(getattr(event, name) for name in self._bursts)
        of_person = (event.from_user.id, in_burst)
        limit = self._services.settings.telegram.messages_per_minute * (BURST_FACTOR if in_burst else 1)
        self._forget_before(time.monotonic() - WINDOW_S)
        times = self._recent.setdefault(of_person, deque())
        if len(times) < limit:
            times.append(time.monotonic())
            return await handler(event, data)
        if of_person not in self._warned or isinstance(event, CallbackQuery):  # an unanswered button keeps spinning
            self._warned.add(of_person)
            key = "too-often-pressed" if isinstance(event, CallbackQuery) else "too-often"
            await answer_event(event, words_for(event, self._services), key, in_reply=True)
        return None

    def _forget_before(self, horizon: float) -> None:
        for of_person, times in list(self._recent.items()):
            while times and times[0] <= horizon:
                times.popleft()
                self._warned.discard(of_person)
            if not times:
                del self._recent[of_person]


@dataclass(kw_only=True, eq=False)
class _Held:
    """The waiting files of an album in which no file has addressed the bot so far."""

    until: float = 0.0  # by the event loop's clock
    files: int = 0
    addressed: asyncio.Event = field(default_factory=asyncio.Event)
    one_by_one: asyncio.Lock = field(default_factory=asyncio.Lock)
    handled: asyncio.Event = field(default_factory=asyncio.Event)


class OnlyAddressed(BaseMiddleware):
    """Drops messages that do not address the bot. One file of an album carries the caption, which addresses the bot for
    all of them: later files pass as well, and earlier ones wait for it."""

    def __init__(self) -> None:
        self._albums = deque[str](maxlen=ALBUMS)
        self._held: dict[str, _Held] = {}

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        if not isinstance(event, Message) or event.from_user is None or event.from_user.is_bot:
            return None
        if event.chat.type == ChatType.PRIVATE:
            return await handler(event, data)
        bot: Bot = data["bot"]
        me, album = await bot.me(), event.media_group_id
        if is_addressed(event, me):
            if album:
                self._albums.append(album)
            if album and (held := self._held.get(album)):
                # The files that came before are handled first: if the process dies in between, the inbox replays this
                # one, too, and through it the others are addressed again.
                held.addressed.set()
                await held.handled.wait()
            return await handler(without_mention(event, me), data)
        if album in self._albums:
            return await handler(event, data)
        return await self._hold(album, handler, event, data) if album else None

    async def _hold(self, album: str, handler: Handler, event: Message, data: dict[str, Any]) -> Any:
        """Handle the file once another file of its album has addressed the bot; drop it when none does in time."""
        held = self._held.setdefault(album, _Held())
        held.files += 1
        ticket = data.get(TICKET)
        if isinstance(ticket, Ticket):
            ticket.release()  # otherwise the next file, and what others write meanwhile, would wait for this one
        clock = asyncio.get_running_loop().time
        held.until = clock() + ALBUM_S  # extends the wait of the earlier files, too
        try:
            while not held.addressed.is_set() and (left := held.until - clock()) > 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(held.addressed.wait(), left)
            if held.addressed.is_set():
                async with held.one_by_one:  # in the order in which they came
                    return await handler(event, data)
        finally:
            held.files -= 1
            if not held.files:
                held.handled.set()
                del self._held[album]
        return None


def is_addressed(message: Message, me: User) -> bool:
    """Whether a group's message is meant for `me`, or tells that somebody has left, or of a topic's other name."""
    text = message.text or message.caption or ""
    if command := _COMMAND.match(message.text or "") if message.forward_origin is None else None:
        name, bot = command["name"], command["bot"]
        return _is_name_of(bot, me) if bot else name in COMMANDS
    if message.left_chat_member or message.forum_topic_edited:
        return True
    replied = message.reply_to_message
    if replied and replied.from_user and replied.from_user.id == me.id:
        return True
    return any(_mentions(text, entity, me) for entity in message.entities or message.caption_entities or [])


def without_mention(message: Message, me: User) -> Message:
    """The message without its mentions of the bot; the offsets of its other entities are adjusted."""
    text, entities = message.text or message.caption, message.entities or message.caption_entities or []
    if not text or not (mentions := [entity for entity in entities if _mentions(text, entity, me)]):
        return message
    for mention in reversed(mentions):
        text, entities = _taken_out(text, entities, mention)
    fields = ("text", "entities") if message.text else ("caption", "caption_entities")
    return message.model_copy(update=dict(zip(fields, (text, entities), strict=True)))


def _taken_out(text: str, entities: list[MessageEntity], mention: MessageEntity) -> tuple[str, list[MessageEntity]]:
    """Text and entities without `mention` and the space after it. Offsets and lengths are in UTF-16 units."""
    units = text.encode("utf-16-le")
    start, end = mention.offset, mention.offset + mention.length
    end += units[end * 2 : end * 2 + 2] == " ".encode("utf-16-le")
    kept = (units[: start * 2] + units[end * 2 :]).decode("utf-16-le")
    moved = [
        entity.model_copy(update={"offset": entity.offset - (end - start)}) if entity.offset >= end else entity
        for entity in entities
        if entity is not mention
    ]
    return kept, moved


def _mentions(text: str, entity: MessageEntity, me: User) -> bool:
    if entity.type == MessageEntityType.TEXT_MENTION:
        return entity.user is not None and entity.user.id == me.id
    return entity.type == MessageEntityType.MENTION and _is_name_of(entity.extract_from(text).lstrip("@"), me)


def _is_name_of(name: str, me: User) -> bool:
    return name.lower() == (me.username or "").lower()


class ReadState(BaseMiddleware):
    """Reads `user_state`; raises DatabaseAway, which the errors handler turns into a sentence."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        """In a group the answer is a reply to the message."""
        context: EventContext = data[EVENT_CONTEXT_KEY]
        chat, user, thread = context.chat, context.user, context.thread_id
        if chat is None or user is None or not isinstance(event, Message | CallbackQuery):
            return None
        is_private = chat.type == ChatType.PRIVATE
        place = Place(
            chat=ChatId(chat.id),
            thread=ThreadId(thread) if thread is not None else None,
            reply_to=MessageId(event.message_id) if isinstance(event, Message) and not is_private else None,
            is_private=is_private,
        )
        update: Update = data["event_update"]
        state, asked = await asyncio.gather(
            self._state(user, chat, place, event),
            self._services.stores.people.take_question(
                place.chat, thread=place.thread, person=UserId(user.id), update=update.update_id
            ),
        )
        self._services.languages[place.chat] = state.language
        talk = Talk(
            event=event,
            bot=data["bot"],
            services=self._services,
            ticket=data.get(TICKET),
            person=UserId(user.id),
            state=state,
            base_id=state.base_id,
            words=self._services.texts.for_language(state.language),
            place=place,
            asked=asked,
        )
        with acting_for(state.user_id):
            data["talk"] = talk if state.role else await self._left(talk)
            return await handler(event, data)

    async def _state(self, user: User, chat: Chat, place: Place, event: Message | CallbackQuery) -> UserState:
        """The name of the topic is told by Telegram in the message that began it."""
        people, person = self._services.stores.people, UserId(user.id)
        told = (event, event.reply_to_message) if isinstance(event, Message) else ()
        topic = next((each.forum_topic_created.name for each in told if each and each.forum_topic_created), None)
        name = user.full_name if place.is_private else chat.title
        base = await people.open_base(place.chat, thread=place.thread, member=person, name=name, topic=topic)
        language = language_of(user.language_code, default=self._services.settings.answer.interface_language)
        owner = person if place.is_private else UserId(place.chat)
        return await people.state(owner, base=base, language=language, thread=place.thread)

    async def _left(self, talk: Talk) -> Talk:
        """The right to the open base has ended. That to a group's base ends after a day; then Telegram is asked."""
        state, people = talk.state, self._services.stores.people
        is_there = state.base_group and await is_in_group(talk.bot, state.base_group, talk.person)
        if is_there and await self._services.stores.bases.confirm_member(talk.person, state.base_id):
            return replace(talk, state=replace(state, role=Role.READER))
        home = await people.go_home(state.user_id, thread=state.thread)
        await talk.tell("base-left", name=state.base_name or "")
        return replace(talk, state=home, base_id=home.base_id)

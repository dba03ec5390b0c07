"""The bot's pipeline: the middlewares that every update passes, outermost first, and the routers in order.

In: `Services`. Out: an aiogram `Dispatcher`, which `bot.inbox` feeds. Handlers get a `Talk`, or nothing of what is not
for the bot: in groups what does not address it (`OnlyAddressed`), strangers (`only_allowed`), too much in a minute
(`Throttle`); `read_state` finds who is talking, in which mode, language and base. Refusals read no state: that costs a
database call, or is the very call that failed. What no router took (unknown commands, dead buttons) and every unhandled
exception gets one useful sentence; an exception also a log entry under the number that is shown.
"""

import asyncio
import secrets
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import structlog
from aiogram import BaseMiddleware, Dispatcher, Router
from aiogram.dispatcher.middlewares.user_context import EVENT_CONTEXT_KEY, EventContext
from aiogram.enums import ChatType
from aiogram.exceptions import TelegramAPIError, TelegramForbiddenError
from aiogram.types import CallbackQuery, Chat, ErrorEvent, Message, ReplyParameters, TelegramObject, Update, User

from adapters.database.transport import DatabaseAway
from bot.handlers import answering, bases, filters, library, menu, messages, sources, stats
from bot.handlers.filters import is_command, is_in_group, own_words
from bot.handlers.received import is_addressed, without_mention
from bot.inbox import DONE
from bot.services import Refusal, Services, Talk
from bot.telegram import Place, acknowledge
from bot.texts import Value, Words, language_of
from domain.bases import Role
from domain.errors import BaseClosed, BaseReadOnly
from domain.ids import ChatId, MessageId, ThreadId, UserId
from domain.people import UserState, acting_for
from ingestion.errors import TooManyWaiting

_REFUSALS: Mapping[type[Exception], str] = {
    BaseClosed: "base-closed",
    BaseReadOnly: "base-read-only",
    TooManyWaiting: "too-many-waiting",
}
log = structlog.get_logger()
Handler = Callable[[Any, dict[str, Any]], Awaitable[Any]]
"""The next middleware or the handler. The dict is aiogram's: the values that handlers get by parameter name."""
BURST_FACTOR = 10  # a file or forward costs a row in the queue, a question costs a model call
FILES = ("document", "photo", "audio", "video", "animation")
BURSTS = (*FILES, "voice", "video_note", "forward_origin")
"""Fields of messages that people select and send many at a time."""
ALBUMS = 1000  # addressed albums that are remembered; their other files arrive within a second
ALBUM_S = 2.0  # how long an album waits for its file that addresses the bot


def build_dispatcher(services: Services) -> Dispatcher:
    """A new dispatcher with its own routers. It subscribes only to messages, button presses (the stop button of a draft
    included) and who leaves a group; edited messages and channel posts never arrive."""
    dispatcher = Dispatcher(disable_fsm=True, services=services)
    dispatcher.message.middleware(_give_talk)
    dispatcher.callback_query.middleware(_give_talk)
    dispatcher.errors.register(apologise)

    for_both = (only_allowed, Throttle(), read_state)
    for middleware in (OnlyAddressed(), *for_both):
        dispatcher.message.outer_middleware(middleware)
    for middleware in for_both:
        dispatcher.callback_query.outer_middleware(middleware)

    joining, commands, keeping = Router(name="joining"), Router(name="commands"), Router(name="keeping")
    questions, unknown = Router(name="asking"), Router(name="unknown buttons")
    bases.register_joining(joining)
    commands.message.filter(own_words)
    menu.register(commands, services.texts)
    bases.register(commands)
    filters.register(commands)
    library.register(commands, services.texts)
    stats.register(commands)
    sources.register(commands)
    answering.register(commands)
    commands.message.register(partial(refuse, key="unknown-command"), is_command)
    messages.register_keeping(keeping)
    messages.register_asking(questions)
    questions.message.outer_middleware(Throttle(bursts=FILES))  # the mode is known by then
    unknown.callback_query.register(partial(refuse, key="unknown-button"))
    dispatcher.include_routers(joining, commands, keeping, questions, unknown)
    return dispatcher


async def _give_talk(handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
    """Handlers get what the others know of the update, with the event in it. A press that a handler has not answered is
    answered after it, so that no button keeps spinning; those that take long answer it first."""
    talk: Talk = data.pop("talk")  # as the first argument, which is not given once more by its name
    try:
        await handler(talk, data)
    except Refusal as refusal:
        if isinstance(talk.event, CallbackQuery):
            await talk.acknowledge(refusal.key, alert=True, **refusal.values)
        else:
            await talk.say(talk.words(refusal.key, **refusal.values))
    if not talk.answered.is_set():
        await talk.acknowledge()


async def refuse(talk: Talk, key: str) -> None:
    """A mistyped command, neither a question nor a note; a button of an older version or under a too old message."""
    raise Refusal(key)


async def apologise(failure: ErrorEvent, services: Services) -> bool:
    """The last handler of any exception: logs it and tells the person in a sentence."""
    event, error, update = failure.update.message or failure.update.callback_query, failure.exception, failure.update
    if isinstance(error, TelegramForbiddenError):
        log.info("handler.nobody_there", update_id=update.update_id)
        return True
    values: dict[str, Any] = {}
    if key := _REFUSALS.get(type(error), ""):
        log.info("handler.refused", update_id=update.update_id, refusal=key)
        values = {"most": error.most} if isinstance(error, TooManyWaiting) else {}
    else:
        number, is_away = secrets.token_hex(4), isinstance(error, DatabaseAway)
        key, values = ("database-away", {}) if is_away else ("trouble", {"number": number})
        report = log.warning if is_away else log.error
        report("handler.failed", number=number, update_id=update.update_id, exc_info=error)
    try:
        if event:
            await answer_event(event, words_for(event, services), key, **values)
    except TelegramAPIError as trouble:
        log.warning("handler.could_not_tell", update_id=update.update_id, error=type(trouble).__name__)
    return True


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


async def only_allowed(handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
    if not isinstance(event, Message | CallbackQuery) or event.from_user is None:
        return None
    services, person = data["services"], UserId(event.from_user.id)
    if services.is_allowed(person):
        return await handler(event, data)
    has_left = isinstance(event, Message) and event.left_chat_member  # who left a group has said nothing
    if isinstance(event, CallbackQuery) or (not has_left and services.turns.may_tell("refused", person)):
        log.info("access.refused", user=person)
        await answer_event(event, words_for(event, services), "refused", user=str(person))
    return None


class Throttle(BaseMiddleware):
    """Counts per person and minute, in memory; a restart resets the counts."""

    def __init__(self, *, bursts: Sequence[str] = BURSTS) -> None:
        """Messages with one of the fields in `bursts` have the larger limit."""
        self._bursts = bursts
        self._minute_ends = 0.0
        self._sent = Counter[tuple[int, bool]]()

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        if not isinstance(event, Message | CallbackQuery) or event.from_user is None:
            return None
        if (now := time.monotonic()) >= self._minute_ends:
            self._minute_ends, self._sent = now + 60, Counter()
        in_burst, is_press = any(getattr(event, name, None) for name in self._bursts), isinstance(event, CallbackQuery)
        of_person = (event.from_user.id, in_burst)
        self._sent[of_person] += 1
        services: Services = data["services"]
        allowed = services.settings.telegram.messages_per_minute * (BURST_FACTOR if in_burst else 1)
        beyond = self._sent[of_person] - allowed
        if beyond <= 0:
            return await handler(event, data)
        if beyond == 1 or is_press:  # an unanswered button keeps spinning
            key = "too-often-pressed" if is_press else "too-often"
            await answer_event(event, words_for(event, services), key, in_reply=True)
        return None


class OnlyAddressed(BaseMiddleware):
    """Drops messages that do not address the bot. One file of an album carries the caption, which addresses the bot for
    all of them, and it may be the last one: files that come before it wait, and are handled before it. So if the
    process dies in between, the inbox replays it, too, and through it the others are addressed again."""

    def __init__(self) -> None:
        self._albums = deque[str](maxlen=ALBUMS)
        self._waited = deque[str](maxlen=ALBUMS)  # albums that have waited
        self._order = WeakValueDictionary[str, asyncio.Lock]()  # in which the files of an album came

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        if not isinstance(event, Message) or event.from_user is None or event.from_user.is_bot:
            return None
        if event.chat.type == ChatType.PRIVATE:
            return await handler(event, data)
        me, album = await data["bot"].me(), event.media_group_id
        is_for_us = is_addressed(event, me)
        event = without_mention(event, me)
        if album is None:
            return await handler(event, data) if is_for_us else None
        if is_for_us:
            self._albums.append(album)
        if done := data.get(DONE):
            done.set()  # otherwise the next file, and what others write meanwhile, would wait for this one
        async with self._order.setdefault(album, asyncio.Lock()):
            if album not in self._albums and album not in self._waited:
                await asyncio.sleep(ALBUM_S)
                self._waited.append(album)
            return await handler(event, data) if album in self._albums else None


async def read_state(handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
    """Reads `user_state`. In a group the answer is a reply to the message. Raises DatabaseAway, which the errors
    handler turns into a sentence."""
    context: EventContext = data[EVENT_CONTEXT_KEY]
    chat, user, thread = context.chat, context.user, context.thread_id
    if chat is None or user is None or not isinstance(event, Message | CallbackQuery):
        return None
    services: Services = data["services"]
    is_private = chat.type == ChatType.PRIVATE
    place = Place(
        chat=ChatId(chat.id),
        thread=ThreadId(thread) if thread is not None else None,
        reply_to=MessageId(event.message_id) if isinstance(event, Message) and not is_private else None,
        is_private=is_private,
    )
    update: Update = data["event_update"]
    state, asked = await asyncio.gather(
        _state(services, user, chat, place, event),
        services.stores.people.take_question(
            place.chat, thread=place.thread, person=UserId(user.id), update=update.update_id
        ),
    )
    services.languages[place.chat] = state.language
    talk = Talk(
        event=event,
        bot=data["bot"],
        services=services,
        done=data.get(DONE),
        person=UserId(user.id),
        state=state,
        place=place,
        asked=asked,
    )
    with acting_for(state.user_id):
        data["talk"] = talk if state.role else await _left(talk)
        return await handler(event, data)


async def _state(services: Services, user: User, chat: Chat, place: Place, event: Message | CallbackQuery) -> UserState:
    """The name of the topic is told by Telegram in the message that began it."""
    people, person = services.stores.people, UserId(user.id)
    told = (event, event.reply_to_message) if isinstance(event, Message) else ()
    topic = next((each.forum_topic_created.name for each in told if each and each.forum_topic_created), None)
    name = user.full_name if place.is_private else chat.title
    base = await people.open_base(place.chat, thread=place.thread, member=person, name=name, topic=topic)
    language = language_of(user.language_code, default=services.settings.answer.interface_language)
    owner = person if place.is_private else UserId(place.chat)
    return await people.state(owner, base=base, language=language, thread=place.thread)


async def _left(talk: Talk) -> Talk:
    """The right to the open base has ended. That to a group's base ends after a day; then Telegram is asked."""
    state, people = talk.state, talk.stores.people
    is_there = state.base_group and await is_in_group(talk.bot, state.base_group, talk.person)
    if is_there and await talk.stores.bases.confirm_member(talk.person, state.base_id):
        return replace(talk, state=replace(state, role=Role.READER))
    home = await people.go_home(state.user_id, thread=state.thread)
    await talk.tell("base-left", name=state.base_name or "")
    return replace(talk, state=home)

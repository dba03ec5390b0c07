"""The bot's pipeline in one place: the middlewares that every update passes, outermost first, and the routers in order.

In: `Services`. Out: an aiogram `Dispatcher`, ready to be fed. `bot.inbox` feeds it and waits for running handlers. What
no router took (unknown commands, dead buttons) and every unhandled exception gets one useful sentence; an exception
also a log entry under the number that is shown.
"""

import secrets
from collections.abc import Mapping
from typing import Any

import structlog
from aiogram import Dispatcher, Router
from aiogram.exceptions import TelegramAPIError, TelegramForbiddenError
from aiogram.types import CallbackQuery, ErrorEvent, TelegramObject

from adapters.database.transport import DatabaseAway
from bot.handlers import answering, bases, clean, filters, library, menu, messages, sources, stats, tokens
from bot.handlers.filters import is_command, own_words
from bot.middlewares import FILES, Handler, OnlyAddressed, Throttle, answer_event, only_allowed, read_state, words_for
from bot.services import Refusal, Services, Talk
from domain.errors import BaseClosed, BaseReadOnly
from ingestion.errors import TooManyWaiting

_REFUSALS: Mapping[type[Exception], str] = {
    BaseClosed: "base-closed",
    BaseReadOnly: "base-read-only",
    TooManyWaiting: "too-many-waiting",
}

log = structlog.get_logger()


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
    tokens.register(commands)
    filters.register(commands)
    library.register(commands, services.texts)
    clean.register(commands)
    stats.register(commands)
    sources.register(commands)
    answering.register(commands)
    commands.message.register(unknown_command, is_command)
    messages.register_keeping(keeping)
    messages.register_asking(questions)
    questions.message.outer_middleware(Throttle(bursts=FILES))  # the mode is known by then
    unknown.callback_query.register(unknown_button)
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


async def unknown_command(talk: Talk) -> None:
    """A mistyped command is neither a question nor a note."""
    raise Refusal("unknown-command")


async def unknown_button(talk: Talk) -> None:
    """A button of an older version, or under a message that is too old."""
    raise Refusal("unknown-button")


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

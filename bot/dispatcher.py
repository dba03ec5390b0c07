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
from aiogram.types import CallbackQuery, ErrorEvent, Message, TelegramObject

from adapters.database.transport import DatabaseAway
from bot.handlers import (
    answering,
    base,
    bases,
    chat,
    clean,
    document,
    filters,
    going_on,
    library,
    menu,
    sharing,
    sources,
    stats,
    tokens,
)
from bot.handlers.filters import is_command
from bot.middlewares import FILES, Access, Handler, OnlyAddressed, ReadState, Throttle, answer_event, words_for
from bot.services import Refusal, Services, Talk
from bot.texts import Words
from domain.errors import BaseClosed, BaseReadOnly
from ingestion.errors import TooManyWaiting

_REFUSALS: Mapping[type[Exception], str] = {BaseClosed: "base-closed", BaseReadOnly: "base-read-only"}

log = structlog.get_logger()


def build_dispatcher(services: Services) -> Dispatcher:
    """A new dispatcher with its own routers. It subscribes only to messages, button presses (the stop button of a draft
    included) and who leaves a group; edited messages and channel posts never arrive."""
    dispatcher = Dispatcher(disable_fsm=True, services=services)
    dispatcher.message.middleware(_give_talk)
    dispatcher.callback_query.middleware(_give_talk)
    dispatcher.errors.register(apologise)

    for_both = (Access(services), Throttle(services), ReadState(services))
    for middleware in (OnlyAddressed(), *for_both):
        dispatcher.message.outer_middleware(middleware)
    for middleware in for_both:
        dispatcher.callback_query.outer_middleware(middleware)

    questions = chat.build_router()
    questions.message.outer_middleware(Throttle(services, bursts=FILES))  # the mode is known by then
    dispatcher.include_routers(
        sharing.build_router(),
        menu.build_router(services.texts),
        bases.build_router(),
        tokens.build_router(),
        filters.build_router(),
        library.build_router(services.texts),
        document.build_router(),
        clean.build_router(),
        stats.build_router(),
        sources.build_router(),
        going_on.build_router(),
        answering.build_router(),
        build_unknown_commands(),
        base.build_router(),
        questions,
        build_unknown_buttons(),
    )
    return dispatcher


async def _give_talk(handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
    """Handlers get what the others know of the update, with the event in it. A press that a handler has not answered is
    answered after it, so that no button keeps spinning; those that take long answer it first."""
    talk: Talk = data.pop("talk")  # as the first argument, which is not given once more by its name
    try:
        await handler(talk, data)
    except Refusal as refusal:
        await talk.acknowledge(refusal.key, alert=True, **refusal.values)
    if not talk.answered.is_set():
        await talk.acknowledge()


def build_unknown_commands() -> Router:
    """Comes before the modes in the order of routers: a mistyped command is neither a question nor a note."""
    router = Router(name="unknown commands")
    router.message.register(unknown_command, is_command)
    return router


def build_unknown_buttons() -> Router:
    """Comes last in the order of routers."""
    router = Router(name="unknown buttons")
    router.callback_query.register(unknown_button)
    return router


async def unknown_command(talk: Talk) -> None:
    """Says where the list of commands is."""
    await talk.tell("unknown-command")


async def unknown_button(talk: Talk) -> None:
    """A button of an older version, or under a message that is too old."""
    await talk.acknowledge("unknown-button", alert=True)


async def apologise(failure: ErrorEvent, services: Services) -> bool:
    """The last handler of any exception: logs it and tells the person in a sentence."""
    event = failure.update.message or failure.update.callback_query
    if isinstance(failure.exception, TelegramForbiddenError):
        log.info("handler.nobody_there", update_id=failure.update.update_id)
        return True
    if isinstance(failure.exception, TooManyWaiting) and event is not None:
        await answer_event(event, words_for(event, services), "too-many-waiting", most=failure.exception.most)
        return True
    if event and (refusal := _REFUSALS.get(type(failure.exception))):
        log.info("handler.without_right", update_id=failure.update.update_id, refusal=refusal)
        await answer_event(event, words_for(event, services), refusal)
        return True
    number = secrets.token_hex(4)
    away = isinstance(failure.exception, DatabaseAway)
    report = log.warning if away else log.error
    report("handler.failed", number=number, update_id=failure.update.update_id, exc_info=failure.exception)
    if event is not None:
        await _tell(event, words_for(event, services), away=away, number=number)
    return True


async def _tell(event: Message | CallbackQuery, words: Words, *, away: bool, number: str) -> None:
    try:
        if away:
            await answer_event(event, words, "database-away")
        else:
            await answer_event(event, words, "trouble", number=number)
    except TelegramAPIError as error:
        log.warning("handler.could_not_tell", number=number, error=type(error).__name__)

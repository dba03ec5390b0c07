"""Handles what no other handler took (unknown commands, dead buttons) and every unhandled exception.

In: such events. Out: one useful sentence; for an exception also a log entry under the number that is shown.
"""

import secrets
from collections.abc import Mapping

import structlog
from aiogram import Bot, Router
from aiogram.exceptions import TelegramAPIError, TelegramForbiddenError
from aiogram.types import CallbackQuery, ErrorEvent, Message

from adapters.database.transport import DatabaseAway
from bot.handlers.filters import is_command
from bot.middlewares import answer_event, words_for
from bot.replies.sending import acknowledge, send
from bot.services import Services
from bot.talk import Talk
from bot.texts import Words
from domain.errors import BaseClosed, BaseReadOnly
from ingestion.errors import TooManyWaiting

_REFUSALS: Mapping[type[Exception], str] = {BaseClosed: "base-closed", BaseReadOnly: "base-read-only"}

log = structlog.get_logger()


def build_command_router() -> Router:
    """Comes before the modes in the order of routers: a mistyped command is neither a question nor a note."""
    router = Router(name="unknown commands")
    router.message.register(unknown_command, is_command)
    return router


def build_button_router() -> Router:
    """Comes last in the order of routers."""
    router = Router(name="unknown buttons")
    router.callback_query.register(unknown_button)
    return router


async def unknown_command(message: Message, bot: Bot, talk: Talk) -> None:
    """Says where the list of commands is."""
    await send(bot, talk.place, talk.words("unknown-command"))


async def unknown_button(query: CallbackQuery, talk: Talk) -> None:
    """A button of an older version, or under a message that is too old."""
    await acknowledge(query, talk.words.plain("unknown-button"), alert=True)


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

"""The Bot API: its client, requests retried where that is safe, downloads, the bot's menu, messages sent and edited.

In: each request of a bot, as a middleware of its session; a file id; `Texts`. Out: its result, or the error of the last
attempt (aiogram itself never retries); bytes on disk, or an ingestion error that says what to do; the menu of commands
and the bot's own description in both languages; message ids, where the errors that are to be expected are no errors.
Bodies are never logged.
"""

import asyncio
import random
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import structlog
from aiogram import Bot
from aiogram.client.default import DefaultBotProperties
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.session.middlewares.base import BaseRequestMiddleware, NextRequestMiddlewareType
from aiogram.client.telegram import PRODUCTION, TelegramAPIServer
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
)
from aiogram.methods import Response, TelegramMethod
from aiogram.methods.base import TelegramType
from aiogram.types import BotCommand, CallbackQuery, InlineKeyboardMarkup, Message, ReplyKeyboardMarkup, ReplyParameters
from aiohttp import ClientConnectorError, ClientError, ClientResponseError

from bot.measures import Measures
from bot.texts import LANGUAGES, Texts
from domain.ids import ChatId, MessageId, ThreadId
from ingestion.errors import FailureCode, ServiceError, SourceError

log = structlog.get_logger()
TRIES = 4
LONGEST_WAIT_S = 60.0  # a longer retry_after is raised to the caller: the person would have given up long before
FIRST_PAUSE_S = 0.5  # doubled at each retry
# Not retried: a moment later these are worthless, and the next one is sent anyway.
_FLEETING = frozenset({"sendMessageDraft", "sendChatAction", "getUpdates"})
_IDEMPOTENT_PREFIXES = ("get", "set", "delete", "edit", "answer")
TELEGRAM_FILE_MB = 20  # core.telegram.org/bots/api#getfile
DOWNLOAD_S = 300  # in total; aiogram's own 30 s are too short for 20 MB on a slow connection
_MB = 2**20
POPUP_CHARACTERS = 200  # Telegram's limit for answerCallbackQuery

COMMANDS = (
    "start", "chat", "base", "docs", "bases", "api", "new", "dialogs", "clean", "stats", "language", "privacy", "help",
)  # fmt: skip


@asynccontextmanager
async def open_bot(token: str, api_url: str | None, measures: Measures | None = None) -> AsyncIterator[Bot]:
    """A client of the Bot API at `api_url` (None: Telegram's own) that retries requests where that is safe."""
    session = AiohttpSession(api=TelegramAPIServer.from_base(api_url) if api_url else PRODUCTION)
    session.middleware(RetryRequests(measures or Measures()))
    bot = Bot(token, session=session, default=DefaultBotProperties(parse_mode="HTML", link_preview_is_disabled=True))
    try:
        yield bot
    finally:
        await session.close()


class RetryRequests(BaseRequestMiddleware):
    """Retries a request when that cannot do it twice: after 429 any, since Telegram has done nothing; after a lost
    connection or a server error idempotent ones, or where no connection was ever made."""

    def __init__(self, measures: Measures, *, first_pause_s: float = FIRST_PAUSE_S) -> None:
        self._measures = measures
        self._first_pause_s = first_pause_s

    async def __call__(
        self, make_request: NextRequestMiddlewareType[TelegramType], bot: Bot, method: TelegramMethod[TelegramType]
    ) -> Response[TelegramType]:
        """Raises the error of the last attempt."""
        name, number = method.__api_method__, 0
        while True:
            number += 1
            try:
                return await make_request(bot, method)
            except TelegramAPIError as error:
                self._measures.bot_api_failed(name, type(error).__name__)
                wait_s = self._pause_before_next(error, name, number)
                if wait_s is None:
                    raise
                log.info("telegram.retry", method=name, error=type(error).__name__, wait_s=wait_s)
            await asyncio.sleep(wait_s)

    def _pause_before_next(self, error: TelegramAPIError, name: str, number: int) -> float | None:
        """Seconds to wait, or None when the request must not be retried."""
        if name in _FLEETING or number == TRIES:
            return None
        if isinstance(error, TelegramRetryAfter):
            return error.retry_after if error.retry_after <= LONGEST_WAIT_S else None
        was_never_sent = isinstance(error.__cause__, ClientConnectorError)
        is_passing = isinstance(error, TelegramNetworkError | TelegramServerError)
        if not (is_passing and (was_never_sent or name.startswith(_IDEMPOTENT_PREFIXES))):
            return None
        spread = random.uniform(0.75, 1.25)  # noqa: S311 - keeps processes apart, no secret
        return float(self._first_pause_s * 2 ** (number - 1) * spread)


class BotFiles:
    """Downloads through the bot, from Telegram's servers or a local Bot API server."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def download(self, file_id: str, target: Path, *, limit_bytes: int) -> None:
        """Write the file to `target`. Raises SourceError (too large, gone) or ServiceError (Telegram is away)."""
        try:
            # A self-hosted server answers only after it has fetched the whole file.
            file = await self._bot.get_file(file_id, request_timeout=DOWNLOAD_S)
            if not file.file_path or (file.file_size or 0) > limit_bytes:
                raise _too_large(limit_bytes)
            await self._fetch(file.file_path, target)
        except (TelegramAPIError, ClientError, TimeoutError, PermissionError) as error:
            raise _failure(error, limit_bytes) from error
        if (await asyncio.to_thread(target.stat)).st_size > limit_bytes:
            raise _too_large(limit_bytes)

    async def _fetch(self, path: str, target: Path) -> None:
        """A self-hosted server (`telegram-bot-api --local`) returns a path on its disk: there the file is copied."""
        if self._bot.session.api is not PRODUCTION and Path(path).is_absolute():
            with suppress(FileNotFoundError):  # the server runs on another machine
                await asyncio.to_thread(shutil.copyfile, path, target)
                return
        await self._bot.download_file(path, target, timeout=DOWNLOAD_S)


def _too_large(limit_bytes: int) -> SourceError:
    return SourceError(FailureCode.FILE_TOO_LARGE, limit_mb=limit_bytes // _MB)


def _failure(error: Exception, limit_bytes: int) -> SourceError | ServiceError:
    """Of a failed download only the HTTP status is kept: the file's URL contains the bot's token."""
    detail, wait_s = type(error).__name__, None
    if isinstance(error, TelegramRetryAfter):
        wait_s = float(error.retry_after)
    elif isinstance(error, TelegramBadRequest | TelegramNotFound):
        if "file is too big" in error.message:
            return _too_large(min(limit_bytes, TELEGRAM_FILE_MB * _MB))
        return SourceError(FailureCode.FILE_GONE, detail=error.message)
    elif isinstance(error, ClientResponseError):
        detail = f"HTTP {error.status}"
        if error.status in (401, 403, 404, 410):
            return SourceError(FailureCode.FILE_GONE, detail=detail)
    elif isinstance(error, PermissionError):
        detail = "the files of the local Bot API server may not be read by this user"
    return ServiceError(FailureCode.SERVICE_AWAY, retry_after_s=wait_s, detail=detail, service="Telegram")


async def announce_commands(bot: Bot, texts: Texts) -> None:
    """Tell Telegram the texts of each language, the first one's for all others. A failure must not stop the start."""
    try:
        for code in (None, *LANGUAGES):
            words = texts.for_language(code or LANGUAGES[0])
            menu = [BotCommand(command=name, description=words.plain(f"command-{name}")) for name in COMMANDS]
            await bot.set_my_commands(menu, language_code=code)
            await bot.set_my_description(words.plain("bot-description"), language_code=code)
            await bot.set_my_short_description(words.plain("bot-short-description"), language_code=code)
    except TelegramAPIError as error:
        log.warning("commands.not_announced", error=type(error).__name__)


Keyboard = InlineKeyboardMarkup | ReplyKeyboardMarkup


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an answer goes."""

    chat: ChatId
    thread: ThreadId | None = None
    reply_to: MessageId | None = None
    is_private: bool = True


def answering(place: Place) -> ReplyParameters | None:
    """What makes a message a reply to another, as long as that one is there."""
    return ReplyParameters(message_id=place.reply_to, allow_sending_without_reply=True) if place.reply_to else None


async def send(bot: Bot, place: Place, html: str, keyboard: Keyboard | None = None) -> MessageId:
    """Send `html`; when the message to reply to is gone, it is sent without the reply."""
    sent = await bot.send_message(
        place.chat,
        html,
        message_thread_id=place.thread,
        reply_parameters=answering(place),
        reply_markup=keyboard,
    )
    return MessageId(sent.message_id)


async def edit(
    bot: Bot, chat: ChatId, message: MessageId, html: str, keyboard: InlineKeyboardMarkup | None = None
) -> bool:
    """Make the message show `html`; False when it can no longer be edited (deleted, too old)."""
    try:
        await bot.edit_message_text(html, chat_id=chat, message_id=message, reply_markup=keyboard)
    except TelegramBadRequest as error:
        return "message is not modified" in error.message
    return True


async def take_away(shown: Message) -> bool:
    """Delete a message; False when it was deleted already, for instance by a first press of its button."""
    try:
        await shown.delete()
    except TelegramBadRequest as refused:  # gone, or too old to be deleted: then it stays
        return "message to delete not found" not in refused.message
    return True


async def acknowledge(query: CallbackQuery, text: str | None = None, *, alert: bool = False) -> None:
    """Answer a press, so that its button stops spinning; for an old one Telegram rejects it, and nobody waits."""
    with suppress(TelegramBadRequest):
        await query.answer(text[:POPUP_CHARACTERS] if text else None, show_alert=alert)

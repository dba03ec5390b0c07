"""Downloads files that were sent to the bot.

In: a file id. Out: bytes on disk, or an ingestion error that says what to do. It implements
`ingestion.ports.TelegramFiles`.
"""

import asyncio
import shutil
from pathlib import Path

from aiogram import Bot
from aiogram.client.telegram import PRODUCTION
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
)
from aiogram.types import File
from aiohttp import ClientError, ClientResponseError

from ingestion.errors import FailureCode, ServiceError, SourceError

TELEGRAM_FILE_MB = 20  # core.telegram.org/bots/api#getfile
DOWNLOAD_S = 300  # in total; aiogram's own 30 s are too short for 20 MB on a slow connection
SERVICE = "Telegram"
_TOO_BIG = "file is too big"
_MB = 2**20


class BotFiles:
    """Downloads through the bot, from Telegram's servers or a local Bot API server."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def download(self, file_id: str, target: Path, *, limit_bytes: int) -> None:
        """Write the file to `target`. Raises SourceError (too large, gone) or ServiceError (Telegram is away)."""
        file = await self._find(file_id, limit_bytes)
        if not file.file_path or (file.file_size or 0) > limit_bytes:
            raise _too_large(limit_bytes)
        try:
            await self._fetch(file.file_path, target)
        except ClientResponseError as error:
            raise _failed_download(error) from error
        except PermissionError as error:
            detail = "the files of the local Bot API server may not be read by this user"
            raise ServiceError(FailureCode.SERVICE_AWAY, detail=detail, service=SERVICE) from error
        except (ClientError, TelegramAPIError, TimeoutError) as error:
            raise _away(error) from error
        if (await asyncio.to_thread(target.stat)).st_size > limit_bytes:
            raise _too_large(limit_bytes)

    async def _fetch(self, path: str, target: Path) -> None:
        """A self-hosted server (`telegram-bot-api --local`) returns a path on its disk; on the same machine the file is
        copied, not downloaded."""
        is_own_server = self._bot.session.api is not PRODUCTION
        if is_own_server and Path(path).is_absolute() and await asyncio.to_thread(_copied, Path(path), target):
            return
        await self._bot.download_file(path, target, timeout=DOWNLOAD_S)

    async def _find(self, file_id: str, limit_bytes: int) -> File:
        try:
            # A self-hosted server answers only after it has fetched the whole file.
            return await self._bot.get_file(file_id, request_timeout=DOWNLOAD_S)
        except TelegramRetryAfter as error:
            raise ServiceError(
                FailureCode.SERVICE_AWAY, retry_after_s=error.retry_after, detail="429", service=SERVICE
            ) from error
        except (TelegramBadRequest, TelegramNotFound) as error:
            if _TOO_BIG in error.message:
                raise _too_large(min(limit_bytes, TELEGRAM_FILE_MB * _MB)) from error
            raise SourceError(FailureCode.FILE_GONE, detail=error.message) from error
        except (TelegramNetworkError, TelegramServerError) as error:
            raise _away(error) from error


def _copied(path: Path, target: Path) -> bool:
    """False when there is no such file: the server runs on another machine. Raises PermissionError."""
    try:
        shutil.copyfile(path, target)
    except FileNotFoundError:
        return False
    return True


def _too_large(limit_bytes: int) -> SourceError:
    return SourceError(FailureCode.FILE_TOO_LARGE, limit_mb=limit_bytes // _MB)


def _away(error: Exception) -> ServiceError:
    return ServiceError(FailureCode.SERVICE_AWAY, detail=type(error).__name__, service=SERVICE)


def _failed_download(error: ClientResponseError) -> SourceError | ServiceError:
    """Keeps only the HTTP status: the file's URL contains the bot's token."""
    if error.status in (401, 403, 404, 410):
        return SourceError(FailureCode.FILE_GONE, detail=f"HTTP {error.status}")
    return ServiceError(FailureCode.SERVICE_AWAY, detail=f"HTTP {error.status}", service=SERVICE)

"""Files that were sent to the bot.

In: a file id. Out: bytes on disk, or an ingestion error that says what to do. It meets `ingestion.ports.TelegramFiles`.
"""

import asyncio
from pathlib import Path

from aiogram import Bot
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

DOWNLOAD_S = 300  # in all; aiogram's own 30 s are too few for 20 MB on a slow line
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
            await self._bot.download_file(file.file_path, target, timeout=DOWNLOAD_S)
        except ClientResponseError as error:
            raise _failed_download(error) from error
        except FileNotFoundError as error:  # a local server names paths on this disk
            raise SourceError(FailureCode.FILE_GONE, detail="the local Bot API server has no such file") from error
        except (ClientError, TelegramAPIError, TimeoutError) as error:
            raise _away(error) from error
        if (await asyncio.to_thread(target.stat)).st_size > limit_bytes:
            raise _too_large(limit_bytes)

    async def _find(self, file_id: str, limit_bytes: int) -> File:
        try:
            return await self._bot.get_file(file_id)
        except TelegramRetryAfter as error:
            raise ServiceError(
                FailureCode.SERVICE_AWAY, retry_after_s=error.retry_after, detail="429", service=SERVICE
            ) from error
        except (TelegramBadRequest, TelegramNotFound) as error:
            if _TOO_BIG in error.message:
                raise _too_large(limit_bytes) from error
            raise SourceError(FailureCode.FILE_GONE, detail=error.message) from error
        except (TelegramNetworkError, TelegramServerError) as error:
            raise _away(error) from error


def _too_large(limit_bytes: int) -> SourceError:
    return SourceError(FailureCode.FILE_TOO_LARGE, limit_mb=limit_bytes // _MB)


def _away(error: Exception) -> ServiceError:
    return ServiceError(FailureCode.SERVICE_AWAY, detail=type(error).__name__, service=SERVICE)


def _failed_download(error: ClientResponseError) -> SourceError | ServiceError:
    """The file's address holds the bot's token: only the status goes on."""
    if error.status in (401, 403, 404, 410):
        return SourceError(FailureCode.FILE_GONE, detail=f"HTTP {error.status}")
    return ServiceError(FailureCode.SERVICE_AWAY, detail=f"HTTP {error.status}", service=SERVICE)

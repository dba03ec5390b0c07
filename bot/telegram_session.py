"""Retries requests to the Bot API where that is safe.

In: each request of a bot, as a middleware of its session. Out: its result, or the error of the last attempt. aiogram
itself never retries a request (reference/apis.md, section 1). Bodies are never logged.
"""

import asyncio
import random
from collections.abc import Callable

import structlog
from aiogram import Bot
from aiogram.client.session.middlewares.base import BaseRequestMiddleware, NextRequestMiddlewareType
from aiogram.exceptions import TelegramAPIError, TelegramNetworkError, TelegramRetryAfter, TelegramServerError
from aiogram.methods import Response, TelegramMethod
from aiogram.methods.base import TelegramType
from aiohttp import ClientConnectorError

log = structlog.get_logger()

TRIES = 4
LONGEST_WAIT_S = 60.0  # a longer retry_after is raised to the caller: the person would have given up long before
FIRST_PAUSE_S = 0.5  # doubled at each retry

# Not retried: a moment later these are worthless, and the next one is sent anyway.
_FLEETING = frozenset({"sendMessageDraft", "sendChatAction", "getUpdates"})
_IDEMPOTENT_PREFIXES = ("get", "set", "delete", "edit", "answer")


class RetryRequests(BaseRequestMiddleware):
    """Retries a request when that cannot do it twice.

    After 429 Telegram has done nothing, so any request is retried. After a lost connection or a server error only
    idempotent requests are: a message that may have been sent is not sent again, unless no connection was ever made.
    """

    def __init__(self, *, tries: int = TRIES, first_pause_s: float = FIRST_PAUSE_S) -> None:
        self._tries = tries
        self._first_pause_s = first_pause_s

    async def __call__(
        self, make_request: NextRequestMiddlewareType[TelegramType], bot: Bot, method: TelegramMethod[TelegramType]
    ) -> Response[TelegramType]:
        """Raises the error of the last attempt."""
        for number in range(1, self._tries):
            try:
                return await make_request(bot, method)
            except (TelegramRetryAfter, TelegramNetworkError, TelegramServerError) as error:
                wait_s = self._pause_before_next(error, method.__api_method__, number)
                if wait_s is None:
                    raise
                log.info("telegram.retry", method=method.__api_method__, error=type(error).__name__, wait_s=wait_s)
                await asyncio.sleep(wait_s)
        return await make_request(bot, method)

    def _pause_before_next(self, error: Exception, name: str, number: int) -> float | None:
        """Seconds to wait, or None when the request must not be retried."""
        if name in _FLEETING:
            return None
        if isinstance(error, TelegramRetryAfter):
            return error.retry_after if error.retry_after <= LONGEST_WAIT_S else None
        was_never_sent = isinstance(error.__cause__, ClientConnectorError)
        if not (was_never_sent or name.startswith(_IDEMPOTENT_PREFIXES)):
            return None
        spread = random.uniform(0.75, 1.25)  # noqa: S311 - keeps processes apart, no secret
        return float(self._first_pause_s * 2 ** (number - 1) * spread)


class CountFailures(BaseRequestMiddleware):
    """Reports each failed request to `heard`: the method's name and the error's name."""

    def __init__(self, heard: Callable[[str, str], None]) -> None:
        self._heard = heard

    async def __call__(
        self, make_request: NextRequestMiddlewareType[TelegramType], bot: Bot, method: TelegramMethod[TelegramType]
    ) -> Response[TelegramType]:
        """Raises what the request raised."""
        try:
            return await make_request(bot, method)
        except TelegramAPIError as error:
            self._heard(method.__api_method__, type(error).__name__)
            raise

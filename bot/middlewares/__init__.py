"""Middlewares that every message and button press passes before a handler; the order is in `bot.dispatcher`.

In: updates. Out: the same updates with a `Talk`, or nothing when they are not for the bot.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from aiogram.types import TelegramObject

Handler = Callable[[TelegramObject, dict[str, Any]], Awaitable[Any]]
"""The next middleware or the handler. The dict is aiogram's: the values that handlers get by parameter name."""

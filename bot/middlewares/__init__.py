"""What happens to every message and button before a handler sees it; the order is in `bot.dispatcher`.

In: updates. Out: the same ones with a `Talk`, or nothing when they are not for us.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from aiogram.types import TelegramObject

Handler = Callable[[TelegramObject, dict[str, Any]], Awaitable[Any]]
"""Whatever comes next: another middleware or the handler. The dict is aiogram's own, of what handlers get by name."""

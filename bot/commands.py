"""The menu of commands and the bot's own description, in both languages.

In: `Texts`. Out: setMyCommands and the description calls at start-up. `bot.handlers` carries the commands out.
"""

import structlog
from aiogram import Bot
from aiogram.exceptions import TelegramAPIError
from aiogram.types import BotCommand

from bot.texts import LANGUAGES, Texts, Words

log = structlog.get_logger()

COMMANDS = (
    "start",
    "chat",
    "base",
    "docs",
    "bases",
    "api",
    "new",
    "dialogs",
    "clean",
    "stats",
    "language",
    "privacy",
    "help",
)


def menu(words: Words) -> list[BotCommand]:
    """The commands in the order of the menu."""
    return [BotCommand(command=name, description=words.plain(f"command-{name}")) for name in COMMANDS]


async def announce_commands(bot: Bot, texts: Texts) -> None:
    """Tell Telegram the texts of each language; all other languages get the first one's. A failure is only logged: it
    must not stop the start."""
    try:
        for code in (None, *LANGUAGES):
            words = texts.for_language(code or LANGUAGES[0])
            await bot.set_my_commands(menu(words), language_code=code)
            await bot.set_my_description(words.plain("bot-description"), language_code=code)
            await bot.set_my_short_description(words.plain("bot-short-description"), language_code=code)
    except TelegramAPIError as error:
        log.warning("commands.not_announced", error=type(error).__name__)

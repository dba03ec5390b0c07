"""The long-running commands: the bot, the worker, or both in one process, until a signal stops them.

In: `Settings`. Out: a bot that answers and a worker that reads, and the lines that `make run` prints. The parts are
made by `bot.app`; here they are started and stopped.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from aiogram import Bot, Dispatcher

from bot.app import Parts, open_bot, open_parts
from bot.cli.output import print_line
from bot.cli.troubles import CommandError
from bot.commands import announce_commands
from bot.dispatcher import build_dispatcher
from bot.inbox import Inbox
from bot.localchat.server import serve_local_chat
from bot.localchat.store.settings import read_token
from bot.notices import NoticeLoop
from bot.receiving import WEBHOOK_PATH, poll, webhook_server
from bot.services import Services
from bot.settings import Settings, TelegramSettings
from bot.telegram_files import BotFiles
from bot.texts import Texts, Words, load_texts

log = structlog.get_logger()

LOCALCHAT_FOLDER = "localchat"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where people talk to the bot."""

    bot: Bot
    address: str  # what to open: the local chat's page, or the bot's on Telegram


async def serve(
    settings: Settings,
    *,
    with_bot: bool,
    with_worker: bool,
    stop: asyncio.Event,
    on_ready: Callable[[str | None], None],
) -> None:
    """Run until `stop`; then finish what is running and close everything in order.

    `on_ready` is told what to open (None for a worker alone). Raises what the parts raise when they cannot start.
    """
    texts = load_texts()
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(open_parts(settings))
        place = await stack.enter_async_context(_open_place(settings, serves_chat=with_bot))
        worker = await stack.enter_async_context(parts.open_worker(files=BotFiles(place.bot)))
        works = [worker.run(stop)] if with_worker else []
        if with_bot:
            works.append(_talk(parts, texts, place, stop, wake_worker=worker.wake))
        on_ready(place.address if with_bot else None)
        await _run_together(works, stop)


async def serve_until_signal(settings: Settings, *, with_bot: bool, with_worker: bool) -> int:
    """`serve` until SIGINT or SIGTERM, telling the engineer where to look."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    words = load_texts().for_language(settings.answer.interface_language)
    on_ready = partial(_announce, settings, words)
    await serve(settings, with_bot=with_bot, with_worker=with_worker, stop=stop, on_ready=on_ready)
    return 0


@asynccontextmanager
async def _open_place(settings: Settings, *, serves_chat: bool) -> AsyncIterator[Place]:
    """Telegram when there is a token; else the local chat, served here or (a worker alone) by `baza bot`."""
    telegram, port = settings.telegram, settings.localchat.port
    folder = settings.home / LOCALCHAT_FOLDER
    async with AsyncExitStack() as stack:
        if telegram.token:
            bot = await stack.enter_async_context(open_bot(telegram.token.get_secret_value(), telegram.api_url))
            yield Place(bot=bot, address="Telegram")
            return
        if not serves_chat:
            address = f"http://127.0.0.1:{port}"
            yield Place(bot=await stack.enter_async_context(open_bot(read_token(folder), address)), address=address)
            return
        try:
            chat = await stack.enter_async_context(serve_local_chat(folder, port=port))
        except OSError as error:
            raise CommandError(
                f"Port {port} of this machine is taken. Is Baza running already? Else set LOCALCHAT_PORT to another."
            ) from error
        yield Place(bot=await stack.enter_async_context(open_bot(chat.token, chat.api_url)), address=chat.page_url)


async def _talk(
    parts: Parts, texts: Texts, place: Place, stop: asyncio.Event, *, wake_worker: Callable[[], None]
) -> None:
    """Receive updates and show notices until `stop`; then await the handlers that are running."""
    settings, bot = parts.settings, place.bot
    notices = NoticeLoop(bot, parts.stores.notices, texts)

    def wake() -> None:
        notices.wake()
        wake_worker()

    dispatcher = build_dispatcher(_services(parts, texts, wake))
    inbox = Inbox(bot, dispatcher, parts.stores.inbox)
    await announce_commands(bot, texts)
    await inbox.replay()
    showing = asyncio.create_task(notices.run(stop))
    try:
        await _receive(settings.telegram, bot, dispatcher, inbox, stop)
    finally:
        stop.set()
        await inbox.drain(settings.telegram.shutdown_s)
        await showing


async def _receive(
    telegram: TelegramSettings, bot: Bot, dispatcher: Dispatcher, inbox: Inbox, stop: asyncio.Event
) -> None:
    updates = dispatcher.resolve_used_update_types()
    if not (telegram.webhook_url and telegram.webhook_secret):
        await poll(bot, inbox, allowed_updates=updates, stop=stop)
        return
    secret = telegram.webhook_secret.get_secret_value()
    async with webhook_server(inbox, secret=secret, host=telegram.webhook_host, port=telegram.webhook_port):
        await bot.set_webhook(telegram.webhook_url + WEBHOOK_PATH, secret_token=secret, allowed_updates=updates)
        await stop.wait()


def _services(parts: Parts, texts: Texts, wake: Callable[[], None]) -> Services:
    settings, stores = parts.settings, parts.stores
    return Services(
        people=stores.people,
        library=stores.library,
        intake=stores.intake,
        conversation=parts.conversation(),
        passages=stores.search,
        texts=texts,
        wake=wake,
        allowed_users=settings.telegram.allowed_users,
        admin_users=settings.telegram.admin_users,
        messages_per_minute=settings.telegram.messages_per_minute,
        default_language=settings.answer.interface_language,
        answers_generally=parts.model is not None and settings.answer.general_knowledge,
        file_limit_mb=settings.worker.file_mb,
    )


async def _run_together(works: list[Coroutine[Any, Any, None]], stop: asyncio.Event) -> None:
    """All until the end; when one breaks, the others are stopped in order and its error is raised."""
    tasks = [asyncio.create_task(work) for work in works]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    stop.set()
    await asyncio.gather(*tasks)


def _announce(settings: Settings, words: Words, address: str | None) -> None:
    """The engineer's three lines (UX.md), and in the log who may talk to the bot."""
    print_line(words.plain("cli-page", page=address) if address else words.plain("cli-worker"))
    print_line(words.plain("cli-data", home=str(settings.home)))
    missing = [words.plain(key) for key, is_missing in _missing(settings).items() if is_missing]
    print_line(words.plain("cli-missing", missing="; ".join(missing)) if missing else words.plain("cli-complete"))
    if not settings.telegram.allowed_users:
        log.warning("access.open", hint="ALLOWED_USERS is empty: the bot answers everybody")


def _missing(settings: Settings) -> dict[str, bool]:
    return {
        "missing-token": settings.telegram.token is None,
        "missing-model": not settings.model.configured,
        "missing-jina": settings.jina.api_key is None,
        "cli-open-to-all": settings.telegram.token is not None and not settings.telegram.allowed_users,
    }

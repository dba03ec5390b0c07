"""The running bot: which Bot API server it uses, how updates reach its handlers, how voice is heard, and its shutdown.

In: the parts and the texts. Out: answered updates until `stop`. Importing aiogram takes seconds, so `bot.serving`
imports this module in a thread while the database starts.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from aiogram import Bot, Dispatcher
from aiogram.exceptions import TelegramAPIError, TelegramUnauthorizedError

from bot.app import MEGABYTE, Parts
from bot.cli.models import adding_search
from bot.cli.output import CommandError, port_named
from bot.dispatcher import build_dispatcher
from bot.home import LOCALCHAT, is_first_time
from bot.inbox import WEBHOOK_PATH, Inbox, poll, webhook_server
from bot.measures import Measures
from bot.models import unheard
from bot.notices import NoticeLoop
from bot.services import Services
from bot.settings import Settings, TelegramSettings
from bot.telegram import TELEGRAM_FILE_MB, BotFiles, announce_commands, open_bot
from bot.texts import Texts
from domain.documents import DocumentCard
from ingestion.changes import Changes, compare
from ingestion.errors import FailureCode, SourceError
from ingestion.files import document_folder
from ingestion.ports import TelegramFiles, Transcriber
from localchat.server import serve_local_chat
from localchat.store import read_token
from prompts.wordings import load_small_talk
from rag.small_talk import SmallTalkRule

COMPARED_CHARS = 2_000_000  # of each version, a book of a thousand pages; both are in memory at once


async def hear(files: TelegramFiles, transcriber: Transcriber, scratch: Path, file_id: str) -> str:
    """What is said in a question, which is not kept. Raises SourceError (FILE_WITHOUT_SPEECH, file gone, damaged, too
    long), ServiceError (service away)."""
    with document_folder(scratch) as folder:
        path = folder / "question"
        await files.download(file_id, path, limit_bytes=TELEGRAM_FILE_MB * MEGABYTE)
        transcript = await transcriber.transcribe(path, name=path.name, heard=unheard)
    text = " ".join(utterance.text.strip() for utterance in transcript.utterances).strip()
    if not text:
        raise SourceError(FailureCode.FILE_WITHOUT_SPEECH, name=path.name)
    return text


@asynccontextmanager
async def open_server(settings: Settings, measures: Measures, *, serves_chat: bool) -> AsyncIterator[tuple[Bot, str]]:
    """The bot, and its address for `on_ready`: Telegram when there is a token; else the local chat's page, served here
    or (for a worker alone) by `baza bot`."""
    telegram, port, folder = settings.telegram, settings.localchat.port, settings.home / LOCALCHAT
    async with AsyncExitStack() as stack:
        if telegram.token:
            token, api_url, address = telegram.token.get_secret_value(), telegram.api_url, "Telegram"
        elif serves_chat:
            with port_named(port, "LOCALCHAT_PORT"):
                chat = await stack.enter_async_context(serve_local_chat(folder, port=port))
            token, api_url, address = chat.token, chat.api_url, chat.page_url
        else:
            address = api_url = f"http://127.0.0.1:{port}"
            token = read_token(folder)
        yield await stack.enter_async_context(open_bot(token, api_url, measures)), address


async def talk(parts: Parts, texts: Texts, bot: Bot, stop: asyncio.Event, *, wake_worker: Callable[[], None]) -> None:
    """Receive updates and show notices until `stop`. Raises CommandError when Telegram rejects the token or that."""
    settings, stores = parts.settings, parts.stores

    async def compare_versions(card: DocumentCard) -> Changes:
        versions = await stores.library.versions(card.base_id, card.id)
        if len(versions) < 2:
            return Changes()
        before = await stores.text.blocks(card.base_id, versions[1].id, most_chars=COMPARED_CHARS)
        after = await stores.text.blocks(card.base_id, card.id, most_chars=COMPARED_CHARS)
        return await asyncio.to_thread(compare, before, after)

    notices = NoticeLoop(bot, stores.notices, texts, changes=compare_versions)

    def wake() -> None:
        notices.wake()
        wake_worker()

    dispatcher = build_dispatcher(_services(parts, texts, bot, wake))
    inbox = Inbox(bot, dispatcher, stores.inbox)
    await announce_commands(bot, texts)
    async with notices.showing(stop), inbox.open(drain_s=settings.telegram.shutdown_s):
        try:
            await _receive(settings.telegram, bot, dispatcher, inbox, stop)
        except TelegramUnauthorizedError as error:
            raise CommandError("Telegram does not know this BOT_TOKEN. Copy it anew from @BotFather.") from error
        except TelegramAPIError as error:
            raise CommandError(f"Telegram does not let the bot receive messages: {error.message}.") from error
        finally:
            stop.set()


async def _receive(
    telegram: TelegramSettings, bot: Bot, dispatcher: Dispatcher, inbox: Inbox, stop: asyncio.Event
) -> None:
    """By a webhook where one is set; from the local chat always by polling."""
    updates = dispatcher.resolve_used_update_types()
    if not (telegram.token and telegram.webhook_url and telegram.webhook_secret):
        await poll(bot, inbox, allowed_updates=updates, stop=stop)
        return
    secret = telegram.webhook_secret.get_secret_value()
    async with AsyncExitStack() as stack:
        server = webhook_server(inbox, secret=secret, host=telegram.webhook_host, port=telegram.webhook_port)
        with port_named(telegram.webhook_port, "WEBHOOK_PORT"):
            await stack.enter_async_context(server)
        await bot.set_webhook(telegram.webhook_url + WEBHOOK_PATH, secret_token=secret, allowed_updates=updates)
        await stop.wait()


def _services(parts: Parts, texts: Texts, bot: Bot, wake: Callable[[], None]) -> Services:
    parts = parts.for_people()
    settings, transcriber = parts.settings, parts.transcriber
    is_local = settings.telegram.token is None
    has_search = settings.jina.api_key is not None or settings.local.embedding_model is not None
    return Services(
        stores=parts.stores,
        conversation=parts.conversation(),
        frugal_conversation=parts.frugal_conversation(),
        settings=settings,
        measures=parts.measures,
        kept_files=parts.kept_files,
        texts=texts,
        count_terms=lambda name: Counter(parts.analyzer.terms(name)),
        small_talk=SmallTalkRule(load_small_talk()),
        wake=wake,
        hear=partial(hear, BotFiles(bot), transcriber, settings.home / "scratch") if transcriber else None,
        is_first_time=partial(is_first_time, settings.home),
        add_search=partial(adding_search, settings) if is_local and not has_search else None,
    )

"""The only composition root: settings -> adapters -> pipelines -> the parts that commands run.

In: `Settings`. Out: `Parts`, alive while the context is open; everything closes in reverse order. No other module
chooses an adapter.
"""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.database.migrate import check_migrated, migrate
from adapters.database.postgres import open_postgres
from adapters.database.stores.dialogue import DialogueStore
from adapters.database.stores.inbox import InboxStore
from adapters.database.stores.intake import IntakeStore
from adapters.database.stores.library import LibraryStore
from adapters.database.stores.notices import NoticeStore
from adapters.database.stores.people import PeopleStore
from adapters.database.stores.reading import ReadingStore
from adapters.database.stores.search import SearchStore
from adapters.database.stores.tables import TableStore
from adapters.database.stores.text import TextStore
from adapters.database.stores.work import WorkStore
from adapters.database.transport import Transport
from adapters.lexical import RussianEnglishAnalyzer
from bot.listening import open_transcriber, video_fetcher
from bot.recognition import open_pictures
from bot.search_models import Fusion, TextEmbedder, open_search_models
from bot.settings import ModelSettings, Settings, WorkerSettings
from ingestion.archives.process import UnpackProcess
from ingestion.fetch.crawl import CrawlLimits
from ingestion.fetch.fetchers import FetchLimits, open_fetchers
from ingestion.parsers.process import ParseProcess
from ingestion.pipeline import ChunkLimits, IngestionPipeline
from ingestion.ports import TelegramFiles, Transcriber
from ingestion.reading.archives import ArchiveReader
from ingestion.reading.reader import FileReader
from ingestion.reading.recordings import RecordingReader
from ingestion.worker import Worker
from prompts.intents import load_intents
from prompts.loader import load_prompts
from rag.answering.answer import AnswerWriter
from rag.answering.prompt import AnswerSettings
from rag.conversation import Conversation, TurnStages
from rag.dialogue.memory import DialogueMemory
from rag.dialogue.summary import Summariser
from rag.execution.documents_tool import ListDocuments
from rag.execution.executor import Executor
from rag.execution.reading_tool import ReadDocument
from rag.execution.search_tool import SearchBase
from rag.planning.planner import Planner
from rag.planning.prompt import PlannerPrompt
from rag.planning.wire import AnyTool
from rag.ports import ChatModel, QuestionAnalyzer, Reranker
from rag.retrieval.search import Retrieval

if TYPE_CHECKING:
    from aiogram import Bot

MEGABYTE = 2**20


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Every store, over one transport."""

    people: PeopleStore
    intake: IntakeStore
    work: WorkStore
    text: TextStore
    library: LibraryStore
    notices: NoticeStore
    search: SearchStore
    dialogue: DialogueStore
    inbox: InboxStore
    reading: ReadingStore
    answer_tables: TableStore

    @classmethod
    def over(cls, transport: Transport) -> "Stores":
        """All of them, calling through `transport`."""
        return cls(
            people=PeopleStore(transport),
            intake=IntakeStore(transport),
            work=WorkStore(transport),
            text=TextStore(transport),
            library=LibraryStore(transport),
            notices=NoticeStore(transport),
            search=SearchStore(transport),
            dialogue=DialogueStore(transport),
            inbox=InboxStore(transport),
            reading=ReadingStore(transport),
            answer_tables=TableStore(transport),
        )


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What the commands are made of."""

    settings: Settings
    stores: Stores
    analyzer: QuestionAnalyzer
    embedder: TextEmbedder
    fusion: Fusion
    reranker: Reranker | None
    model: ChatModel | None
    planner_model: ChatModel | None
    transcriber: Transcriber | None  # hears documents and questions; one process for both

    def retrieval(self, *, candidates: int | None = None, passages: int | None = None) -> Retrieval:
        """Search as the settings say; `baza eval` asks for more candidates."""
        answer = self.settings.answer
        return Retrieval(
            self.stores.search,
            self.embedder,
            self.analyzer,
            self.reranker,
            candidates=candidates or answer.candidates,
            passages=passages or answer.passages,
            lexical_weight=self.fusion.lexical_weight,
            vector_weight=self.fusion.vector_weight,
        )

    def conversation(self) -> Conversation:
        """A turn, start to end."""
        answer, stores, prompts, intents = self.settings.answer, self.stores, load_prompts(), load_intents()
        tools: tuple[AnyTool, ...] = (
            SearchBase(self.retrieval(), stores.library),
            ListDocuments(stores.library),
            ReadDocument(stores.library, stores.reading),
        )
        writing = AnswerSettings(
            language=answer.answer_language,
            general_knowledge=answer.general_knowledge,
            window_pairs=answer.window_pairs,
            prompt_tokens=answer.prompt_tokens,
        )
        return Conversation(
            TurnStages(
                memory=DialogueMemory(
                    stores.dialogue,
                    self.analyzer,
                    Summariser(stores.dialogue, self.planner_model, prompts) if self.planner_model else None,
                    pairs=answer.window_pairs,
                ),
                entities=None,
                planner=Planner(self.planner_model, tools=tools, intents=intents, threshold=answer.plan_threshold),
                prompt=PlannerPrompt(
                    prompts,
                    intents=intents,
                    tools=tools,
                    policy=answer.search_policy,
                    max_calls=answer.tool_calls,
                    threshold=answer.plan_threshold,
                    dialogue_tokens=answer.prompt_tokens // 4,
                ),
                executor=Executor(tools, max_calls=answer.tool_calls),
                writer=AnswerWriter(self.model, prompts, writing) if self.model else None,
            )
        )

    @asynccontextmanager
    async def open_worker(self, *, files: TelegramFiles | None = None) -> AsyncIterator[Worker]:
        """A worker with its crawler and its parsing process. `files` is None where there is no bot."""
        settings = self.settings.worker
        async with (
            open_fetchers(_fetch_limits(settings), files=files, video=video_fetcher(self.settings)) as fetchers,
            ParseProcess(timeout_s=settings.parse_s, memory_mb=settings.parse_mb) as parser,
            AsyncExitStack() as stack,
        ):
            pipeline = IngestionPipeline(
                fetchers=fetchers,
                reader=FileReader(
                    parser=parser,
                    archives=ArchiveReader(
                        unpacker=UnpackProcess(timeout_s=settings.parse_s, memory_mb=settings.parse_mb)
                    ),
                    pictures=await open_pictures(self.settings, parser, stack),
                    recordings=RecordingReader(self.transcriber) if self.transcriber else None,
                ),
                embedder=self.embedder,
                analyzer=self.analyzer,
                queue=self.stores.work,
                limits=ChunkLimits(chunk_tokens=settings.chunk_tokens, overlap_tokens=settings.overlap_tokens),
                scratch=self.settings.home / "scratch",
            )
            yield Worker(
                self.stores.work,
                pipeline,
                name=f"{socket.gethostname()}:{os.getpid()}",
                concurrency=settings.concurrency,
                long_concurrency=settings.long_concurrency,
                lease_s=settings.lease_s,
                poll_s=settings.poll_s,
                attempts=settings.attempts,
                backoff_s=settings.backoff_s,
                grace_s=self.settings.telegram.shutdown_s,
                upkeep=self.stores.search.ensure_index,
            )


@asynccontextmanager
async def open_parts(settings: Settings) -> AsyncIterator[Parts]:
    """Open the database and the models that are configured.

    Raises DatabaseAway when the database does not answer, MigrationError when its schema does not fit this version,
    EmbeddedDatabaseError when ours does not start, LocalModelError when a local model cannot be used.
    """
    async with AsyncExitStack() as stack:
        transport = await stack.enter_async_context(open_transport(settings))
        analyzer = RussianEnglishAnalyzer()
        search_models = await open_search_models(settings, stack)
        yield Parts(
            settings=settings,
            stores=Stores.over(transport),
            analyzer=analyzer,
            embedder=search_models.embedder,
            fusion=search_models.fusion,
            reranker=search_models.reranker,
            model=await _open_answer_model(settings.model, stack),
            planner_model=await _open_planner_model(settings.model, stack),
            transcriber=await open_transcriber(settings, stack),
        )


@asynccontextmanager
async def open_transport(settings: Settings) -> AsyncIterator[Transport]:
    """The way to the database that the settings name, with its schema up to date."""
    database = settings.database
    async with AsyncExitStack() as stack:
        if database.supabase_url and database.supabase_key:
            # supabase-py takes most of a second to import, and most installations do without it.
            from adapters.database.supabase import open_supabase

            key = database.supabase_key.get_secret_value()
            supabase = await stack.enter_async_context(
                open_supabase(database.supabase_url, key, timeout_s=database.timeout_s)
            )
            await check_migrated(supabase)
            yield supabase
            return
        url = await stack.enter_async_context(postgres_url(settings))
        await migrate(url)
        yield await stack.enter_async_context(
            open_postgres(url, pool_size=database.pool_size, timeout_s=database.timeout_s)
        )


@asynccontextmanager
async def postgres_url(settings: Settings) -> AsyncIterator[str]:
    """The PostgreSQL of the settings, or the embedded one, running while the context is open."""
    if settings.database.url:
        yield settings.database.url.get_secret_value()
        return
    from adapters.database.embedded import embedded_database

    async with embedded_database(settings.home) as url:
        yield url


@asynccontextmanager
async def open_bot(token: str, api_url: str | None) -> AsyncIterator["Bot"]:
    """A client of the Bot API at `api_url` (None: Telegram's own) that repeats what may be repeated."""
    # aiogram takes seconds to import; the commands that do not talk to Telegram do without.
    from aiogram import Bot
    from aiogram.client.default import DefaultBotProperties
    from aiogram.client.session.aiohttp import AiohttpSession
    from aiogram.client.telegram import PRODUCTION, TelegramAPIServer

    from bot.telegram_session import RetryRequests

    session = AiohttpSession(api=TelegramAPIServer.from_base(api_url) if api_url else PRODUCTION)
    session.middleware(RetryRequests())
    bot = Bot(token, session=session, default=DefaultBotProperties(parse_mode="HTML"))
    try:
        yield bot
    finally:
        await session.close()


def _fetch_limits(settings: WorkerSettings) -> FetchLimits:
    return FetchLimits(
        file_bytes=settings.file_mb * MEGABYTE,
        page_bytes=settings.page_mb * MEGABYTE,
        page_s=settings.fetch_s,
        crawl=CrawlLimits(depth=settings.crawl_depth, pages=settings.crawl_pages, total_s=settings.crawl_s),
        allow_hosts=settings.fetch_allow_hosts,
    )


async def _open_answer_model(model: ModelSettings, stack: AsyncExitStack) -> ChatModel | None:
    return await _open_chat_model(
        model, stack, name=model.answer_model, temperature=model.answer_temperature, max_tokens=model.answer_max_tokens
    )


async def _open_planner_model(model: ModelSettings, stack: AsyncExitStack) -> ChatModel | None:
    return await _open_chat_model(
        model,
        stack,
        name=model.planner_model or model.answer_model,
        temperature=model.planner_temperature,
        max_tokens=model.planner_max_tokens,
    )


async def _open_chat_model(
    model: ModelSettings, stack: AsyncExitStack, *, name: str, temperature: float, max_tokens: int
) -> ChatModel | None:
    if not model.configured:
        return None
    from adapters.llm.opening import open_chat_model

    names = dict.fromkeys((name, model.fallback_model or name))
    return await stack.enter_async_context(
        open_chat_model(
            base_url=model.base_url,
            api_key=model.api_key.get_secret_value() if model.api_key else None,
            models=tuple(names),
            temperature=temperature,
            max_tokens=max_tokens,
            timeout_s=model.timeout_s,
        )
    )

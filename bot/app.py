"""The only composition root: settings -> adapters -> pipelines -> the parts that commands run.

In: `Settings`. Out: `Parts`, alive while the context is open; everything closes in reverse order. A few modules were
split off for length and say so in their heads (`models` …); no other module chooses an adapter.
"""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from adapters.database.migrate import check_migrated, migrate
from adapters.database.postgres import open_postgres
from adapters.database.segments import SegmentMirror, SegmentStore
from adapters.database.stores import Stores
from adapters.database.transport import ActingTransport, Transport
from adapters.kept_files import FolderFiles, SupabaseFiles, open_supabase_files
from adapters.lexical import RussianEnglishAnalyzer
from adapters.name_finder import NatashaFinder
from adapters.names import NameForms
from bot import models
from bot.enrichment import ModelFactReader, charged
from bot.measures import Measures
from bot.settings import Settings
from ingestion.chunking.passages import PassageSizes
from ingestion.entities.enricher import Enricher
from ingestion.fetch.crawl import CrawlLimits
from ingestion.fetch.download import DownloadLimits
from ingestion.fetch.fetchers import Fetchers, open_downloader
from ingestion.parsers.process import ParseProcess
from ingestion.pipeline import IngestionPipeline
from ingestion.ports import Charged, TelegramFiles, Transcriber
from ingestion.reading.reader import FileReader
from ingestion.worker import Worker
from prompts.loader import Prompts, load_prompts
from prompts.wordings import load_breadth, load_intents, load_small_talk, load_wordings
from rag.answering.answer import AnswerWriter
from rag.answering.grounding import SupportCheck
from rag.answering.plain import PlainAnswers
from rag.answering.prompt import AnswerSettings
from rag.conversation import Conversation
from rag.dialogue import DialogueMemory, Summariser
from rag.entities import RegistryResolver
from rag.execution.analysis_tool import Analyze
from rag.execution.document_tools import ListDocuments, ReadDocument
from rag.execution.executor import Executor
from rag.execution.graph_tool import GraphQuery
from rag.execution.iterative_tool import ReadDocuments
from rag.execution.rows_tool import CollectRows
from rag.execution.search_tool import SearchBase, SurveyBase
from rag.execution.tools import AnyTool, RunLimits
from rag.planning.plain_requests import Breadth
from rag.planning.planner import Planner, PlannerPrompt
from rag.ports import ChatModel, QuestionAnalyzer, Reranker
from rag.retrieval.search import DocumentSearch, Retrieval
from rag.small_talk import SmallTalkRule

MEGABYTE = 2**20


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The opened parts that commands are built from."""

    settings: Settings
    stores: Stores  # of nobody in particular: workers and the command line
    stores_for_people: Stores  # each call for a base says for whom (`domain.people`)
    kept_files: FolderFiles | SupabaseFiles
    mirror: SegmentMirror  # copies of the vector segments of large bases; empty until its first refresh
    analyzer: QuestionAnalyzer
    names: NameForms
    embedder: models.TextEmbedder
    vector_weight: float  # in a search; that of words is the rest to 1
    reranker: Reranker | None
    model: ChatModel | None
    planner_model: ChatModel | None
    checker_model: ChatModel | None  # None also where ANSWER_CHECK asks for no model
    reading_model: ChatModel | None  # the planner's, with a larger token limit for what it reads out of documents
    transcriber: Transcriber | None  # for recordings and spoken questions; one process serves both
    measures: Measures

    def for_people(self) -> "Parts":
        """The same parts for the bot and the HTTP API: what they read and change, they do for whoever asked."""
        return replace(self, stores=self.stores_for_people)

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
            lexical_weight=1 - self.vector_weight,
            vector_weight=self.vector_weight,
            heard=self.measures.search_ended,
        )

    def conversation(self) -> Conversation:
        """Runs turns. Without a model each question is one plain search. The planner's also sums up the dialogue; the
        checker's judges answers; the reading one analyses facts and reads documents."""
        asked, prompts = self.settings.answer, load_prompts()
        stores, retrieval, model, planner_model = self.stores, self.retrieval(), self.model, self.planner_model
        breadth = Breadth(load_breadth(), load_wordings())
        documents = DocumentSearch(stores.search, self.analyzer)
        tools = _tools(self, retrieval, documents, prompts, breadth)
        entities = RegistryResolver(stores.entities, self.names)
        check = SupportCheck(self.checker_model, prompts) if self.checker_model else None
        writing = AnswerSettings(
            language=asked.answer_language,
            general_knowledge=asked.general_knowledge,
            window_pairs=asked.window_pairs,
            prompt_tokens=asked.prompt_tokens,
            rules=asked.answer_check != "off",
        )
        limits = RunLimits(
            steps=asked.plan_steps,
            model_calls=asked.model_calls,
            tokens=asked.turn_tokens,
            seconds=asked.turn_s,
            cost=asked.turn_cost,
        )
        return Conversation(
            memory=DialogueMemory(
                stores.dialogue,
                self.analyzer,
                Summariser(stores.dialogue, planner_model, prompts) if planner_model else None,
                pairs=asked.window_pairs,
            ),
            entities=entities,
            planner=Planner(
                planner_model,
                tools=tools,
                intents=load_intents(),
                threshold=asked.plan_threshold,
                breadth=breadth,
                small_talk=SmallTalkRule(load_small_talk()),
                entities=entities,
                needs_sign=asked.search_policy == "explicit",
            ),
            prompt=_planner_prompt(self.settings, tools, prompts),
            executor=Executor(
                tools,
                max_calls=asked.tool_calls,
                step_tokens=asked.prompt_tokens,
                is_shortened=model is not None,
            ),
            writer=AnswerWriter(model, prompts, writing, check=check) if model else None,
            plain=PlainAnswers(prompts, "auto", breadth),  # facts are in the language of the question
            documents=documents,
            catalogue=stores.library,
            compares_meaning=retrieval.compares_meaning,
            searches_early=asked.search_policy == "planned",
            limits=limits,
        )

    def frugal_conversation(self) -> Conversation:
        """The same for people over their daily bounds (`bot.services`): it calls no chat model and no paid reranker."""
        reranker = None if self.settings.jina.api_key else self.reranker
        without = replace(self, model=None, planner_model=None, checker_model=None, reading_model=None)
        return replace(without, reranker=reranker).conversation()

    def charged(self) -> Charged:
        """Who pays for reading: each sender, within PERSON_DAILY_COST, and each token within API_DAILY_COST."""
        figures, settings = self.stores.statistics, self.settings
        cost, token_cost = settings.bounds.person_cost or None, settings.api.daily_cost or None
        exempt = settings.telegram.admin_users
        spent_until = partial(figures.sender_spent_until, cost=cost, token_cost=token_cost, exempt=exempt)
        return partial(charged, keep=figures.save_reading_cost, spent_until=spent_until if cost or token_cost else None)

    @asynccontextmanager
    async def open_worker(self, *, files: TelegramFiles | None = None) -> AsyncIterator[Worker]:
        """A worker with its crawler and its parsing process. `files` is None where there is no bot."""
        settings = self.settings.worker
        sizes = PassageSizes(
            chunk_tokens=settings.chunk_tokens,
            overlap_tokens=settings.overlap_tokens,
            window_tokens=self.embedder.window_tokens,
        )
        limits = DownloadLimits(
            total_s=settings.fetch_s,
            page_bytes=settings.page_mb * MEGABYTE,
            file_bytes=settings.file_mb * MEGABYTE,
        )
        async with (
            open_downloader(limits, allow_hosts=settings.fetch_allow_hosts) as downloader,
            ParseProcess(timeout_s=settings.parse_s, memory_mb=settings.parse_mb) as parser,
            AsyncExitStack() as stack,
        ):
            pipeline = IngestionPipeline(
                fetchers=Fetchers(
                    downloader=downloader,
                    crawl=CrawlLimits(depth=settings.crawl_depth, pages=settings.crawl_pages, total_s=settings.crawl_s),
                    files=files,
                    kept=self.kept_files,
                    video=models.video_fetcher(self.settings),
                ),
                reader=FileReader(
                    parser=parser,
                    pictures=await models.open_pictures(self.settings, parser, stack, self.measures),
                    recordings=self.transcriber,
                    sizes=sizes,
                ),
                cutter=parser,
                embedder=self.embedder,
                analyzer=self.analyzer,
                queue=self.stores.work,
                sizes=sizes,
                scratch=self.settings.home / "scratch",
                meter=self.measures,
            )
            yield Worker(
                queue=self.stores.work,
                pipeline=pipeline,
                charged=self.charged(),
                name=f"{socket.gethostname()}:{os.getpid()}",
                concurrency=settings.concurrency,
                long_concurrency=settings.long_concurrency,
                lease_s=settings.lease_s,
                poll_s=settings.poll_s,
                attempts=settings.attempts,
                backoff_s=settings.backoff_s,
                grace_s=self.settings.telegram.shutdown_s,
                upkeep=self.stores.search.ensure_index,
                meter=self.measures,
            )

    @asynccontextmanager
    async def open_enricher(self) -> AsyncIterator[Enricher]:
        """The enricher, which reads entities from ready documents: by the rules, and with a chat model if there is one,
        else with a process that finds names and starts with the first document that needs it."""
        worker = self.settings.worker
        model = self.reading_model if worker.entity_model else None
        async with AsyncExitStack() as stack:
            yield Enricher(
                queue=self.stores.entities,
                text=self.stores.text,
                names=self.names,
                finder=await stack.enter_async_context(NatashaFinder()) if model is None else None,
                facts=ModelFactReader(model, load_prompts(), self.names) if model else None,
                poll_s=worker.poll_s,
                charged=self.charged(),
            )


@asynccontextmanager
async def open_parts(settings: Settings) -> AsyncIterator[Parts]:
    """Open the database and the configured models. Raises DatabaseAway, MigrationError (the schema does not fit
    this version), EmbeddedDatabaseError (it does not start), LocalModelError (a local model cannot be used)."""
    async with AsyncExitStack() as stack:
        transport = await stack.enter_async_context(open_transport(settings))
        analyzer, measures = RussianEnglishAnalyzer(), Measures()
        embedder, reranker, vector_weight = await models.open_search_models(settings, stack)
        mirror = SegmentMirror(SegmentStore(transport), size=settings.database.segment_mb * MEGABYTE)
        bound, most = settings.bounds.base_passages or None, settings.bounds.person_waiting or None
        yield Parts(
            settings=settings,
            stores=Stores(transport, mirror, base_passages=bound, most_waiting=most),
            stores_for_people=Stores(
                ActingTransport(transport),
                mirror,
                base_passages=bound,
                most_waiting=most,
                kept_bytes=settings.api.kept_mb * MEGABYTE,
            ),
            kept_files=await _open_kept_files(settings, stack),
            mirror=mirror,
            analyzer=analyzer,
            names=NameForms(),
            embedder=embedder,
            vector_weight=vector_weight,
            reranker=reranker,
            model=await models.open_model("answer", settings, stack, measures),
            planner_model=await models.open_model("planner", settings, stack, measures),
            checker_model=await models.open_model("checker", settings, stack, measures),
            reading_model=await models.open_model("reading", settings, stack, measures),
            transcriber=await models.open_transcriber(settings, stack),
            measures=measures,
        )


@asynccontextmanager
async def open_transport(settings: Settings) -> AsyncIterator[Transport]:
    """Connect to the configured database. PostgreSQL is migrated first; Supabase's schema is only checked."""
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
            open_postgres(
                url, pool_size=database.pool_size, timeout_s=database.timeout_s, prepares=database.url is None
            )
        )


async def _open_kept_files(settings: Settings, stack: AsyncExitStack) -> FolderFiles | SupabaseFiles:
    """With Supabase in its Storage, so that processes on other machines reach them."""
    database = settings.database
    if database.supabase_url and database.supabase_key:
        key = database.supabase_key.get_secret_value()
        return await stack.enter_async_context(open_supabase_files(database.supabase_url, key))
    return FolderFiles(settings.home / "files")


@asynccontextmanager
async def postgres_url(settings: Settings) -> AsyncIterator[str]:
    """The PostgreSQL of the settings, or the embedded one, running while the context is open."""
    if settings.database.url:
        yield settings.database.url.get_secret_value()
        return
    from adapters.database.embedded import embedded_database

    async with embedded_database(settings.home) as url:
        yield url


def _tools(
    parts: Parts, retrieval: Retrieval, documents: DocumentSearch, prompts: Prompts, breadth: Breadth
) -> tuple[AnyTool, ...]:
    stores, model = parts.stores, parts.reading_model
    wordings, tokens = load_wordings(), parts.settings.answer.prompt_tokens
    looking: tuple[AnyTool, ...] = (
        SearchBase(retrieval, stores.library),
        SurveyBase(stores.library, replace(retrieval, reranker=None), wordings, breadth),
        GraphQuery(stores.entities),
        ListDocuments(stores.library, wordings, documents),
        ReadDocument(stores.library, stores.search, model, prompts),
    )
    if model is None:
        return looking
    reading = (
        reader(
            stores.library,
            stores.search,
            retrieval,
            model,
            prompts,
            wordings,
            prompt_tokens=tokens,
            memory=stores.kept_readings,
        )
        for reader in (ReadDocuments, CollectRows)
    )
    return (*looking, Analyze(model, prompts, prompt_tokens=tokens), *reading)


def _planner_prompt(settings: Settings, tools: tuple[AnyTool, ...], prompts: Prompts) -> PlannerPrompt:
    asked = settings.answer
    return PlannerPrompt(
        prompts,
        tools=tools,
        policy=asked.search_policy,
        max_calls=asked.tool_calls,
        threshold=asked.plan_threshold,
        dialogue_tokens=asked.prompt_tokens // 4,
    )

"""The long-running commands: the bot, the worker, both in one process, or the HTTP API, until a signal stops them.

In: `Settings`. Out: a bot that answers and a worker that reads, and the lines that `make run` prints; expired documents
and the files of removed ones are gone, seconds after the minute that was shown. `bot.app` builds the parts.
"""

import asyncio
import faulthandler
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import structlog
from pydantic import BaseModel

from adapters.database.stores.library import KeptFileStore, LibraryStore
from adapters.database.transport import DatabaseError
from adapters.kept_files import FolderFiles, SupabaseFiles
from adapters.webhooks import tell_webhooks
from bot.app import Parts, open_parts
from bot.cli.output import port_named, print_line
from bot.home import show_life
from bot.models import describe_recognition
from bot.settings import Settings
from bot.texts import Words, load_texts
from domain.errors import DatabaseAway
from ingestion.errors import ServiceError
from ingestion.fetch.guard import AddressGuard

log = structlog.get_logger()

LOOK_EVERY_S = 10.0
BEAT_S = 1.0
CLOSING_S = 40.0  # beyond SHUTDOWN_SECONDS: for closing what is open, PostgreSQL last
WATCH_EVERY_S = 0.5
STILL_S = 120.0  # no turn of the event loop takes so long, on any machine
SHARE_OF_MEMORY = 0.8  # of what the machine or the container has
EXIT_STATUS = 75  # EX_TEMPFAIL of sysexits.h: try again
API_PORT = 8091  # where none is set: of `baza api`, and beside the local chat


@contextmanager
def built_when_used() -> Iterator[None]:
    """Import aiogram inside this context. It has no effect when aiogram was imported before.

    The end of `aiogram.types` makes pydantic build all 400 models at once, which takes seconds and 100 MB; a bot uses
    about thirty. They are declared with `defer_build`: each is built at its first use, by its `model_rebuild`, which
    gets here the namespace that aiogram has passed for all of them.
    """
    original = BaseModel.__dict__["model_rebuild"]
    build, names = cast("Any", original).__func__, dict[str, Any]()

    def note_names(model: type[BaseModel], /, **options: Any) -> Any:
        if not (model.__module__.startswith("aiogram.") and options.get("_types_namespace")):
            return build(model, **options)
        return names.update(options["_types_namespace"])

    def build_with_names(model: type[BaseModel], /, *, _types_namespace: Any = None, **options: Any) -> Any:
        return build(model, _types_namespace=_types_namespace or names, **options)

    BaseModel.model_rebuild = classmethod(note_names)  # type: ignore[assignment,method-assign] # until it is imported
    try:
        yield
    finally:
        BaseModel.model_rebuild = original  # type: ignore[method-assign] # what it was
    if names:
        from aiogram.methods import Response, TelegramMethod
        from aiogram.types import TelegramObject

        for base in (TelegramObject, TelegramMethod, Response):
            base.model_rebuild = classmethod(build_with_names)  # type: ignore[assignment] # with the same parameters


async def remove_expired(library: LibraryStore, stop: asyncio.Event, *, also: Callable[[], Awaitable[None]]) -> None:
    """Look now and every few seconds until `stop`, and do what is to be done `also`, after an error again."""
    while not stop.is_set():
        try:
            if removed := await library.remove_expired():
                log.info("documents_expired", count=removed)
            await also()
        except (DatabaseAway, DatabaseError, ServiceError) as error:
            log.warning("expiry_failed", reason=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), LOOK_EVERY_S)


async def remove_files(listed: KeptFileStore, stored: FolderFiles | SupabaseFiles) -> None:
    """Remove the files that no document has, first the bytes, then the row: a crash between leaves the row. The answers
    to requests with an Idempotency-Key go after a day."""
    while files := await listed.release(100):
        await stored.remove(files)
        await listed.forget([file for _, file in files])
        log.info("files_removed", count=len(files))
    await listed.forget_additions()


async def serve(
    settings: Settings,
    *,
    with_bot: bool,
    with_worker: bool,
    stop: asyncio.Event,
    on_ready: Callable[[str | None], None],
) -> None:
    """Run until `stop`; then finish what is running and close everything in order. `on_ready` gets the address to open
    (None for a worker alone). The HTTP API is served beside the bot where API_PORT is set, and beside the local chat.
    Raises what the parts raise when they cannot start."""

    def import_talking() -> None:
        """Runs in a thread while the database starts: aiogram takes seconds to import."""
        with built_when_used():
            import_module("bot.talking")

    importing = asyncio.create_task(asyncio.to_thread(import_talking))
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(open_parts(settings))
        await importing
        from bot import talking
        from bot.telegram import BotFiles

        server = talking.open_server(settings, parts.measures, serves_chat=with_bot)
        bot, address = await stack.enter_async_context(server)
        with port_named(settings.metrics.port, "METRICS_PORT"):
            await stack.enter_async_context(parts.measures.served(settings.metrics, parts.stores.statistics.queue))
        worker = await stack.enter_async_context(parts.open_worker(files=BotFiles(bot)))
        works = [show_life(settings.home, stop)]
        if with_worker:
            works.append(worker.run(stop))
            enricher = await stack.enter_async_context(parts.open_enricher())
            works.append(enricher.run(stop))
            files = partial(remove_files, parts.stores.kept_files, parts.kept_files)
            works.append(remove_expired(parts.stores.library, stop, also=files))
            guard = AddressGuard(allow_hosts=settings.worker.fetch_allow_hosts)
            works.append(tell_webhooks(parts.stores.webhooks, guard, stop))
        if with_bot:
            await stack.enter_async_context(parts.mirror.kept_fresh())
            if port := settings.api.port:
                await stack.enter_async_context(_api(parts, port, worker.wake))
            elif port is None and settings.telegram.token is None:
                works.append(_serve_api_beside_the_chat(parts, worker.wake, stop))
            works.append(talking.talk(parts, load_texts(), bot, stop, wake_worker=worker.wake))
        on_ready(address if with_bot else None)
        tasks = [asyncio.create_task(work) for work in works]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        stop.set()
        await asyncio.wait(tasks)  # raising the error closes the resources that the others still use
        await asyncio.gather(*tasks)


async def serve_api_until_signal(settings: Settings) -> int:
    """The HTTP API alone, until SIGINT or SIGTERM."""
    async with _watched(settings) as stop, AsyncExitStack() as stack:
        parts = await stack.enter_async_context(open_parts(settings))
        await stack.enter_async_context(parts.mirror.kept_fresh())
        await stack.enter_async_context(_api(parts, settings.api.port or API_PORT, lambda: None))
        await show_life(settings.home, stop)
    return 0


async def serve_until_signal(settings: Settings, *, with_bot: bool, with_worker: bool) -> int:
    """`serve` until SIGINT or SIGTERM, telling the engineer where to look."""
    words = load_texts().for_language(settings.answer.interface_language)

    def on_ready(address: str | None) -> None:
        gc.freeze()  # these objects stay; scanning them at each collection would delay a turn by 0.1 s each time
        _announce(settings, words, address)

    async with _watched(settings) as stop:
        await serve(settings, with_bot=with_bot, with_worker=with_worker, stop=stop, on_ready=on_ready)
    return 0


class Watchdog:
    """Ends this process with status 75, at which whoever started it starts it again (docs/operations.md), when it
    cannot go on: memory is used up, the event loop stands still, a shutdown does not end. Nothing is lost: updates and
    documents are under leases. A thread watches, since a loop that hangs cannot, and writes the stacks of all threads.

    It watches from `start` to the end of the process; `beat` has to be called from the event loop all the time.
    """

    def __init__(self, *, memory_bytes: float, end: Callable[[int], object] = os._exit) -> None:
        self._memory_bytes = memory_bytes
        self._end = end
        self._beaten_at = time.monotonic()
        self._ends_at = float("inf")

    def start(self) -> None:
        """Begin to watch."""
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def beat(self) -> None:
        """The event loop is alive."""
        self._beaten_at = time.monotonic()

    def expect_end(self, within_s: float) -> None:
        """A shutdown has begun, and has so many seconds."""
        self._ends_at = min(self._ends_at, time.monotonic() + within_s)

    def _watch(self) -> None:
        while (trouble := self._trouble()) is None:
            time.sleep(WATCH_EVERY_S)
        sys.stderr.write(f"Baza ends itself: {trouble}\n")
        faulthandler.dump_traceback(all_threads=True)
        log.critical("process.ends_itself", reason=trouble)
        self._end(EXIT_STATUS)

    def _trouble(self) -> str | None:
        now = time.monotonic()
        if (held := resident_bytes()) > self._memory_bytes:
            return f"memory: {held >> 20} MB of {int(self._memory_bytes) >> 20} that this process may hold"
        if now > self._ends_at:
            return "the shutdown did not end in time"
        return f"the event loop stood still for {STILL_S:.0f} s" if now - self._beaten_at > STILL_S else None


def resident_bytes() -> int:
    """Memory of this process; 0 where that is not known. proc_pid_statm(5)."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def memory_bound(megabytes: int) -> float:
    """Bytes that this process may hold: as set, else most of what the machine and the control group have (cgroups(7),
    versions 2 and 1)."""
    found: list[float] = []
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # ValueError: "max"
            found.append(int(Path(path).read_text(encoding="ascii")))
    with suppress(OSError, ValueError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return megabytes * 2**20 if megabytes else min(found, default=float("inf")) * SHARE_OF_MEMORY


@asynccontextmanager
async def _watched(settings: Settings) -> AsyncIterator[asyncio.Event]:
    """What SIGINT and SIGTERM set; the process ends within the block, or is ended."""
    watchdog, stop = Watchdog(memory_bytes=memory_bound(settings.worker.process_mb)), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    async def beat() -> None:
        while True:
            watchdog.beat()
            if stop.is_set():
                watchdog.expect_end(settings.telegram.shutdown_s + CLOSING_S)
            await asyncio.sleep(BEAT_S)

    beating = asyncio.create_task(beat())
    watchdog.start()
    try:
        yield stop
    finally:
        beating.cancel()
        watchdog.expect_end(CLOSING_S)  # threads that hang would keep Python itself from ending


@asynccontextmanager
async def _api(parts: Parts, port: int, wake: Callable[[], None]) -> AsyncIterator[None]:
    """Serves the HTTP API, and tells the engineer where. FastAPI is slow to import, and most do without it."""
    from bot.http_api import served_api

    async with AsyncExitStack() as stack:
        with port_named(port, "API_PORT"):
            address = await stack.enter_async_context(served_api(parts, load_texts(), port=port, wake=wake))
        print_line(f"API: {address}/docs")
        yield


async def _serve_api_beside_the_chat(parts: Parts, wake: Callable[[], None], stop: asyncio.Event) -> None:
    """Nobody has asked for it, so it holds up no start, prints nothing, and does without a port that is taken."""
    await asyncio.to_thread(import_module, "bot.http_api")
    from bot.http_api import served_api

    try:
        async with served_api(parts, load_texts(), port=API_PORT, wake=wake) as address:
            log.info("api_served", address=address)
            await stop.wait()
    except OSError as error:
        log.warning("api_not_served", port=API_PORT, hint="API_PORT sets another", reason=error.strerror)


def _announce(settings: Settings, words: Words, address: str | None) -> None:
    """Print the engineer's three lines (UX.md); log a warning when everybody may talk to the bot."""
    print_line(words.plain("cli-page", page=address) if address else words.plain("cli-worker"))
    print_line(words.plain("cli-data", home=str(settings.home)))
    is_on_telegram, is_open = settings.telegram.token is not None, not settings.telegram.allowed_users
    lacks = {
        "missing-token": not is_on_telegram,
        "missing-model": not settings.model.configured,
        "missing-jina": settings.jina.api_key is None and settings.local.embedding_model is None,
        "missing-speech": settings.speech.model is None,
        "missing-recognition": describe_recognition(settings) is None,
        "cli-open-unbounded": is_on_telegram and is_open and not settings.bounds.named,
    }
    missing = [words.plain(key) for key, is_missing in lacks.items() if is_missing]
    print_line(words.plain("cli-missing", missing="; ".join(missing)) if missing else words.plain("cli-complete"))
    if is_open:
        hint = "ALLOWED_USERS is empty: the bot answers everybody; what that may cost is bounded by these"
        unset = "none of PERSON_DAILY_COST, PERSON_DAILY_QUESTIONS, BASE_PASSAGES"
        log.warning("access.open", hint=hint, bounds=settings.bounds.named or unset)

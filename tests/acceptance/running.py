"""The whole bot in this process, on the local chat, over a database of its own: for acceptance tests.

In: settings by their variables. Out: the address of the page. Everything is real but Telegram, the models and Jina,
which are loopback servers.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Thread
from unittest.mock import patch

from bot import serving
from bot.serving import built_when_used
from bot.settings import Settings
from bot.texts import load_texts
from sandbox.pool import Pool, _Running
from tests.servers.local_chat import serve_faulty_chat

with built_when_used():  # as `bot.serving` does: aiogram takes seconds
    from bot import talking

START_S = 120.0
TEXTS = cache(load_texts)  # parsing them takes as long as all else of a start
_START = Pool._start


@dataclass(kw_only=True)
class Forkservers:
    """The processes that confined children are forked from, one of each kind for all pools of this process.

    Each imports every reader, which takes a second: as long as all else of a test. The children are still each test's
    own, and end with their lines. They live in a loop of their own, since each test has another.
    """

    loop: asyncio.AbstractEventLoop
    running: dict[str, _Running] = field(default_factory=dict)

    async def start(self, pool: Pool) -> _Running:
        kind = repr((pool.entry, pool.variables))
        if kind not in self.running or _has_hung_up(self.running[kind]):
            starting = asyncio.run_coroutine_threadsafe(_START(pool), self.loop)
            self.running[kind] = await asyncio.wrap_future(starting)
        return self.running[kind]

    async def forget(self, pool: Pool, _running: _Running) -> None:
        pool._running = None

    async def close(self) -> None:
        for running in self.running.values():
            running.control.close()
            await running.process.wait()


def _has_hung_up(running: _Running) -> bool:
    try:
        return not running.control.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False


@contextmanager
def kept_forkservers() -> Iterator[Forkservers]:
    """Ended at the end of the context."""
    kept = Forkservers(loop=asyncio.new_event_loop())
    thread = Thread(target=kept.loop.run_forever)
    thread.start()
    yield kept
    asyncio.run_coroutine_threadsafe(kept.close(), kept.loop).result()
    kept.loop.call_soon_threadsafe(kept.loop.stop)
    thread.join()
    kept.loop.close()


@asynccontextmanager
async def running_baza(home: Path, database_url: str, environment: Mapping[str, str]) -> AsyncIterator[str]:
    """Start the bot and a worker, and yield the page's address; at the end stop them as SIGTERM does."""
    quick = {"WORKER_POLL_SECONDS": "0.1", "WORKER_BACKOFF_SECONDS": "0.2", "LOCALCHAT_PORT": "0", "API_PORT": "0"}
    variables = {"BAZA_HOME": str(home), "DATABASE_URL": database_url, **quick, **environment}
    stop, page = asyncio.Event(), asyncio.get_running_loop().create_future()
    faulty = patch.object(talking, "serve_local_chat", serve_faulty_chat)
    with patch.object(serving, "load_texts", TEXTS), faulty:
        running = asyncio.create_task(
            serving.serve(
                Settings.read(variables), with_bot=True, with_worker=True, stop=stop, on_ready=page.set_result
            )
        )
        try:
            await asyncio.wait({running, page}, timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                await running  # raises what kept it from starting
            yield page.result()
        finally:
            stop.set()
            await running

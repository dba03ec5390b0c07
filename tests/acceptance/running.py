"""The whole bot in this process, on the local chat, over a database of its own: for acceptance tests.

In: settings by their variables. Out: the address of the page. Everything is real but Telegram, the models and Jina,
which are loopback servers.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

from bot import serving
from bot.lazy_models import built_when_used
from bot.settings import Settings
from bot.texts import load_texts
from tests.servers.local_chat import serve_faulty_chat

with built_when_used():  # as `bot.serving` does: aiogram takes seconds
    from bot import talking

START_S = 120.0
TEXTS = cache(load_texts)  # parsing them takes as long as all else of a start


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

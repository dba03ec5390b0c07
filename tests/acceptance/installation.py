"""`baza run` as its own process group on a home of its own, with the embedded database: for tests that kill it.

In: a home and settings. Out: the running process, its page, and a look into its database. The database server is
outside the group, as it is for a real user: it survives, or is stopped by the last one who leaves in order.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from adapters.database.embedded import embedded_database
from bot.home import LOCALCHAT
from localchat.server import page_url
from tests.ports import free_port

READY_S = 180.0  # on a busy machine
STOP_S = 120.0


@dataclass(frozen=True, kw_only=True)
class Installation:
    """A home and the settings that `baza` is started with there."""

    home: Path
    settings: Mapping[str, str]
    port: int = field(default_factory=free_port)
    started: list[asyncio.subprocess.Process] = field(default_factory=list)

    @property
    def page(self) -> str:
        """The same after every start."""
        return page_url(self.home / LOCALCHAT, self.port)

    @property
    def environment(self) -> dict[str, str]:
        ours = {"BAZA_HOME": str(self.home), "LOCALCHAT_PORT": str(self.port), **self.settings}
        return {**os.environ, **ours}

    async def start(self) -> asyncio.subprocess.Process:
        """The process, once it has said that it is ready."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "run",
            env=self.environment, stdout=asyncio.subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self.started.append(process)
        assert process.stdout
        line = await asyncio.wait_for(process.stdout.readline(), READY_S)
        assert self.page in line.decode(), line
        return process

    async def kill(self, process: asyncio.subprocess.Process) -> None:
        """kill -9 of everything that `baza run` has started, at once."""
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()

    async def stop(self, process: asyncio.subprocess.Process) -> None:
        """Ctrl-C."""
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.wait(), STOP_S)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """Started, and stopped in order if it still runs at the end."""
        process = await self.start()
        try:
            yield process
        finally:
            await self.stop(process)

    async def leave_nothing_running(self) -> None:
        """Whatever a test that failed has left; the last one who leaves stops the database server."""
        for process in self.started:
            if process.returncode is None:
                await self.kill(process)
        if (self.home / "postgres").exists():
            async with embedded_database(self.home):
                pass

    async def ask(self, query: str) -> list[tuple[object, ...]]:
        """What the database answers."""
        async with embedded_database(self.home) as url, await psycopg.AsyncConnection.connect(url) as connection:
            return await (await connection.execute(query.encode())).fetchall()

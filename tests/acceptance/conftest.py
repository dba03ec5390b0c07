"""Fixtures of the acceptance tests: a database, scripted models, and a person at the page."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx
import pytest
from aiogram.methods import Response
from aiogram.types import Message, Update

from adapters import name_finder
from adapters.morphology import dictionary
from bot.settings import Settings
from sandbox.pool import Pool
from tests.acceptance.running import TEXTS, Forkservers, kept_forkservers, running_baza
from tests.database import (
    database,
    database_server,
    database_url,
    empty_database,
    lite_server,
    own_databases,
    server_home,
)
from tests.homes import fresh_home
from tests.ports import free_port
from tests.servers.jina import KEY, JinaServer, serve_jina
from tests.servers.llm import LlmServer, serve_llm

__all__ = [
    "database",
    "database_server",
    "database_url",
    "empty_database",
    "fresh_home",
    "lite_server",
    "own_databases",
    "server_home",
]

SHARED = Path(__file__).parents[3] / "shared" / "data"

Start = Callable[..., AbstractAsyncContextManager[str]]
"""`async with start(VARIABLE="value") as page_url:` runs the bot with these settings."""
Open = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]
"""`async with api(token, VARIABLE="value") as client:` runs Baza and calls its API."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Before the processes of a run are forked, load what each of them would load at its first test."""
    if session.config.getoption("--processes", 0):
        TEXTS()
        dictionary()
        message = {"message_id": 1, "date": 0, "chat": {"id": 1, "type": "private"}, "text": "да"}
        Update.model_validate({"update_id": 1, "message": message})
        Response[Message].model_validate({"ok": True, "result": message})


@pytest.fixture(scope="session")
def forkservers() -> Iterator[Forkservers]:
    """Of this process."""
    with kept_forkservers() as kept:
        yield kept


@pytest.fixture(autouse=True)
def _few_forkservers(forkservers: Forkservers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever opens a pool here takes one that is there, and the one of names has its models."""
    monkeypatch.setattr(Pool, "_start", lambda pool: forkservers.start(pool))
    monkeypatch.setattr(Pool, "_end", lambda pool, running: forkservers.forget(pool, running))
    monkeypatch.setattr(name_finder, "ENTRY", "tests.servers.names:serve")


@pytest.fixture
def start(tmp_path: Path, database_url: str) -> Start:
    """Runs the bot in this test's own database and folder."""

    def begin(**environment: str) -> AbstractAsyncContextManager[str]:
        return running_baza(tmp_path / "home", database_url, environment)

    return begin


@pytest.fixture
async def jina() -> AsyncIterator[JinaServer]:
    """A strict Jina on loopback."""
    async with serve_jina() as server:
        yield server


@pytest.fixture
async def llm() -> AsyncIterator[LlmServer]:
    """A chat model whose answers the test writes."""
    async with serve_llm() as server:
        yield server


@pytest.fixture
def with_jina(jina: JinaServer) -> dict[str, str]:
    """Settings that lead to the scripted Jina."""
    return {"JINA_BASE_URL": jina.url, "JINA_API_KEY": KEY, "JINA_TIMEOUT_SECONDS": "30"}


@pytest.fixture
def with_llm(llm: LlmServer) -> dict[str, str]:
    """Settings that lead to the scripted model."""
    return {"LLM_BASE_URL": llm.url, "LLM_TIMEOUT_SECONDS": "30"}


@pytest.fixture
def shared_data() -> Path:
    """The real data beside the project; a test that needs it says so where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is absent: the real data lies beside the project, in ../shared")
    return SHARED


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Of the command line beside the running Baza."""
    return Settings.read({"DATABASE_URL": database_url, "BAZA_HOME": str(tmp_path / "home"), "OCR": "off"})


@pytest.fixture
def api(start: Start) -> Open:
    @asynccontextmanager
    async def begin(token: str, **environment: str) -> AsyncIterator[httpx.AsyncClient]:
        port = free_port()
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            start(API_PORT=str(port), **environment),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client,
        ):
            yield client

    return begin

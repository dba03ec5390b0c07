"""A scripted Jina and clients of it; pauses between tries are shortened, a Retry-After is kept to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters import jina as jina_client
from adapters.jina import TIERS, JinaClient, JinaEmbedder, open_jina
from tests.servers.jina import KEY, JinaServer, serve_jina

MODEL = "jina-embeddings-v3"
TIMEOUT_S = 60.0  # no test waits for so long, and no answer is given up because the machine is busy
IMPATIENT_S = 2.0


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jina_client, "FIRST_PAUSE_S", 0.01)


@pytest.fixture
async def jina() -> AsyncIterator[JinaServer]:
    async with serve_jina() as server:
        yield server


@asynccontextmanager
async def client_of(jina: JinaServer, timeout_s: float) -> AsyncIterator[JinaClient]:
    async with open_jina(
        base_url=jina.url, api_key=KEY, timeout_s=timeout_s, concurrency=2, tier=TIERS["premium"]
    ) as opened:
        yield opened


@pytest.fixture
async def client(jina: JinaServer) -> AsyncIterator[JinaClient]:
    async with client_of(jina, TIMEOUT_S) as opened:
        yield opened


@pytest.fixture
async def impatient(jina: JinaServer) -> AsyncIterator[JinaClient]:
    """For answers that never come."""
    async with client_of(jina, IMPATIENT_S) as opened:
        yield opened


@pytest.fixture
def embedder(client: JinaClient) -> JinaEmbedder:
    return JinaEmbedder(client, model=MODEL)

"""A scripted Jina and clients of it; pauses between tries are shortened, a Retry-After is kept to."""

from collections.abc import AsyncIterator

import pytest

from adapters.jina import client as jina_client
from adapters.jina.client import JinaClient, open_jina
from adapters.jina.embedder import JinaEmbedder
from adapters.jina.pace import TIERS
from tests.servers.jina import KEY, JinaServer, serve_jina

MODEL = "jina-embeddings-v3"
TIMEOUT_S = 0.3


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jina_client, "FIRST_PAUSE_S", 0.01)


@pytest.fixture
async def jina() -> AsyncIterator[JinaServer]:
    async with serve_jina() as server:
        yield server


@pytest.fixture
async def client(jina: JinaServer) -> AsyncIterator[JinaClient]:
    async with open_jina(
        base_url=jina.url, api_key=KEY, timeout_s=TIMEOUT_S, concurrency=2, tier=TIERS["premium"]
    ) as opened:
        yield opened


@pytest.fixture
def embedder(client: JinaClient) -> JinaEmbedder:
    return JinaEmbedder(client, model=MODEL)

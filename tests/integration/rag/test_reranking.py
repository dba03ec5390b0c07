"""The last word on the order of what a real base found: Jina's, a model's of this machine, or nobody's.

The same question, the same passages; without a reranker the fused order stands, and so it does while Jina is away.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from adapters.jina import TIERS, JinaReranker, open_jina
from adapters.local.models import open_reranker
from rag.ports import Reranker
from rag.retrieval.search import Retrieval
from tests.fakes.rag import FixedEmbedder, LowerWords
from tests.integration.adapters.database.stores.material import open_base, publish
from tests.onnx_models import build_reranker
from tests.servers.jina import KEY, JinaServer, serve_jina
from tests.servers.scripted import SERVER_ERROR

QUESTION = "где ключ и пароль"
BEST = "где ключ и пароль облако"  # all words of the question, among others
PASSAGES = 10
FOUND = 24  # documents that hold a word of the question


@asynccontextmanager
async def reranker(kind: str, folder: Path) -> AsyncIterator[tuple[Reranker | None, JinaServer | None]]:
    if kind == "none":
        yield None, None
        return
    if kind == "local":
        yield open_reranker(str(build_reranker(folder / "reranker")), models=folder, threads=1), None
        return
    async with (
        serve_jina() as server,
        open_jina(base_url=server.url, api_key=KEY, timeout_s=60, tier=TIERS["free"], concurrency=None) as client,
    ):
        if kind == "jina away":
            server.script(*[SERVER_ERROR] * 9)
        yield JinaReranker(client, model="jina-reranker-v2-base-multilingual"), server


async def texts_found(transport: PostgresTransport, judge: Reranker | None, documents: int) -> list[str]:
    """Best first."""
    stores = Stores(transport)
    base = await open_base(stores)
    for number in range(documents):
        await publish(stores, base, f"ключ сеть диск номер{number} " + f"слово{number} " * 9, name=f"{number}")
    await publish(stores, base, BEST, name="лучшее")
    retrieval = Retrieval(
        stores.search,
        FixedEmbedder(),
        LowerWords(),
        judge,
        candidates=30,
        passages=PASSAGES,
        lexical_weight=1.0,
        vector_weight=0.0,
    )
    return [each.passage.text for each in await retrieval.find(base, QUESTION)]


@pytest.mark.parametrize("kind", ["none", "local", "jina", "jina away"])
async def test_of_thirty_candidates_the_best_ten_are_handed_on(
    postgres_transport: PostgresTransport, tmp_path: Path, kind: str
) -> None:
    async with reranker(kind, tmp_path) as (judge, server):
        found = await texts_found(postgres_transport, judge, FOUND)
    assert found[0] == BEST
    assert (len(found), len(set(found))) == (PASSAGES, PASSAGES)
    if server and kind == "jina":
        (asked,) = server.reranks
        assert (asked.query, len(asked.documents), asked.top_n) == (QUESTION, FOUND + 1, PASSAGES)


@pytest.mark.parametrize("kind", ["none", "local", "jina"])
async def test_of_one_passage_there_is_one(postgres_transport: PostgresTransport, tmp_path: Path, kind: str) -> None:
    async with reranker(kind, tmp_path) as (judge, _):
        assert await texts_found(postgres_transport, judge, 0) == [BEST]

"""Embedding windows and questions, over HTTP: what is sent, and what comes of the answer."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from adapters.jina import TIERS, JinaEmbedder, open_jina
from domain.locator import Locator
from ingestion.ports import Embedder
from ingestion.records import Window
from rag.ports import QueryEmbedder
from tests.integration.adapters.jina.conftest import MODEL
from tests.servers.jina import KEY, JinaServer, serve_jina
from tests.unit.adapters.windows import window_of


async def test_it_meets_both_ports(embedder: JinaEmbedder) -> None:
    for_documents: Embedder = embedder
    for_questions: QueryEmbedder = embedder
    assert for_documents.model == for_questions.model == MODEL


async def test_each_window_is_one_request_with_all_its_chunks(jina: JinaServer, embedder: JinaEmbedder) -> None:
    await embedder.embed_windows([window_of("один", "два", "три", own=(1, 2)), window_of("четыре")])
    asked = sorted(jina.embeddings, key=lambda request: -len(request.input))
    assert [request.input for request in asked] == [["один", "два", "три"], ["четыре"]]
    for request in asked:
        assert (request.task, request.late_chunking, request.normalized) == ("retrieval.passage", True, True)
        assert (request.model, request.dimensions) == (MODEL, 1024)


async def test_a_chunk_is_sent_under_the_headings_that_it_does_not_name(
    jina: JinaServer, embedder: JinaEmbedder
) -> None:
    chunk = replace(window_of("два").chunks[0], locator=Locator(headings=("Глава", "два")))
    await embedder.embed_windows([Window(chunks=(chunk,), own_start=0, own_end=1)])
    assert jina.embeddings[0].input == ["Глава\nдва"]


async def test_only_own_chunks_get_vectors(embedder: JinaEmbedder) -> None:
    whole = await embedder.embed_windows([window_of("один", "два", "три")])
    own = await embedder.embed_windows([window_of("один", "два", "три", own=(1, 3))])
    assert own == [whole[0][1:]]


async def test_vectors_are_whole_and_normalised(embedder: JinaEmbedder) -> None:
    vector = (await embedder.embed_windows([window_of("виртуальная машина")]))[0][0]
    assert len(vector) == 1024
    assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-9)


async def test_no_windows_are_no_request(jina: JinaServer, embedder: JinaEmbedder) -> None:
    assert await embedder.embed_windows([]) == []
    assert not jina.requests


async def test_windows_run_side_by_side_but_not_more_than_allowed() -> None:
    async with serve_jina(delay_s=0.05) as jina:
        async with open_jina(
            base_url=jina.url, api_key=KEY, timeout_s=60, concurrency=3, tier=TIERS["premium"]
        ) as client:
            await JinaEmbedder(client, model=MODEL).embed_windows([window_of(f"текст {n}") for n in range(9)])
        assert jina.most_at_once == 3


async def test_a_question_does_not_wait_behind_documents() -> None:
    async with (
        serve_jina(delay_s=0.1) as jina,
        open_jina(base_url=jina.url, api_key=KEY, timeout_s=60, concurrency=1, tier=TIERS["premium"]) as client,
    ):
        embedder = JinaEmbedder(client, model=MODEL)
        reading = asyncio.create_task(embedder.embed_windows([window_of(f"текст {n}") for n in range(4)]))
        await asyncio.sleep(0.02)
        await embedder.embed_query("вопрос")
        assert not reading.done()
        await reading


async def test_a_question_is_asked_as_a_question(jina: JinaServer, embedder: JinaEmbedder) -> None:
    await embedder.embed_query("Где диск?")
    request = jina.embeddings[0]
    assert (request.input, request.task, request.late_chunking) == (["Где диск?"], "retrieval.query", False)


async def test_a_question_is_nearest_to_the_passage_that_answers_it(embedder: JinaEmbedder) -> None:
    window = window_of("Диск создаётся в разделе хранилищ", "Балансировщик делит нагрузку", "Оплата картой")
    passages = np.array((await embedder.embed_windows([window]))[0])
    question = np.array(await embedder.embed_query("балансировщик нагрузки"))
    assert int(np.argmax(passages @ question)) == 1

"""Reranking over HTTP."""

import pytest

from adapters.jina import JinaClient, JinaReranker
from domain.documents import SourceType
from domain.ids import ChunkId, DocumentId
from domain.locator import Locator
from rag.ports import ModelAway, ModelError, ModelNonsense, ModelRefused, Reranker
from rag.records import Passage
from tests.servers.jina import INSUFFICIENT_BALANCE, JinaServer
from tests.servers.scripted import HANG, SERVER_ERROR, Scripted

MODEL = "jina-reranker-v2-base-multilingual"
NO_SUCH_PASSAGE = Scripted(body='{"results": [{"index": 7, "relevance_score": 0.9}]}')


def passage(text: str, *, title: str = "Документ") -> Passage:
    return Passage(
        chunk_id=ChunkId(1),
        document_id=DocumentId("d"),
        ordinal=0,
        title=title,
        source_type=SourceType.FILE,
        source_identifier="f.txt",
        text=text,
        locator=Locator(),
    )


PASSAGES = [passage("оплата картой"), passage("балансировщик нагрузки"), passage("нагрузки на диск")]


@pytest.fixture
def reranker(client: JinaClient) -> Reranker:
    return JinaReranker(client, model=MODEL)


async def test_the_best_come_first_by_their_index(reranker: Reranker) -> None:
    best = await reranker.rerank("балансировщик нагрузки", PASSAGES, top_n=2)
    assert best == [(1, 1.0), (2, 0.5)]


async def test_titles_count_and_texts_are_not_sent_back(jina: JinaServer, reranker: Reranker) -> None:
    await reranker.rerank("вопрос", [passage("текст", title="Заголовок")], top_n=5)
    request = jina.reranks[0]
    assert (request.documents, request.top_n, request.return_documents) == (["Заголовок\nтекст"], 1, False)


@pytest.mark.parametrize(("passages", "top_n"), [([], 3), (PASSAGES, 0)])
async def test_nothing_to_order_is_no_request(
    jina: JinaServer, reranker: Reranker, passages: list[Passage], top_n: int
) -> None:
    assert await reranker.rerank("вопрос", passages, top_n=top_n) == []
    assert not jina.requests


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ((INSUFFICIENT_BALANCE,), ModelRefused),
        ((SERVER_ERROR, SERVER_ERROR), ModelAway),
        ((NO_SUCH_PASSAGE, NO_SUCH_PASSAGE), ModelNonsense),
    ],
)
async def test_failures_are_errors_of_a_model(
    jina: JinaServer, reranker: Reranker, answers: tuple[Scripted, ...], kind: type[ModelError]
) -> None:
    jina.script(*answers)
    with pytest.raises(kind):
        await reranker.rerank("вопрос", PASSAGES, top_n=2)


async def test_an_order_that_never_comes_is_not_waited_for(jina: JinaServer, impatient: JinaClient) -> None:
    jina.script(HANG, HANG)
    with pytest.raises(ModelAway):
        await JinaReranker(impatient, model=MODEL).rerank("вопрос", PASSAGES, top_n=2)


async def test_nonsense_is_asked_for_once_more(jina: JinaServer, reranker: Reranker) -> None:
    jina.script(NO_SUCH_PASSAGE)
    assert len(await reranker.rerank("диск", PASSAGES, top_n=3)) == 3

"""Reranking by a small cross-encoder that counts shared words."""

from pathlib import Path

import pytest

from adapters.local import models as local_models
from adapters.local.layout import read_files
from adapters.local.models import LocalReranker
from domain.documents import SourceType
from domain.ids import ChunkId, DocumentId
from domain.locator import Locator
from rag.errors import ModelRefused
from rag.ports import Reranker
from rag.records import Passage
from tests.onnx_models import build_encoder, build_reranker


def passage(text: str) -> Passage:
    return Passage(
        chunk_id=ChunkId(1),
        document_id=DocumentId("d"),
        ordinal=0,
        title="",
        source_type=SourceType.FILE,
        source_identifier="f.txt",
        text=text,
        locator=Locator(),
    )


PASSAGES = [passage("облако"), passage("диск и сеть"), passage("диск")]


@pytest.fixture
def reranker(tmp_path: Path) -> Reranker:
    return LocalReranker(read_files(build_reranker(tmp_path / "small")), threads=1)


async def test_the_best_come_first_with_their_relevance(reranker: Reranker) -> None:
    best = await reranker.rerank("диск сеть", PASSAGES, top_n=2)
    assert [index for index, _ in best] == [1, 2]
    assert [relevance for _, relevance in best] == [pytest.approx(0.9975, abs=1e-3), pytest.approx(0.8808, abs=1e-3)]


async def test_each_passage_is_judged_as_it_would_be_alone(reranker: Reranker) -> None:
    together = dict(await reranker.rerank("диск сеть", PASSAGES, top_n=3))
    for index, each in enumerate(PASSAGES):
        ((_, relevance),) = await reranker.rerank("диск сеть", [each], top_n=1)
        assert relevance == pytest.approx(together[index], abs=1e-6)


async def test_a_long_passage_is_read_from_its_beginning(reranker: Reranker) -> None:
    ((_, near),) = await reranker.rerank("диск", [passage("диск " + "сеть " * 500)], top_n=1)
    ((_, far),) = await reranker.rerank("диск", [passage("сеть " * 500 + "диск")], top_n=1)
    assert near > 0.5 > far


async def test_a_long_question_leaves_room_for_the_passage(reranker: Reranker) -> None:
    ((_, relevance),) = await reranker.rerank("диск " * 500, [passage("диск")], top_n=1)
    assert relevance > 0.9


async def test_what_there_is_no_time_for_keeps_its_order_behind_the_rest(
    reranker: Reranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_models, "PATIENCE_S", 0.0)
    monkeypatch.setattr(local_models, "PAIRS_A_RUN", 2)
    best = await reranker.rerank("диск", [passage("облако"), passage("диск"), *PASSAGES], top_n=9)
    assert [index for index, _ in best] == [1, 0, 2, 3, 4]


@pytest.mark.parametrize(("passages", "top_n"), [([], 3), (PASSAGES, 0)])
async def test_nothing_to_order_is_no_work(reranker: Reranker, passages: list[Passage], top_n: int) -> None:
    assert await reranker.rerank("диск", passages, top_n=top_n) == []


async def test_an_encoder_does_not_rerank(tmp_path: Path) -> None:
    encoder = LocalReranker(read_files(build_encoder(tmp_path / "small")), threads=1)
    with pytest.raises(ModelRefused, match="gives no score"):
        await encoder.rerank("диск", PASSAGES, top_n=1)

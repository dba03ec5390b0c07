"""Local models: embeddings, reranking, and how they are found."""

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adapters.local import models as local_models
from adapters.local.layout import LocalModelError, read_encoder, read_files
from adapters.local.models import LocalEncoder, LocalReranker, find_model, open_encoder, open_reranker
from domain.documents import SourceType
from domain.ids import ChunkId, DocumentId
from domain.locator import Locator
from ingestion.errors import FailureCode, ServiceError
from ingestion.ports import Embedder
from ingestion.records import Window
from rag.ports import ModelRefused, QueryEmbedder, Reranker
from rag.records import Passage
from tests.onnx_models import TABLE, build_encoder, build_reranker, direction, token_vectors
from tests.unit.adapters.windows import window_of

APPROXIMATELY = 1e-6


def encoder_in(folder: Path, *, context_tokens: int = 512, late: bool | None = True) -> LocalEncoder:
    return LocalEncoder(read_encoder(folder), context_tokens=context_tokens, threads=1, late=late)


@pytest.fixture
def encoder(tmp_path: Path) -> LocalEncoder:
    return encoder_in(build_encoder(tmp_path / "small"))


@pytest.fixture
def e5(tmp_path: Path) -> LocalEncoder:
    return encoder_in(build_encoder(tmp_path / "e5"))


def test_it_meets_both_ports(encoder: LocalEncoder) -> None:
    for_documents: Embedder = encoder
    for_questions: QueryEmbedder = encoder
    assert for_documents.model == for_questions.model
    assert re.fullmatch("local/small@[0-9a-f]{8}", encoder.model)


async def test_a_chunk_is_the_mean_of_its_tokens_in_the_windows_context(encoder: LocalEncoder) -> None:
    vectors = token_vectors(["[CLS]", "диск", "сеть", "ключ", "пароль", "[SEP]"])
    ((middle,),) = await encoder.embed_windows([window_of("диск", "сеть ключ", "пароль", own=(1, 2))])
    assert middle == pytest.approx(direction(vectors[2:4].mean(axis=0)), abs=APPROXIMATELY)


async def test_the_first_and_the_last_chunk_have_the_special_tokens(encoder: LocalEncoder) -> None:
    vectors = token_vectors(["[CLS]", "диск", "сеть", "[SEP]"])
    ((first, last),) = await encoder.embed_windows([window_of("диск", "сеть")])
    assert first == pytest.approx(direction(vectors[:2].mean(axis=0)), abs=APPROXIMATELY)
    assert last == pytest.approx(direction(vectors[2:].mean(axis=0)), abs=APPROXIMATELY)


async def test_a_passage_alone_and_a_question_of_the_same_words_are_one(encoder: LocalEncoder) -> None:
    ((passage,),) = await encoder.embed_windows([window_of("где диск")])
    assert passage == pytest.approx(await encoder.embed_query("где диск"), abs=APPROXIMATELY)


async def test_questions_and_passages_are_marked_as_the_model_was_taught(e5: LocalEncoder) -> None:
    asked = token_vectors(["[CLS]", "query", ":", "диск", "[SEP]"]).mean(axis=0)
    held = token_vectors(["[CLS]", "passage", ":", "диск", "[SEP]"]).mean(axis=0)
    assert await e5.embed_query("диск") == pytest.approx(direction(asked), abs=APPROXIMATELY)
    assert (await e5.embed_windows([window_of("диск")]))[0][0] == pytest.approx(direction(held), abs=APPROXIMATELY)


async def test_a_window_beyond_the_context_is_read_in_overlapping_stretches(tmp_path: Path) -> None:
    encoder = encoder_in(build_encoder(tmp_path / "small"), context_tokens=66)  # 64 tokens and two special ones
    words = ["диск", "сеть", "ключ", "пароль"] * 25
    ((first, second),) = await encoder.embed_windows([window_of(" ".join(words[:10]), " ".join(words[10:]))])
    left = token_vectors(["[CLS]", *words[:64], "[SEP]"])
    right = token_vectors(["[CLS]", *words[36:], "[SEP]"])
    assert first == pytest.approx(direction(left[:11].mean(axis=0)), abs=APPROXIMATELY)
    expected = np.concatenate([left[11:51], right[15:]])  # the border lies in the middle of tokens 36 to 64
    assert second == pytest.approx(direction(expected.mean(axis=0)), abs=APPROXIMATELY)


async def test_windows_do_not_see_each_other(encoder: LocalEncoder) -> None:
    one, other = window_of("диск", "сеть"), window_of("ключ")
    together = await encoder.embed_windows([one, other])
    assert together == [*(await encoder.embed_windows([one])), *(await encoder.embed_windows([other]))]


async def test_models_of_the_first_token_embed_each_chunk_alone(tmp_path: Path) -> None:
    folder = build_encoder(tmp_path / "bge-small")
    ((vector,),) = await encoder_in(folder).embed_windows([window_of("диск", "сеть ключ", own=(1, 2))])
    assert vector == pytest.approx(direction(token_vectors(["[CLS]", "сеть", "ключ", "[SEP]"])[0]), abs=APPROXIMATELY)


@pytest.mark.parametrize(("positions", "late"), [(512, False), (1024, True)])
async def test_late_chunking_is_the_default_of_models_that_see_far(tmp_path: Path, positions: int, late: bool) -> None:
    folder = build_encoder(tmp_path / "small", config={"max_position_embeddings": positions})
    window = window_of("диск", "сеть")
    chosen = await encoder_in(folder, context_tokens=2048, late=late).embed_windows([window])
    assert await encoder_in(folder, context_tokens=2048, late=None).embed_windows([window]) == chosen
    assert await encoder_in(folder, context_tokens=2048, late=not late).embed_windows([window]) != chosen


async def test_a_chunk_alone_is_read_under_its_headings(tmp_path: Path) -> None:
    encoder = encoder_in(build_encoder(tmp_path / "small"), late=False)
    chunk = replace(window_of("сеть").chunks[0], locator=Locator(headings=("диск",)))
    ((vector,),) = await encoder.embed_windows([Window(chunks=(chunk,), own_start=0, own_end=1)])
    whole = token_vectors(["[CLS]", "диск", "сеть", "[SEP]"]).mean(axis=0)
    assert vector == pytest.approx(direction(whole), abs=APPROXIMATELY)


@pytest.mark.parametrize("late", [False, True])
async def test_a_passage_without_the_beginning_is_read_below_the_line_that_says_whose_it_is(
    tmp_path: Path, late: bool
) -> None:
    encoder = encoder_in(build_encoder(tmp_path / "small"), late=late)
    later = replace(window_of("сеть").chunks[0], ordinal=3)
    ((vector,),) = await encoder.embed_windows([Window(chunks=(later,), own_start=0, own_end=1, line="диск")])
    read = token_vectors(["[CLS]", "диск", "сеть", "[SEP]"])
    assert vector == pytest.approx(direction(read.mean(axis=0)), abs=APPROXIMATELY)


async def test_a_long_question_is_cut_at_the_models_own_context(tmp_path: Path) -> None:
    encoder = encoder_in(build_encoder(tmp_path / "small", config={"max_position_embeddings": 66}))
    assert await encoder.embed_query("диск " * 64) == await encoder.embed_query("диск " * 500)


async def test_a_text_without_words_has_a_vector_all_the_same(encoder: LocalEncoder) -> None:
    ((empty,),) = await encoder.embed_windows([window_of("\u200b")])
    assert np.linalg.norm(empty) == pytest.approx(1)


@pytest.mark.parametrize(
    "table", [np.full_like(TABLE, np.nan), np.ones((len(TABLE), 1025))], ids=["no numbers", "too many"]
)
async def test_vectors_that_cannot_be_kept_are_the_models_failure(table: np.ndarray, tmp_path: Path) -> None:
    encoder = encoder_in(build_encoder(tmp_path / "broken", table=table))
    with pytest.raises(ModelRefused, match="cannot be kept"):
        await encoder.embed_query("диск")
    with pytest.raises(ServiceError):
        await encoder.embed_windows([window_of("диск")])


async def test_the_loop_goes_on_while_a_model_works(encoder: LocalEncoder) -> None:
    reading = asyncio.create_task(encoder.embed_windows([window_of("диск сеть ключ " * 20_000)]))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 5


async def test_a_model_that_cannot_be_loaded_keeps_the_document(tmp_path: Path) -> None:
    folder = build_encoder(tmp_path / "small")
    (folder / "model.onnx").write_bytes(b"not a model")
    broken = encoder_in(folder)
    with pytest.raises(ServiceError) as caught:
        await broken.embed_windows([window_of("диск")])
    assert (caught.value.code, caught.value.params["service"]) == (FailureCode.SERVICE_REFUSED, "local/small")
    with pytest.raises(ModelRefused, match=r"model\.onnx cannot be loaded"):
        await broken.embed_query("диск")


async def test_a_model_with_an_input_of_its_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match="task_id"):
        await encoder_in(build_encoder(tmp_path / "jina", tasks=True)).embed_query("диск")


def test_a_context_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match="at least"):
        encoder_in(build_encoder(tmp_path / "small"), context_tokens=8)


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


def never(name: str, folder: Path) -> None:
    raise AssertionError(f"{name} is not fetched")


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = build_encoder(tmp_path / "small")
    assert find_model(str(folder), tmp_path / "models", never) == folder


def test_a_name_may_be_a_folder_among_the_models(tmp_path: Path) -> None:
    folder = build_encoder(tmp_path / "models" / "owner" / "small")
    assert find_model("owner/small", tmp_path / "models", never) == folder


def test_a_model_is_fetched_once(tmp_path: Path) -> None:
    fetched: list[str] = []

    def fetch(name: str, folder: Path) -> None:
        fetched.append(name)
        build_encoder(folder)

    first = find_model("owner/small", tmp_path, fetch)
    assert find_model("owner/small", tmp_path, fetch) == first == tmp_path / "owner" / "small"
    assert fetched == ["owner/small"]


def test_two_that_start_at_once_fetch_a_model_once(tmp_path: Path) -> None:
    """A bot and a worker share a home: the second waits for the first, and takes what it has brought."""
    fetched: list[str] = []

    def fetch(name: str, folder: Path) -> None:
        fetched.append(name)
        time.sleep(0.3)
        build_encoder(folder)

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: find_model("owner/small", tmp_path, fetch), range(2)))
    assert found == [tmp_path / "owner" / "small"] * 2
    assert fetched == ["owner/small"]


def test_a_model_that_was_not_fetched_whole_is_not_there(tmp_path: Path) -> None:
    def fetch(name: str, folder: Path) -> None:
        (folder / "config.json").write_text("{}")
        raise LocalModelError("the line broke")

    with pytest.raises(LocalModelError, match="the line broke"):
        find_model("owner/small", tmp_path, fetch)
    assert not (tmp_path / "owner").exists()


@pytest.mark.parametrize("name", ["small", "./small", "/nowhere/small", "a/b/c"])
def test_what_is_neither_a_folder_nor_a_name_is_said_to_be_missing(tmp_path: Path, name: str) -> None:
    with pytest.raises(LocalModelError, match="There is no model"):
        find_model(name, tmp_path, never)


def test_encoder_and_reranker_open_without_loading(tmp_path: Path) -> None:
    for folder in (build_encoder(tmp_path / "encoder"), build_reranker(tmp_path / "reranker")):
        (folder / "model.onnx").write_bytes(b"not a model")
    assert open_encoder("encoder", models=tmp_path, context_tokens=512, threads=0).model.startswith("local/encoder@")
    open_reranker("reranker", models=tmp_path, threads=0)

"""From a question to passages, with models away or not."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from domain.documents import SourceType
from rag.ports import ModelAway, Reranker
from rag.records import Candidate
from rag.retrieval.search import Retrieval
from rag.retrieval.spelling import MAX_TERMS
from tests.fakes.rag import BASE, FixedEmbedder, FoundPassages, LowerWords, ReverseReranker, make_candidate

SECRET = "штраф за просрочку"


def make_retrieval(
    search: FoundPassages,
    *,
    embedder: FixedEmbedder | None = None,
    reranker: Reranker | None = None,
    vector_weight: float = 0.5,
    heard: Callable[[float], None] = lambda seconds: None,
) -> Retrieval:
    return Retrieval(
        search,
        embedder or FixedEmbedder(),
        LowerWords(),
        reranker,
        candidates=30,
        passages=2,
        lexical_weight=0.5,
        vector_weight=vector_weight,
        heard=heard,
    )


def three() -> list[Candidate]:
    return [
        make_candidate("штраф за просрочку оплаты", number=1, bm25=9.0, similarity=0.9),
        make_candidate("штраф начисляется ежедневно", number=2, bm25=4.0, similarity=0.5),
        make_candidate("прочие условия договора за год", number=3, bm25=1.0, similarity=0.4),
    ]


async def numbers(retrieval: Retrieval, text: str = SECRET) -> list[int]:
    return [int(ranked.passage.chunk_id) for ranked in await retrieval.find(BASE, text)]


async def test_the_best_of_both_legs_come_first_and_the_rest_is_left_out() -> None:
    assert await numbers(make_retrieval(FoundPassages(three()))) == [1, 2]


async def test_one_search_asks_both_legs() -> None:
    search = FoundPassages(three())

    await numbers(make_retrieval(search))

    (query,) = search.queries
    assert (query.vector, query.model, query.terms, query.limit) == ([1.0, 0.0], "test-1", tuple(SECRET.split()), 30)


async def test_without_the_embedder_the_words_serve_alone() -> None:
    search = FoundPassages(three())
    with capture_logs() as logs:
        found = await numbers(make_retrieval(search, embedder=FixedEmbedder(error=ModelAway("down"))))

    assert found == [1, 2]
    assert (search.queries[0].vector, search.queries[0].model) == (None, None)
    assert [entry["event"] for entry in logs] == ["search.lexical_only"]


async def test_a_question_never_reaches_the_log() -> None:
    retrieval = make_retrieval(
        FoundPassages(three()),
        embedder=FixedEmbedder(error=ModelAway(SECRET)),
        reranker=ReverseReranker(error=ModelAway(SECRET)),
    )
    with capture_logs() as logs:
        await numbers(retrieval)

    assert logs
    assert SECRET not in str(logs)


async def test_the_reranker_has_the_last_word() -> None:
    assert await numbers(make_retrieval(FoundPassages(three()), reranker=ReverseReranker())) == [3, 2]


async def test_without_the_reranker_the_fused_order_stands() -> None:
    reranker = ReverseReranker(error=ModelAway("down"))

    assert await numbers(make_retrieval(FoundPassages(three()), reranker=reranker)) == [1, 2]


async def test_a_leg_of_weight_zero_is_not_asked() -> None:
    search = FoundPassages(three())

    await numbers(make_retrieval(search, vector_weight=0))

    assert search.queries[0].vector is None


async def test_nothing_to_search_by_asks_nobody() -> None:
    search = FoundPassages(three())

    assert await numbers(make_retrieval(search, embedder=FixedEmbedder(vector=(0.0, 0.0))), "??") == []
    assert search.queries == []


async def test_noise_is_not_found() -> None:
    far = make_candidate("о погоде", number=4, similarity=0.01)

    assert await numbers(make_retrieval(FoundPassages([far]))) == []


async def test_a_passage_with_few_of_the_words_is_not_certain() -> None:
    found = await make_retrieval(FoundPassages(three()), reranker=ReverseReranker()).find(BASE, SECRET)

    assert [(int(each.passage.chunk_id), each.certain) for each in found] == [(3, False), (2, False)]


async def test_a_passage_of_the_file_that_is_asked_for_by_its_name_is_certain() -> None:
    found = make_candidate("о погоде", bm25=2.0)
    named = replace(found.passage, title="Прогноз", source_type=SourceType.FILE, source_identifier="Май 2026.pdf")
    retrieval = make_retrieval(FoundPassages([replace(found, passage=named)]))

    assert [each.certain for each in await retrieval.find(BASE, "май 2026.pdf")] == [True]


async def test_the_store_being_away_is_not_hidden() -> None:
    with pytest.raises(ConnectionError):
        await numbers(make_retrieval(FoundPassages(error=ConnectionError())))


async def test_a_question_that_is_repeated_is_embedded_once() -> None:
    embedder = FixedEmbedder()
    search = FoundPassages(three())
    retrieval = make_retrieval(search, embedder=embedder)

    await numbers(retrieval)
    embedder.error = ModelAway("down")

    assert await numbers(retrieval) == [1, 2]
    assert search.queries[0] == search.queries[1]


async def test_a_long_question_is_cut_before_it_is_searched() -> None:
    search = FoundPassages(three())

    await numbers(make_retrieval(search), " ".join(f"слово{number}" for number in range(2000)))

    assert len(search.queries[0].terms) == MAX_TERMS
    assert search.queries[0].spellings == ()


async def test_each_search_is_heard_once_and_none_that_failed() -> None:
    heard: list[float] = []
    search = FoundPassages(three())
    retrieval = make_retrieval(search, heard=heard.append)
    await retrieval.find(BASE, SECRET)
    await retrieval.find(BASE, SECRET)
    search.error = ConnectionError()
    with pytest.raises(ConnectionError):
        await retrieval.find(BASE, SECRET)

    assert len(heard) == 2

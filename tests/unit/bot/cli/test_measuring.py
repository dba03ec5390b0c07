"""The figures of `baza eval retrieval`, against sums done by hand."""

import math

import pytest

from bot.cli.measuring import SearchQuality, evaluate, retrieve
from rag.records import RankedPassage
from tests.fakes.rag import make_passage, rank


def measures(*ranked: str, judged: dict[str, float] | None = None) -> SearchQuality:
    return evaluate({"q": ranked}, {"q": judged or {"a": 2, "b": 1}})


def test_the_ideal_order_scores_one() -> None:
    got = measures("a", "b", "x")

    assert (got.ndcg_10, got.recall_10, got.recall_100, got.mrr_10, got.queries) == (1, 1, 1, 1, 1)


def test_gains_are_linear_and_discounted_by_rank() -> None:
    got = measures("x", "b", "a")

    # b (gain 1) second, a (gain 2) third; ideal: a first, b second
    dcg = 1 / math.log2(3) + 2 / math.log2(4)
    assert got.ndcg_10 == pytest.approx(dcg / (2 + 1 / math.log2(3)))
    assert got.ndcg_10 == pytest.approx(0.61991, abs=1e-5)
    assert got.mrr_10 == 0.5


def test_the_tenth_counts_and_the_eleventh_does_not() -> None:
    tenth = measures(*"012345678a", judged={"a": 1})
    eleventh = measures(*"0123456789a", judged={"a": 1})

    assert (tenth.recall_10, tenth.mrr_10) == (1, 0.1)
    assert (eleventh.ndcg_10, eleventh.recall_10, eleventh.mrr_10, eleventh.recall_100) == (0, 0, 0, 1)


def test_a_document_named_twice_counts_once() -> None:
    assert measures("a", "a", "b").ndcg_10 == 1


def test_a_question_without_an_answer_list_counts_as_zero() -> None:
    got = evaluate({"q": ["a"]}, {"q": {"a": 1}, "other": {"b": 1}})

    assert (got.ndcg_10, got.queries) == (0.5, 2)


def test_a_question_with_nothing_relevant_is_not_judged() -> None:
    assert evaluate({"q": ["a"]}, {"q": {"a": 0}}).queries == 0


def test_the_keys_are_the_promised_ones() -> None:
    assert list(measures("a").to_json()) == ["ndcg@10", "recall@10", "recall@100", "mrr@10", "queries"]


async def test_a_document_stands_where_its_best_passage_stands() -> None:
    found = rank(
        make_passage("1", number=1, document="b"),
        make_passage("2", number=2, document="a"),
        make_passage("3", number=3, document="b"),
    )

    async def find(_: str) -> tuple[RankedPassage, ...]:
        return found

    run = await retrieve(find, {"q": "?"}, lambda ranked: ranked.passage.document_id)

    assert run == {"q": ["b", "a"]}

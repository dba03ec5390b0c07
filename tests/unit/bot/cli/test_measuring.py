"""The figures of `baza eval retrieval`, against sums done by hand."""

import math

import pytest

from bot.cli.measuring import evaluate, retrieve
from rag.records import RankedPassage
from tests.fakes.rag import make_passage, rank


def measures(*ranked: str, judged: dict[str, float] | None = None) -> dict[str, float]:
    return evaluate({"q": ranked}, {"q": judged or {"a": 2, "b": 1}})


def test_the_ideal_order_scores_one() -> None:
    got = measures("a", "b", "x")

    assert list(got.values()) == [1, 1, 1, 1, 1]


def test_gains_are_linear_and_discounted_by_rank() -> None:
    got = measures("x", "b", "a")

    # b (gain 1) second, a (gain 2) third; ideal: a first, b second
    dcg = 1 / math.log2(3) + 2 / math.log2(4)
    assert got["ndcg@10"] == pytest.approx(dcg / (2 + 1 / math.log2(3)))
    assert got["ndcg@10"] == pytest.approx(0.61991, abs=1e-5)
    assert got["mrr@10"] == 0.5


def test_the_tenth_counts_and_the_eleventh_does_not() -> None:
    tenth = measures(*"012345678a", judged={"a": 1})
    eleventh = measures(*"0123456789a", judged={"a": 1})

    assert (tenth["recall@10"], tenth["mrr@10"]) == (1, 0.1)
    assert (eleventh["ndcg@10"], eleventh["recall@10"], eleventh["mrr@10"], eleventh["recall@100"]) == (0, 0, 0, 1)


def test_a_document_named_twice_counts_once() -> None:
    assert measures("a", "a", "b")["ndcg@10"] == 1


def test_a_question_without_an_answer_list_counts_as_zero() -> None:
    got = evaluate({"q": ["a"]}, {"q": {"a": 1}, "other": {"b": 1}})

    assert (got["ndcg@10"], got["queries"]) == (0.5, 2)


def test_a_question_with_nothing_relevant_is_not_judged() -> None:
    assert evaluate({"q": ["a"]}, {"q": {"a": 0}})["queries"] == 0


def test_the_keys_are_the_promised_ones() -> None:
    assert list(measures("a")) == ["ndcg@10", "recall@10", "recall@100", "mrr@10", "queries"]


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

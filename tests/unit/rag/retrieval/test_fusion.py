"""One order out of two legs."""

from hypothesis import given
from hypothesis import strategies as st

from rag.records import Candidate
from rag.retrieval.ranking import fuse
from tests.fakes.rag import make_candidate

BM25 = st.none() | st.floats(0.01, 40)
SIMILARITY = st.none() | st.floats(-1, 1)
WEIGHT = st.floats(0.05, 1)


@st.composite
def found(draw: st.DrawFn) -> list[Candidate]:
    legs = draw(st.lists(st.tuples(BM25, SIMILARITY), min_size=1, max_size=12))
    return [make_candidate("t", number=n, bm25=b, similarity=s) for n, (b, s) in enumerate(legs)]


@given(found(), WEIGHT, WEIGHT, st.randoms())
def test_the_order_of_candidates_does_not_matter(candidates: list[Candidate], a: float, b: float, dice: object) -> None:
    shuffled = sorted(candidates, key=lambda c: hash((str(dice), c.passage.chunk_id)))

    assert fuse(shuffled, lexical_weight=a, vector_weight=b) == fuse(candidates, lexical_weight=a, vector_weight=b)


@given(found(), WEIGHT, WEIGHT)
def test_better_in_both_legs_is_never_below(candidates: list[Candidate], a: float, b: float) -> None:
    score = {r.passage.chunk_id: r.score for r in fuse(candidates, lexical_weight=a, vector_weight=b)}

    for one in candidates:
        for other in candidates:
            if _at_least(one.bm25, other.bm25) and _at_least(one.similarity, other.similarity):
                assert score[one.passage.chunk_id] >= score[other.passage.chunk_id]


@given(found(), WEIGHT, WEIGHT)
def test_nothing_is_lost_or_made(candidates: list[Candidate], a: float, b: float) -> None:
    fused = fuse(candidates, lexical_weight=a, vector_weight=b)

    assert sorted(r.passage.chunk_id for r in fused) == [c.passage.chunk_id for c in candidates]
    assert all(0 <= r.score <= a + b + 1e-9 for r in fused)


def test_a_leg_of_weight_zero_decides_nothing() -> None:
    lexical = make_candidate("a", number=1, bm25=1.0, similarity=0.9)
    better = make_candidate("b", number=2, bm25=2.0, similarity=0.1)

    first, _ = fuse([lexical, better], lexical_weight=1, vector_weight=0)

    assert first.passage == better.passage


def test_nothing_found_is_nothing() -> None:
    assert fuse([], lexical_weight=1, vector_weight=1) == []


def _at_least(one: float | None, other: float | None) -> bool:
    """None is what a leg did not find: no better than its worst."""
    return other is None or (one is not None and one >= other)

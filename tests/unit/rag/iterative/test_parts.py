"""Cutting a document into parts."""

from hypothesis import given
from hypothesis import strategies as st

from rag.iterative.parts import FEWEST_TOKENS, parts_of, tokens_of
from rag.records import Passage
from tests.fakes.rag import make_passage

TEXTS = st.lists(st.text(alphabet='абв где \n"\\ xyz0', min_size=0, max_size=900), max_size=8)


def passages_of(texts: list[str]) -> list[Passage]:
    return [make_passage(text, number=place) for place, text in enumerate(texts, start=1)]


@given(texts=TEXTS, tokens=st.integers(0, 400))
def test_no_part_is_over_its_budget_and_no_letter_is_lost(texts: list[str], tokens: int) -> None:
    parts = list(parts_of(passages_of(texts), tokens=tokens))
    assert all(sum(map(tokens_of, part)) <= max(tokens, FEWEST_TOKENS) for part in parts)
    assert "".join(piece.text for part in parts for piece in part) == "".join(texts)


@given(texts=TEXTS, tokens=st.integers(0, 400))
def test_pieces_keep_the_order_and_the_place_of_their_passage(texts: list[str], tokens: int) -> None:
    pieces = [piece for part in parts_of(passages_of(texts), tokens=tokens) for piece in part]
    assert list(dict.fromkeys(piece.ordinal for piece in pieces)) == [each.ordinal for each in passages_of(texts)]


def test_a_long_passage_is_cut_between_words() -> None:
    parts = list(parts_of(passages_of(["слово " * 100]), tokens=FEWEST_TOKENS))
    assert len(parts) > 1
    assert all(part[0].text.endswith(" ") for part in parts)

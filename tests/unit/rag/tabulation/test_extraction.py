"""Which documents are read together."""

from hypothesis import example, given
from hypothesis import strategies as st

from domain.ids import DocumentId
from rag.tabulation.extraction import batched
from tests.fakes.cards import ready


@example(chunks=[3, 3], calls=1, passages=-5)  # a prompt too small for any passage
@given(
    chunks=st.lists(st.integers(0, 500), min_size=1, max_size=40),
    calls=st.integers(-1, 50),
    passages=st.integers(-5, 60),
)
def test_every_document_is_in_one_batch_and_there_are_no_more_batches_than_calls(
    chunks: list[int], calls: int, passages: int
) -> None:
    cards = [ready(id=DocumentId(str(place)), chunks=count) for place, count in enumerate(chunks)]
    batches = batched(cards, calls=calls, passages=passages)
    assert [card for batch in batches for card in batch] == cards
    assert len(batches) <= max(calls, 1)


def test_each_document_is_read_by_itself_while_there_are_calls() -> None:
    cards = [ready(id=DocumentId(str(place)), chunks=1) for place in range(5)]
    assert [len(batch) for batch in batched(cards, calls=5, passages=100)] == [1] * 5
    assert [len(batch) for batch in batched(cards, calls=4, passages=3)] == [3, 2]

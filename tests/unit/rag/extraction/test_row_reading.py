"""Which documents are read together."""

from hypothesis import example, given
from hypothesis import strategies as st

from domain.ids import DocumentId
from rag.extraction.row_reading import batched, made_up_for
from rag.extraction.rows import Checked, Row
from tests.fakes.cards import ready
from tests.fakes.rag import make_passage, rank


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


def test_a_row_left_out_of_a_part_and_given_from_the_next_is_not_missing() -> None:
    (end,) = rank(make_passage("Счёт 7 на 100 рублей. Счёт 8 на 200 рублей."))
    (new,) = rank(make_passage("Счёт 9 на 300 рублей.", number=2))
    seven, eight, nine = (
        Row(cells=(f"Счёт {number}",), sources=(source,)) for number, source in ((7, end), (8, end), (9, new))
    )
    short = ((end.passage,), Checked(rows=(seven,), seen=2))
    assert made_up_for(short, Checked(rows=(seven, eight, nine), seen=3)) == 1
    assert made_up_for(short, Checked(rows=(seven, nine), seen=2)) == 0

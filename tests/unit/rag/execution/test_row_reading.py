"""Reading rows: which documents share a call, and what is missing."""

from rag.execution.evidence import Checked, Row
from rag.execution.rows_tool import recovered
from rag.execution.wire import RowsReply
from tests.fakes.rag import make_passage, rank


def test_a_row_left_out_of_a_part_and_given_from_the_next_is_not_missing() -> None:
    (end,) = rank(make_passage("Счёт 7 на 100 рублей. Счёт 8 на 200 рублей."))
    (new,) = rank(make_passage("Счёт 9 на 300 рублей.", number=2))
    seven, eight, nine = (
        Row(cells=(f"Счёт {number}",), sources=(source,)) for number, source in ((7, end), (8, end), (9, new))
    )
    short = ((end.passage,), Checked(rows=(seven,), reply=RowsReply(total_seen=2, rows=())))
    assert recovered(short, Checked(rows=(seven, eight, nine), reply=RowsReply(total_seen=3, rows=()))) == 1
    assert recovered(short, Checked(rows=(seven, nine), reply=RowsReply(total_seen=2, rows=()))) == 0

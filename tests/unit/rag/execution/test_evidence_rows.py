"""Holding rows against the text."""

from dataclasses import replace

import pytest

from domain.ids import DocumentId
from rag.execution.evidence import check, unread_lines
from rag.execution.wire import ReadRow
from tests.fakes.clerk import listed
from tests.fakes.rag import make_passage

FIRST = make_passage("Договор № 5 от 12 марта 2024 г. заключён с ООО «Ромашка» и передан Анне Ким.", number=1)
SECOND = make_passage("Цена 120 тыс. рублей. Оплата в течение тридцати дней.", number=2)
OTHER = replace(make_passage("Договор № 6 на 700 рублей.", number=3, document="other", title="Другой"))
PART = [FIRST, SECOND, OTHER]


def read(*cells: str, quote: str = "Договор № 5", chunk: str = "c1") -> ReadRow:
    return ReadRow(chunk_id=chunk, cells=cells, quote=quote)


def supported(*cells: str, columns: int = 2) -> tuple[str, ...]:
    rows = check(listed(read(*cells)), PART, columns=columns).rows
    return rows[0].cells if rows else ()


@pytest.mark.parametrize(
    "cell",
    [
        "120 тыс. рублей",
        "120 000 ₽",
        "12 марта 2024",
        "12.03.2024",
        "ООО «Ромашка»",
        "Ромашке",
        "Анна",
        "30 дней",
        "да",
        "Договор.pdf",
    ],
)
def test_a_cell_stays_when_its_document_bears_it(cell: str) -> None:
    assert supported("5", cell) == ("5", cell)


@pytest.mark.parametrize("cell", ["700 рублей", "13.03.2024", "ООО «Василёк»", "Ангар", "Кира", "45 дней"])
def test_a_cell_that_its_document_does_not_bear_is_emptied(cell: str) -> None:
    assert supported("5", cell) == ("5", "")


def test_each_cell_is_tied_to_the_passage_that_says_it() -> None:
    reply = listed(read("5", "120 тыс. рублей", "да", quote="цена 120 тыс. рублей", chunk="c1"))
    row = check(reply, PART, columns=3).rows[0]
    assert [source.chunk_id for source in row.sources] == [1, 2, 2]
    assert row.document == DocumentId("doc")


@pytest.mark.parametrize("row", [read("5", quote="Договор № 55"), read("5", quote=""), read("999"), read("")])
def test_rows_without_a_quotation_or_a_first_cell_are_dropped_and_counted(row: ReadRow) -> None:
    checked = check(listed(row, read("5")), PART, columns=1)
    assert (len(checked.rows), checked.dropped) == (1, 1)


def test_every_row_gets_as_many_cells_as_there_are_columns() -> None:
    assert supported("5", columns=3) == ("5", "", "")
    assert supported("5", "да", "да", "да", columns=2) == ("5", "да")


PAYMENTS = make_passage("5 мая | Кофе | 250 ₽\n5 мая | Кофе | 250 ₽\n6 мая | Чай | 90 ₽", number=4)


@pytest.mark.parametrize(
    ("quote", "given", "numbered"),
    [
        ("5 мая | Кофе | 250 ₽", 2, [0, 1]),
        ("5 мая | Кофе | 250 ₽", 3, [0, 1, 1]),  # the third stands nowhere
        ("Кофе | 250 ₽", 2, [0, 0]),  # these words do not say the whole row
        ("5 мая | Кофе | 250 ₽ 6 мая", 2, [0, 0]),
    ],
)
def test_equal_rows_are_told_apart_where_their_line_stands_more_than_once(
    quote: str, given: int, numbered: list[int]
) -> None:
    rows = [read("5 мая", "250 ₽", quote=quote, chunk="c4")] * given
    assert [row.nth for row in check(listed(*rows), [PAYMENTS], columns=2).rows] == numbered


LIST = "Задачи:\n- Закупка\n- Монтаж\n- Приёмка\nКонец."


def unread(text: str, *cells: str) -> tuple[str, ...]:
    passage = make_passage(text)
    return unread_lines([(passage.chunk_id, cell) for cell in cells], [passage])


def test_an_item_between_rows_is_found() -> None:
    assert unread(LIST, "Закупка", "Приёмка") == ("- Монтаж",)


def test_a_list_of_which_one_row_was_read_may_be_of_other_things() -> None:
    assert unread(LIST, "Закупка") == ()


def test_a_list_that_is_mostly_of_other_things_is_left_alone() -> None:
    assert unread("\n".join(f"{number}. Пункт {number}" for number in range(1, 9)), "Пункт 1", "Пункт 2") == ()


def test_heads_rules_and_sums_of_a_table_are_no_rows() -> None:
    table = "| имя | ставка |\n|---|---|\n| Анна | 1 |\n| Борис | 2 |\n| Вера | 3 |\n| **Итого** | 6 |"
    assert unread(table, "Анна", "Вера") == ("| Борис | 2 |",)


def test_a_line_that_another_passage_repeats_is_read_there() -> None:
    first, second = make_passage(LIST, number=1), make_passage(LIST, number=2)
    rows = [(first.chunk_id, "Закупка"), (first.chunk_id, "Монтаж"), (second.chunk_id, "Приёмка")]
    assert unread_lines(rows, [first, second]) == ()

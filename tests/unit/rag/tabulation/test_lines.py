"""Lines that stand among rows, and of which none was read."""

from rag.tabulation.lines import unread_lines
from tests.fakes.rag import make_passage

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

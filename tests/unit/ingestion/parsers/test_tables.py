"""Tables as Markdown rows."""

from ingestion.parsers.tables import render_table


def test_short_rows_are_filled_up() -> None:
    assert render_table([["a", "b"], ["1"]]) == "| a | b |\n| --- | --- |\n| 1 |  |"


def test_empty_rows_and_columns_are_left_out() -> None:
    assert render_table([["", "a", ""], ["", "", ""], ["", "1", ""]]) == "| a |\n| --- |\n| 1 |"


def test_a_cell_is_one_line_and_its_bars_are_no_borders() -> None:
    assert render_table([["a\nb | c"]]) == "| a b \\| c |\n| --- |"


def test_a_table_without_text_is_nothing() -> None:
    assert render_table([["", " "], []]) == ""

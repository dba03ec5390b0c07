"""Putting rows of many documents together."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.ids import DocumentId
from rag.extraction.merging import compare, key_of, tabulate
from rag.extraction.rows import Row
from rag.records import RankedPassage
from tests.fakes.rag import make_passage

DOCUMENTS = ("a", "b", "c")
CAME = {DocumentId(name): datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day) for day, name in enumerate(DOCUMENTS)}


def row(document: str, *cells: str, chunk: int = 1, nth: int = 0) -> Row:
    passage = make_passage("текст", number=ord(document) * 1000 + chunk, document=document)
    return Row(cells=cells, sources=(RankedPassage(passage=passage, score=1.0),), nth=nth)


def table(*rows: Row) -> list[tuple[str, ...]]:
    return [each.cells for each in tabulate(rows, row="договор", columns=("номер", "цена"), came=CAME).rows]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12/2024", "Договор № 12/2024"),
        ("№ 12-2024", "12/2024 от 01.02.2024"),
        ("ООО «Ромашка»", "ООО Ромашка"),
        ("договор номер 5", "5"),
    ],
)
def test_one_thing_is_known_by_its_number_or_name(one: str, other: str) -> None:
    assert key_of(one, "договор") == key_of(other, "договор")


@pytest.mark.parametrize(("one", "other"), [("12/2024", "12/2025"), ("Акт № 3", "Договор № 3"), ("А", "Б")])
def test_other_things_have_other_keys(one: str, other: str) -> None:
    assert key_of(one, "договор") != key_of(other, "договор")


def test_a_thing_alone_is_known_by_the_word_for_it() -> None:
    assert key_of("Договор", "договор") == ("договор",)


def test_a_row_of_two_documents_is_one_with_both_sources() -> None:
    made = tabulate([row("a", "5", ""), row("b", "№ 5", "10 ₽")], row="договор", columns=("номер", "цена"), came=CAME)
    assert [each.cells for each in made.rows] == [("№ 5", "10 ₽")]
    assert len(made.rows[0].sources) == 2
    assert made.conflicts == ()


def test_of_documents_that_disagree_the_newest_has_its_way() -> None:
    made = tabulate(
        [row("a", "5", "10 ₽"), row("c", "5", "12 ₽"), row("b", "5", "")],
        row="договор",
        columns=("номер", "цена"),
        came=CAME,
    )
    assert [each.cells for each in made.rows] == [("5", "12 ₽")]
    assert made.conflicts[0].about == "5, цена"
    assert [claim.value for claim in made.conflicts[0].claims] == ["12 ₽", "10 ₽"]


def test_rows_of_one_document_that_differ_are_several_and_no_disagreement() -> None:
    rows = (row("a", "5", "10 ₽"), row("a", "5", "12 ₽", chunk=2), row("b", "5", "12 ₽"), row("b", "5", "14 ₽"))
    assert table(*rows) == [("5", "10 ₽"), ("5", "12 ₽"), ("5", "14 ₽")]
    assert tabulate(rows, row="договор", columns=("номер", "цена"), came=CAME).conflicts == ()


CELLS = st.sampled_from(("", "10 ₽", "12 ₽", "10 рублей"))
ROWS = st.lists(
    st.builds(
        row, st.sampled_from(DOCUMENTS), st.sampled_from(("5", "№ 5", "6", "договор 7")), CELLS, chunk=st.integers(1, 5)
    ),
    max_size=8,
)


@given(rows=ROWS)
def test_no_source_of_a_row_is_lost_and_no_row_is_invented(rows: list[Row]) -> None:
    made = tabulate(rows, row="договор", columns=("номер", "цена"), came=CAME)

    def places(found: "list[Row] | tuple[Row, ...]") -> set[tuple[object, int]]:
        return {
            (key_of(each.cells[0], "договор"), source.passage.chunk_id) for each in found for source in each.sources
        }

    assert places(made.rows) == places(rows)
    assert len(made.rows) <= len(rows)
    assert {cell for each in made.rows for cell in each.cells} <= {cell for each in rows for cell in each.cells}


@given(rows=ROWS)
def test_things_are_counted_alike_in_whatever_order_documents_are_read(rows: list[Row]) -> None:
    keys = {key_of(each.cells[0], "договор") for each in rows}
    one_each = [next(each for each in rows if key_of(each.cells[0], "договор") == key) for key in keys]
    assert len(table(*one_each)) == len(table(*reversed(one_each))) == len(keys)


@given(before=ROWS, after=ROWS)
def test_a_comparison_accounts_for_every_row(before: list[Row], after: list[Row]) -> None:
    found = compare(before, after, row="договор")
    assert len(found.removed) + len(found.changed) + found.same == len(before)
    assert len(found.added) + len(found.changed) + found.same == len(after)


@given(rows=ROWS)
def test_a_document_does_not_differ_from_itself(rows: list[Row]) -> None:
    found = compare(rows, rows, row="договор")
    assert (found.removed, found.added, found.changed) == ((), (), ())


def test_two_equal_lines_of_one_document_are_two_rows_wherever_else_they_are_told() -> None:
    lines = [row("a", "5 мая", "250 ₽"), row("a", "5 мая", "250 ₽", nth=1)]
    repeated = [row("a", "5 мая", "250 ₽", chunk=2), row("b", "5 мая", "250 ₽")]
    assert table(*lines, *repeated) == [("5 мая", "250 ₽")] * 2

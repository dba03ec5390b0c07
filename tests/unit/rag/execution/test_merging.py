"""Merging the rows of many documents."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.ids import DocumentId
from rag.execution.evidence import Row
from rag.execution.ledger import worded
from rag.execution.merging import conflicts_of, key_of, merge_rows
from rag.execution.wire import Standing
from rag.records import TableRow
from tests.fakes.rag import make_passage
from tests.fakes.reading import WORDINGS

DOCUMENTS = ("a", "b", "c")
CAME = {DocumentId(name): datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day) for day, name in enumerate(DOCUMENTS)}
COLUMNS = ("номер", "цена")
MENTIONS, OWN, AMENDS, DRAFT = Standing.MENTIONS, Standing.OWN, Standing.AMENDS, Standing.DRAFT


def row(
    document: str, *cells: str, chunk: int = 1, nth: int = 0, standing: Standing = OWN, dated: str = "", name: str = ""
) -> Row:
    passage = replace(
        make_passage("текст", number=ord(document) * 1000 + chunk, document=document),
        published_at=datetime.fromisoformat(dated).replace(tzinfo=UTC) if dated else None,
        source_identifier=name or f"{document}.txt",
    )
    return Row(cells=cells, sources=(passage,) * len(cells), nth=nth, standing=standing)


def merged(*rows: Row, key: tuple[int, ...] = (0,)) -> tuple[TableRow, ...]:
    return merge_rows(rows, row="договор", key=key, came=CAME)


def table(*rows: Row, key: tuple[int, ...] = (0,)) -> list[tuple[str, ...]]:
    return [each.cells for each in merged(*rows, key=key)]


def said(thing: TableRow, place: int = 1) -> tuple[str, str, list[str], list[str]]:
    """The value, its document, what disagrees, what was replaced."""
    document = thing.sources[place].document_id
    disputed, formerly = thing.disputed(place), thing.formerly(place)
    return (thing.cells[place], document, [each.value for each in disputed], [each.value for each in formerly])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12/2024", "Договор № 12/2024"),
        ("№ 12-2024", "12/2024 от 01.02.2024"),
        ("12/2024", "Договор поставки № 12/2024 от 01.02.2024"),
        ("А-12/2024", "A-12/2024"),  # a Cyrillic letter and a Latin one
        ("ООО «Ромашка»", "ООО Ромашка"),
        ("ООО «Ромашка»", "Ромашка"),
        ("договор номер 5", "5"),
    ],
)
def test_one_thing_is_known_by_its_number_or_name(one: str, other: str) -> None:
    assert key_of((one,), "договор") == key_of((other,), "договор")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12/2024", "12/2025"),
        ("Акт № 3", "Договор № 3"),
        ("А", "Б"),
        ("Кисть № 5", "Краска № 5"),
        ("№ 12/2024-А", "№ 12/2024-Б"),
        ("1 к договору № 14/2024", "2 к договору № 14/2024"),
        ("1 к договору № 14/2024", "1 к договору № 11/2024"),
    ],
)
def test_other_things_have_other_keys(one: str, other: str) -> None:
    assert key_of((one,), "договор") != key_of((other,), "договор")


def test_a_thing_alone_is_known_by_the_word_for_it() -> None:
    assert key_of(("Договор",), "договор") == (("договор",),)


def test_payments_are_told_apart_by_all_columns_of_the_key() -> None:
    first, second = row("a", "12/2024", "1 марта 2025 г.", "100 ₽"), row("b", "12/2024", "01.04.2025", "100 ₽")
    copy = row("c", "№ 12/2024", "01.03.2025", "100,00 руб.")
    assert len(merged(first, second, copy, key=(0, 1, 2))) == 2


def test_a_value_is_told_with_the_document_that_says_it() -> None:
    thing = merged(row("a", "5", ""), row("b", "№ 5", "10 ₽", standing=MENTIONS))[0]
    assert (thing.cells, [each.document_id for each in thing.sources]) == (("5", "10 ₽"), ["a", "b"])
    assert not thing.disputed(1)


def test_of_documents_that_disagree_the_newest_has_its_way() -> None:
    things = merged(row("a", "5", "10 ₽"), row("c", "5", "12 ₽"), row("b", "5", ""))
    assert [said(each) for each in things] == [("12 ₽", "c", ["10 ₽"], [])]
    conflicts = conflicts_of(things, COLUMNS, CAME)
    assert conflicts[0].about == "5, цена"
    assert [claim.value for claim in conflicts[0].claims] == ["12 ₽", "10 ₽"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        pytest.param(
            (row("a", "5", "10 ₽", dated="2024-01-01"), row("b", "5", "12 ₽", dated="2024-06-01", standing=AMENDS)),
            ("12 ₽", "b", [], ["10 ₽"]),
            id="an amendment replaces",
        ),
        pytest.param(
            (row("a", "5", "10 ₽", dated="2024-01-01"), row("b", "5", "", dated="2024-06-01", standing=AMENDS)),
            ("10 ₽", "a", [], []),
            id="an amendment leaves what it does not name",
        ),
        pytest.param(
            (
                row("c", "5", "14 ₽", dated="2024-09-01", standing=AMENDS),
                row("a", "5", "10 ₽", dated="2024-01-01"),
                row("b", "5", "12 ₽", dated="2024-06-01", standing=AMENDS),
            ),
            ("14 ₽", "c", [], ["12 ₽", "10 ₽"]),
            id="the last of two amendments",
        ),
        pytest.param(
            (row("a", "5", "10 ₽", dated="2024-01-01"), row("b", "5", "12 ₽", dated="2024-06-01", standing=MENTIONS)),
            ("10 ₽", "a", ["12 ₽"], []),
            id="a letter does not change a contract",
        ),
        pytest.param(
            (
                row("a", "5", "10 ₽", dated="2024-01-01"),
                row("b", "5", "12 ₽", dated="2024-06-01", standing=AMENDS),
                row("c", "5", "10 ₽", dated="2024-03-01", standing=MENTIONS),
            ),
            ("12 ₽", "b", [], ["10 ₽"]),
            id="a letter from before the amendment disagrees with nobody",
        ),
        pytest.param(
            (row("b", "5", "12 ₽", name="Проект 2024-05-01.txt"), row("a", "5", "10 ₽", name="Договор 2024-04-01.txt")),
            ("12 ₽", "b", ["10 ₽"], []),
            id="a date in a name counts where the text has none",
        ),
        pytest.param(
            (row("a", "5", "10 ₽", dated="2024-01-01"), row("b", "5", "12 ₽", dated="2024-06-01", standing=DRAFT)),
            ("10 ₽", "a", ["12 ₽"], []),
            id="a draft that is newer than what is signed is not in force",
        ),
        pytest.param(
            (row("a", "5", "10 ₽"), row("b", "5", "10,00 руб.", standing=AMENDS)),
            ("10 ₽", "a", [], []),
            id="of documents that say the same the thing's own is named",
        ),
    ],
)
def test_whose_value_counts(rows: tuple[Row, ...], told: object) -> None:
    assert [said(each) for each in merged(*rows)] == [told]


def test_of_what_disagrees_no_other_result_is_made_with_a_draft() -> None:
    signed, draft = row("a", "5", "10 ₽"), row("b", "5", "90 ₽", dated="2024-06-01", standing=DRAFT)
    letter, older = row("c", "5", "12 ₽", standing=MENTIONS), row("c", "5", "80 ₽", dated="2024-03-01", standing=DRAFT)
    for rows, other in (((signed, draft), "10 ₽"), ((signed, draft, letter), "12 ₽"), ((older, draft), "80 ₽")):
        (thing,) = things = merged(*rows)
        assert thing.otherwise().cells == ("5", other)
        assert "90 ₽" in {claim.value for claim in conflicts_of(things, COLUMNS, CAME)[0].claims}  # told all the same


def test_a_month_in_the_name_is_told_as_a_month() -> None:
    rows = (row("a", "5", "7 ₽", name="Прайс март 2025.txt"), row("b", "5", "9 ₽", name="Прайс апрель 2025.txt"))
    (conflict,), _ = worded(conflicts_of(merged(*rows), COLUMNS, CAME), WORDINGS["ru"])
    assert conflict.told.splitlines()[-2:] == [
        "- Прайс апрель 2025.txt: 9 ₽",
        "- Прайс март 2025.txt: 7 ₽",
    ]


MARCH = [
    row("a", name, price, name="Прайс 2025-03") for name, price in (("ель", "1 ₽"), ("дуб", "2 ₽"), ("ива", "3 ₽"))
]
APRIL = [
    row("b", name, price, name="Прайс 2025-04") for name, price in (("ель", "1 ₽"), ("дуб", "5 ₽"), ("бук", "9 ₽"))
]


def test_a_newer_version_of_a_list_replaces_the_older_one() -> None:
    things = merged(*APRIL, *MARCH)
    assert [(each.cells[0], each.is_outdated) for each in things] == [
        ("ель", False),
        ("дуб", False),
        ("бук", False),
        ("ива", True),
    ]
    assert said(things[1]) == ("5 ₽", "b", [], ["2 ₽"])


def test_lists_without_dates_or_of_other_things_are_no_versions() -> None:
    undated = [replace(each, sources=row("c", *each.cells).sources) for each in MARCH]
    assert not any(each.is_outdated for each in merged(*APRIL, *undated))
    others = [row("c", name, "1 ₽", name="Прайс 2025-02") for name in ("ель", "клён", "липа", "граб", "вяз")]
    assert not any(each.is_outdated for each in merged(*APRIL, *others))


def test_rows_of_one_document_that_differ_are_several_and_no_disagreement() -> None:
    rows = (row("a", "5", "10 ₽"), row("a", "5", "12 ₽", chunk=2), row("b", "5", "12 ₽"), row("b", "5", "14 ₽"))
    assert table(*rows) == [("5", "10 ₽"), ("5", "12 ₽"), ("5", "14 ₽")]
    assert conflicts_of(merged(*rows), COLUMNS, CAME) == ()


def test_a_letter_that_names_two_values_makes_no_second_thing() -> None:
    letter = [row("b", "5", price, standing=MENTIONS) for price in ("10 ₽", "12 ₽")]
    assert [said(each) for each in merged(row("a", "5", "10 ₽"), *letter)] == [("10 ₽", "a", ["12 ₽"], [])]


CELLS = st.sampled_from(("", "10 ₽", "12 ₽", "10 рублей"))
ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from(DOCUMENTS),
        st.sampled_from(("5", "№ 5", "6", "договор 7")),
        CELLS,
        chunk=st.integers(1, 5),
        standing=st.sampled_from(Standing),
    ),
    max_size=8,
)


@given(rows=ROWS)
def test_no_value_is_lost_and_none_is_invented(rows: list[Row]) -> None:
    things = merged(*rows)
    keys = {key_of(each.cells, "договор") for each in things}
    assert keys == {key_of(each.cells, "договор") for each in rows}
    assert len(things) <= len(rows)
    for thing in things:
        for place, cell in enumerate(thing.cells):
            assert not cell or any(
                each.cells[place] == cell and each.sources[place] == thing.sources[place] for each in rows
            )


@given(rows=ROWS)
def test_things_are_counted_alike_in_whatever_order_documents_are_read(rows: list[Row]) -> None:
    keys = {key_of(each.cells, "договор") for each in rows}
    one_each = [next(each for each in rows if key_of(each.cells, "договор") == key) for key in keys]
    assert len(table(*one_each)) == len(table(*reversed(one_each))) == len(keys)


def compared(before: list[Row], after: list[Row]) -> tuple[TableRow, ...]:
    rows = [row(name, *each.cells, nth=each.nth) for name, side in (("a", before), ("b", after)) for each in side]
    return merge_rows(rows, row="договор", came=CAME, earlier=DocumentId("a"))


def test_what_changed_between_two_documents_is_what_the_later_one_replaces() -> None:
    before = [row("a", "5", "10 ₽"), row("a", "6", "12 ₽"), row("a", "7", "14 ₽", standing=AMENDS)]
    after = [row("b", "№ 5", "10 рублей"), row("b", "7", "15 ₽", standing=MENTIONS), row("b", "8", "1 ₽")]
    things = compared(before, after)
    assert [(each.cells[0], each.is_outdated, each.is_new) for each in things] == [
        ("№ 5", False, False), ("6", True, False), ("7", False, False), ("8", False, True),
    ]  # fmt: skip
    assert [said(each)[3] for each in things] == [[], [], ["14 ₽"], []]


@given(before=ROWS, after=ROWS)
def test_a_comparison_accounts_for_every_row(before: list[Row], after: list[Row]) -> None:
    things = compared(before, after)
    keys = [{key_of(each.cells, "договор") for each in rows} for rows in (before, after)]
    told = [
        {key_of(each.cells, "договор") for each in things if not side(each)}
        for side in map(attrgetter, ("is_new", "is_outdated"))
    ]
    assert told == keys


@given(rows=ROWS)
def test_a_document_does_not_differ_from_itself(rows: list[Row]) -> None:
    things = compared(rows, rows)
    assert not any(each.is_new or each.is_outdated or any(map(each.formerly, (0, 1))) for each in things)


def test_two_equal_lines_of_one_document_are_two_rows_wherever_else_they_are_told() -> None:
    lines = [row("a", "5 мая", "250 ₽"), row("a", "5 мая", "250 ₽", nth=1)]
    repeated = [row("a", "5 мая", "250 ₽", chunk=2), row("b", "5 мая", "250 ₽")]
    assert table(*lines, *repeated) == [("5 мая", "250 ₽")] * 2

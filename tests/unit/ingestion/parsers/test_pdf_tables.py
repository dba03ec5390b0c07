"""Which lines of a page are a table, what its columns are called, and what stays prose."""

from collections.abc import Sequence

import pytest

from ingestion.parsers.pdf_layout import build_paragraphs
from ingestion.parsers.pdf_lines import PageLine, Segment
from ingestion.parsers.pdf_tables import VALUE, PdfTable, find_tables, inherit_heads

SIZE = 10.0
LETTER = 5.0  # its width, points
TOP = 700.0


def page(*drawn: str, top: float = TOP) -> list[PageLine]:
    """Lines as they look: each character takes LETTER points, two blanks divide segments, a line is 12 points high."""
    return [_line(text, top - 12 * number) for number, text in enumerate(drawn) if text.strip()]


def _line(text: str, baseline: float) -> PageLine:
    segments: list[Segment] = []
    start = 0
    for part in text.split("  "):
        if part.strip():
            left = (start + len(part) - len(part.lstrip())) * LETTER
            segments.append(Segment(part.strip(), left, left + len(part.strip()) * LETTER))
        start += len(part) + 2
    words = " ".join(segment.text for segment in segments)
    left, right = segments[0].left, segments[-1].right
    return PageLine(text=words, size=SIZE, baseline=baseline, left=left, right=right, segments=tuple(segments))


def texts(lines: Sequence[PageLine]) -> list[str]:
    """The tables of a page as Markdown, without the rules."""
    return ["\n".join(line for line in table.text.split("\n") if "---" not in line) for table in find_tables(lines)]


def test_values_that_stand_above_each_other_are_columns_and_the_lines_above_name_them() -> None:
    lines = page(
        "Consolidated Balance Sheet",
        "(Dollars in millions)      2022      2021",
        "Assets",
        "Cash                   $  3,655  $  4,564",
        "Total inventories         5,372     4,985",
        "Less: depreciation      (16,820)  (17,784)",
    )
    assert texts(lines) == [
        "| (Dollars in millions) | 2022 | 2021 |\n"
        "| Assets |  |  |\n"
        "| Cash | $ 3,655 | $ 4,564 |\n"
        "| Total inventories | 5,372 | 4,985 |\n"
        "| Less: depreciation | (16,820) | (17,784) |"
    ]


def test_a_unit_above_the_head_stands_above_the_table() -> None:
    lines = page(
        "(тыс. руб.)",
        "                    Январь    Февраль",
        "Аренда               1 200      1 250",
        "Связь                  118        121",
    )
    assert texts(lines) == ["(тыс. руб.)\n|  | Январь | Февраль |\n| Аренда | 1 200 | 1 250 |\n| Связь | 118 | 121 |"]


def test_a_name_of_several_lines_that_spans_columns_is_given_to_each() -> None:
    lines = page(
        "                 Three Months Ended    Six Months Ended",
        "                 July 29   July 30     July 29   July 30",
        "                   2023      2022        2023      2022",
        "Net earnings      $ 274     $ 306       $ 518     $ 647",
        "Other                 5         -           -        (1)",
    )
    head = texts(lines)[0].split("\n")[0]
    assert head == (
        "|  | Three Months Ended July 29 2023 | Three Months Ended July 30 2022"
        " | Six Months Ended July 29 2023 | Six Months Ended July 30 2022 |"
    )


def test_the_lines_of_a_label_are_one_row() -> None:
    lines = page(
        "                                      2022      2021",
        "Net actuarial gain arising during",
        "the period, net of tax               1,533     4,262",
        "Settlements                             (4)      191",
    )
    assert "| Net actuarial gain arising during the period, net of tax | 1,533 | 4,262 |" in texts(lines)[0]


def test_numbered_rows_with_a_measure_between_their_values() -> None:
    lines = page(
        "№   Наименование     Кол-во     Ед.       Цена",
        "1   Цемент М500         120     шт.     480,00",
        "2   Песок речной         15     т       900,00",
    )
    assert texts(lines) == [
        "| № Наименование | Кол-во Ед. | Цена |\n"
        "| 1 Цемент М500 | 120 шт. | 480,00 |\n| 2 Песок речной | 15 т | 900,00 |"
    ]


def test_cells_that_are_drawn_one_by_one_are_put_beside_each_other() -> None:
    labels = page("", "Rooms", "Food", "Casino")
    first = page("             2022", "              897", "              710", "            1,548")
    second = page(
        "                       2021",
        "                        636",
        "                        515",
        "                      1,527",
    )
    assert texts([*labels, *first, *second]) == [
        "|  | 2022 | 2021 |\n| Rooms | 897 | 636 |\n| Food | 710 | 515 |\n| Casino | 1,548 | 1,527 |"
    ]


def test_days_name_columns_as_years_do() -> None:
    lines = page(
        "тыс. руб.            31.12.2024    31.12.2023",
        "Запасы                    1 204         1 118",
        "Касса                         5             7",
    )
    assert texts(lines)[0].startswith("| тыс. руб. | 31.12.2024 | 31.12.2023 |\n| Запасы |")


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["In 2022 our rate was 16.1 and 21.8", "in 2021, of which 3.5 and 4.6"], id="prose"),
        pytest.param(["Item 1  Business       3", "Item 2  Properties    18", "Item 3  Risks  21"], id="contents"),
        pytest.param(["Phone      (425) 111-1111", "Name       Gabriel Diaz", "Odometer   9,800"], id="a form"),
        pytest.param(
            [
                "The first column of a page of prose ends  and the second begins here, with 12",
                "long lines, 5 of",
            ],
            id="columns of prose",
        ),
        pytest.param(["Total      $ 5"], id="a single line"),
    ],
)
def test_what_is_no_table(lines: Sequence[str]) -> None:
    assert find_tables(page(*lines)) == []


@pytest.mark.parametrize(
    ("text", "is_value"),
    [
        ("1 577,00", True),
        ("$ (1,577)", True),
        ("(47)%", True),
        ("22.3 %", True),
        ("—", True),
        ("$ —", True),
        ("1,204(1)", True),
        ("N/A", True),
        ("12 500 руб.", True),
        ("July 29, 2023", False),
        ("10-K", False),
        ("(425) 111-1111", False),
        ("Note 5", False),
    ],
)
def test_what_a_value_looks_like(text: str, is_value: bool) -> None:
    assert (VALUE.fullmatch(text) is not None) == is_value


ROWS = ("Rent                    1,200     1,250", "Phone                     118       121")


def continued(*above: str) -> tuple[PdfTable, list[PageLine]]:
    """A table with a head, and a page on which its rows go on below the lines `above`."""
    (first,) = find_tables(page("(in thousands)", "                         2022      2021", *ROWS))
    return first, page(*above, *ROWS)


def test_a_table_that_goes_on_on_the_next_page_keeps_its_head_and_unit() -> None:
    first, lines = continued("Table of Contents")
    (table,) = inherit_heads(find_tables(lines), lines, first)
    assert (table.head, table.unit) == (first.head, first.unit)


def test_a_paragraph_above_says_that_it_is_another_table() -> None:
    first, lines = continued("The following amounts were paid to others during the year:")
    (table,) = inherit_heads(find_tables(lines), lines, first)
    assert not any(table.head)


def test_a_table_that_a_line_without_values_has_divided_is_one() -> None:
    head = "                         2022      2021"
    lines = page(head, *ROWS, "", "", "Commitments", "", "", *ROWS)
    apart = find_tables(lines)
    (table,) = inherit_heads(apart, lines, None)
    assert len(apart) == 2
    assert [row[0] for row in table.rows].count("Commitments") == 1
    assert len(table.rows) == len(apart[0].rows) + 1 + len(apart[1].rows)
    assert len({len(row) for row in table.rows}) == 1
    assert table.lines == frozenset(range(len(lines)))


def test_tables_stand_between_the_paragraphs_of_their_page() -> None:
    lines = page("Before it.", "", "                         2022      2021", *ROWS, "", "", "", "", "After it.")
    found = [(paragraph.text.split("\n")[0], paragraph.is_table) for paragraph in build_paragraphs([lines])]
    assert found == [("Before it.", False), ("|  | 2022 | 2021 |", True), ("After it.", False)]


@pytest.mark.parametrize(
    ("last", "first", "rows"),
    [
        (
            "Net cash provided by operating",
            "activities                1,200     1,250",
            ["Net cash provided by operating activities | 1,200"],
        ),
        (
            "Выплаты по договорам за",
            "Аренду                    1,200     1,250",
            ["Выплаты по договорам за Аренду | 1,200"],
        ),
        ("Total rent", "                          1,200     1,250", ["Total rent | 1,200"]),
        ("Current assets", "Cash                      1,200     1,250", ["Current assets | ", "Cash | 1,200"]),
    ],
)
def test_a_label_at_the_end_of_a_page_stays_with_its_numbers(last: str, first: str, rows: list[str]) -> None:
    head = "                           2022      2021"
    pages = [page("Before it.", "", head, *ROWS, "", "", "", "", last), page(first, *ROWS)]
    found = list(build_paragraphs(pages))
    below = [each.text for each in found if each.page == 2]
    assert [each.text for each in found if not each.is_table] == ["Before it."]
    assert [line.startswith(f"| {row}") for line, row in zip(below[0].split("\n")[2:], rows, strict=False)] == [
        True
    ] * len(rows)


def test_a_sentence_at_the_end_of_a_page_is_no_label() -> None:
    head = "                           2022      2021"
    last = "These amounts were paid to others in each of the years:"
    pages = [page(head, *ROWS, "", "", "", "", last), page(*ROWS)]
    found = list(build_paragraphs(pages))
    assert [each.text for each in found if not each.is_table] == [last]

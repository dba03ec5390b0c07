"""Words are found in a fact as they stand there, and long facts are cut to what matters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.excerpts import find, near

FACT = "Ответ:  «Срок — 14\u00a0дней»,\nесли счёт оплачен. It’s 5–7 days."


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ('"Срок - 14 дней"', "«Срок — 14\u00a0дней»"),
        ("14 дней», если счет", "14\u00a0дней»,\nесли счёт"),
        (" It's 5-7 days ", "It’s 5–7 days"),
    ],
)
def test_space_quotes_dashes_and_yo_make_no_difference(words: str, found: str) -> None:
    if "», если" in words:
        words = words.replace("»,", "»,")
    span = find(words, FACT)
    assert span is not None
    assert FACT[span.start : span.end] == found


@pytest.mark.parametrize("words", ["срок — 14 дней", "Срок 14 дней", "14 дня", "", "…", "—"])
def test_anything_else_does(words: str) -> None:
    assert find(words, FACT) is None


@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_a_part_of_a_text_is_found_in_it(text: str, start: int, end: int) -> None:
    part = text[start:end]
    span = find(part, text)
    assert span is not None or not any(sign.isalnum() or sign == "_" for sign in part)
    assert span is None or find(text[span.start : span.end], part) is not None


def test_a_short_text_is_not_cut() -> None:
    assert near("Срок 14 дней.", "штраф", limit=100) == "Срок 14 дней."


def test_a_long_text_keeps_its_first_line_and_the_sentences_in_question() -> None:
    text = "| Услуга | Цена |\n" + "Прочие условия не важны. " * 50 + "Штраф 0,1 % в день. " + "Дальше пусто. " * 50
    cut = near(text, "Какой штраф?", limit=200)
    assert cut.startswith("| Услуга | Цена |")
    assert "Штраф 0,1 % в день." in cut
    assert len(cut) < 260


STORES = (
    "These decreases in revenue of fiscal 2024 were due to the stores of the second quarter. "
    * 6
    + "\nStores open at the end of the second quarter of fiscal 2024 and fiscal 2023 were as follows:\n"
    "| | Fiscal 2024 | Fiscal 2023 |\n| --- | --- | --- |\n"
    "| Outlet Centers | 20 | 18 |\n| Pacific Sales | 20 | 21 |\n| Yardbird | 22 | 13 |\n| Total | 969 | 982 |\n"
    + "We expect to close stores in the second quarter of fiscal 2024 and of fiscal 2023. "
    * 6
)


def test_the_row_with_the_figures_of_a_statement_stays_with_the_names_of_its_columns() -> None:
    """Of FinanceBench's answers 8 of 25 lost true statements, since prose has more of their words than the row has."""
    said = "There were 969 stores at the end of the second quarter of fiscal 2024, and 982 in fiscal 2023."
    cut = near(STORES, said, limit=400)
    assert "| Total | 969 | 982 |" in cut
    assert "| | Fiscal 2024 | Fiscal 2023 |" in cut
    assert "| Yardbird" not in cut or "| --- |" in cut


def test_a_row_comes_with_its_unit() -> None:
    """«$1,294,630 thousand» was sent back, since «(In thousands)» had been left out."""
    rows = "".join(f"| Region {number} | {number}07,100 |\n" for number in range(20))
    text = (
        f"MGM by region\n\n(In thousands)\n(Unaudited)\n| | 2022 |\n| --- | --- |\n{rows}\nSome words. " + "More. " * 90
    )
    assert "(In thousands)\n(Unaudited)\n| | 2022 |" in near(text, "Region 14: 1407,100 thousand", limit=150)


def test_what_was_said_already_leaves_room_for_the_other_figures() -> None:
    prose = "MGM China, the regional operations and the Las Vegas resorts are told apart in 2022. " * 6
    text = f"{prose}\n\n| | 2022 |\n| --- | --- |\n| Las Vegas | 314 |\n| Regional | 129 |\n| China | (203) |\n{prose}"
    cut = near(text, "In 2022 the Las Vegas resorts had 314, regional operations 129, MGM China (203).", limit=330)
    assert all(f"| {row} |" in cut for row in ("Las Vegas | 314", "Regional | 129", "China | (203)"))


def test_no_rule_takes_the_room_of_a_row() -> None:
    table = "| Year | 2022 | 2021 |\n| --- | --- | --- |\n" + "".join(
        f"| Item {n} | {n}00 | {n}50 |\n" for n in range(40)
    )
    kept = near(table, "Item 31 and item 7", limit=120).split("\n")
    assert {"| Year | 2022 | 2021 |", "| Item 31 | 3100 | 3150 |", "| Item 7 | 700 | 750 |"} <= {
        each for line in kept for each in line.split(" … ")
    }


def test_whatever_a_statement_shares_with_the_text_is_shown_beyond_the_limit() -> None:
    """A true statement about Embraer was sent back: the year stood in the one sentence that had no room."""
    told = [f"The joint venture with party {number} of the agreement ended in {2000 + number}." for number in range(60)]
    said = [f"Party {number} ended its joint venture in {2000 + number}." for number in (7, 31, 58)]
    cut = near("\n".join(told), "What of the joint ventures?", limit=80, whole=said)
    assert all(told[number] in cut for number in (7, 31, 58))
    assert len(cut) < 400


def test_a_figure_is_found_in_another_spelling() -> None:
    rows = "".join(f"| Строка {number} | {number}4,229.5 |\n" for number in range(1, 60))
    assert "| Строка 31 | 314,229.5 |" in near(rows, "Выручка", limit=60, whole=["Выручка 314 229,5 млн."])


def test_each_shown_piece_of_joined_passages_comes_with_the_lines_above_it() -> None:
    filler = "Стороны хранят документы. " * 20
    passages = (f"Document: {name}\nSection: Note {name}\nText:\n{filler}Срок {name} дней." for name in ("21", "35"))
    cut = near("\n\n".join(passages), "", limit=60, whole=["Срок 35 дней."])
    assert "Section: Note 35\nText:" in cut
    assert "Section: Note 21" not in cut


def test_a_sentence_between_two_that_are_shown_is_shown() -> None:
    """Its words stand in other sentences, too; what it says stands in it alone (a report's note on its lawsuits)."""
    text = (
        "Claims, disputes and disputed orders of customers are recorded once a year.\n\n"
        "In 2020, we terminated these agreements under our contractual right. Embraer has disputed our right to "
        "terminate, and an arbitration goes on. We cannot estimate a loss from the arbitration, which ends in 2023."
    )
    said = "Embraer disputes the right to terminate the agreements of 2020; the arbitration ends in 2023."
    assert "Embraer has disputed our right" in near(text, "Which lawsuits?", limit=20, whole=[said])
    told = "In 2020 the agreements were terminated by contractual right; the arbitration ends in 2023."
    assert "Embraer has disputed our right" in near(text, "Which lawsuits?", limit=20, whole=[told])


@given(st.text(max_size=400), st.text(max_size=40), st.integers(20, 200))
def test_every_piece_of_a_cut_text_stands_in_it(text: str, about: str, limit: int) -> None:
    assert all(piece in text for piece in near(text, about, limit=limit).split(" … ") if "…" not in text)

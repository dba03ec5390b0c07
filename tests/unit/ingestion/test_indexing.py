"""The names by which passages are found, and how long they count."""

import pytest

from adapters.lexical import RussianEnglishAnalyzer
from ingestion.indexing import length_of, spelled_out


@pytest.mark.parametrize(
    ("name", "opening", "full"),
    [
        ("AMERICANEXPRESS_2022_10K", "American Express Company, New York", ["american express"]),
        ("BESTBUY_2024Q2_10Q", "BEST BUY CO., INC. Best Buy", ["best buy"]),
        ("Договор ТРИКОТАЖСЕРВИС", "ООО «Трикотаж-Сервис»", ["трикотаж сервис"]),
        ("BOEING_2022", "The Boeing Company", []),
        ("scan 0117", "", []),
    ],
)
def test_a_joined_name_is_spelled_out_as_the_text_has_it(name: str, opening: str, full: list[str]) -> None:
    assert spelled_out(name, opening) == full


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("выручка 2022 года", 3),
        ("| Выручка | 1 577 | (34,229) | 12.5 % | $8.30 |\n| --- | --- | --- | --- | --- |", 1),
        ("| Счёт 117 | 5 шт. | — |", 4),
    ],
)
def test_numbers_of_a_table_do_not_make_a_passage_longer(text: str, length: int) -> None:
    analyzer = RussianEnglishAnalyzer()
    assert length_of(analyzer, text, analyzer.terms(text)) == length

"""The names by which passages are found."""

import pytest

from ingestion.indexing import spelled_out


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

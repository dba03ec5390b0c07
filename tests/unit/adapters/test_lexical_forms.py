"""Days and numbers are found however they are written."""

import pytest

from adapters.lexical import clean
from adapters.lexical_forms import uniform_terms


def uniform(text: str) -> set[str]:
    return set(uniform_terms(text, clean(text)))


@pytest.mark.parametrize(
    "text",
    [
        "24 октября 2016 г.",
        "24-го октября 2016",
        "24.10.2016",
        "24/10/2016",
        "2016-10-24",
        "minutes_24.10.2016",
        "October 24, 2016",
        "24 October 2016",
        "the 24th of October 2016",
        "Oct. 24 2016",
    ],
)
def test_one_day_is_one_term(text: str) -> None:
    assert uniform(text) >= {"2016-10-24", "2016-10", "--10-24"}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("на совещании 17 октября", {"--10-17"}),
        ("прайс за май 2024 года", {"2024-05"}),
        ("апрельский прайс 2025", {"2025-04"}),
        ("price_2025-09", {"2025", "2025-09"}),
        ("Прайс-лист 09.2025", {"2025-09"}),
        ("Q2 of FY2024", {"2024", "2024-q2"}),
        ("BESTBUY_2024Q2_10Q", {"2024", "2024-q2"}),
        ("2-й квартал 2024", {"2024-q2"}),
        ("FY2022", {"2022"}),
        ("$1,577.00", {"1577"}),
        ("12,345,678", {"12345678"}),
        ("договор № 117/2025", {"№117/2025", "117/2025"}),
        ("протокол номер 27", {"№27"}),
        ("agreement No. 12", {"№12"}),
    ],
)
def test_other_forms(text: str, terms: set[str]) -> None:
    assert uniform(text) == terms


@pytest.mark.parametrize("text", ["market 2020", "1,5 и 0,125", "32.13.2020", "майор 2020", "в марте", "3.14.15"])
def test_what_is_none_of_these_gives_nothing(text: str) -> None:
    assert uniform(text) == set()

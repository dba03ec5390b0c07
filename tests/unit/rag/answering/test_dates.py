"""Days of an answer, and the year that they have in the materials."""

import pytest

from rag.answering.dates import of_other_years

ACT = "Договор от 12.05.2024, акт 2025 года."


@pytest.mark.parametrize(
    ("said", "answer", "day"),
    [
        (ACT, "Договор от 12 мая 2025 года.", "12 мая 2025"),
        (ACT, "Договор от 12.05.2025.", "12.05.2025"),
        ("Dated May 12, 2024; report of 2025.", "It is dated 12th of May, 2025.", "12th of May, 2025"),
        ("Date: 2024-05-12\nОтчёт за 2025 год.", "Письмо от 12-го мая 2025 года.", "12-го мая 2025"),
    ],
)
def test_a_day_of_another_year_is_told(said: str, answer: str, day: str) -> None:
    assert of_other_years(answer, said) == [day]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (ACT, "Договор от 12 мая 2024 года."),
        (ACT, "Signed on May 12, 2024."),
        (ACT, "Через год, 13 мая 2025 года."),
        ("Месяц с 10 марта 2024 года.", "До 10 апреля 2024 года."),
        ("С 10 по 12 мая 2023 года, а раньше 10 мая 2022 года.", "С 10 мая 2023 года."),
        ("Праздник 12 мая, с 12 мая 1990 года.", "12 мая 2026 года праздник."),
        ("Встреча 12.05, прошлая 12.05.2024.", "Встреча 12.05.2026."),
        ("Версия 3.11.", "Версия 3.11 вышла 24 октября 2022 года."),
    ],
)
def test_other_days_pass(said: str, answer: str) -> None:
    assert of_other_years(answer, said) == []

"""Times of day in words."""

import pytest

from rag.answering.clock import clock_times, times_named


@pytest.mark.parametrize(
    ("text", "hour", "minute"),
    [
        ("без четверти пять", 4, 45),
        ("без двадцати пяти минут час", 0, 35),
        ("четверть первого", 0, 15),
        ("в половине пятого", 4, 30),
        ("полпятого", 4, 30),
        ("двадцать минут шестого", 5, 20),
        ("quarter past twelve", 0, 15),
        ("half past four", 4, 30),
        ("quarter to one", 0, 45),
        ("at twenty to five", 4, 40),
        ("ten minutes to nine", 8, 50),
    ],
)
def test_a_time_in_words_is_read(text: str, hour: int, minute: int) -> None:
    (time,) = clock_times(text)
    assert (time.hour, time.minute) == (hour, minute)
    assert text[time.start : time.end] == time.shown


@pytest.mark.parametrize(
    "text",
    [
        "вторая половина мая",
        "четверть учеников",
        "from ten to twelve people",
        "без пяти рублей",
        "a quarter of the sum",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert list(clock_times(text)) == []


def test_times_are_known_in_digits_on_a_face_of_twelve_hours() -> None:
    assert times_named("в 16:45, 9.30 и 20 ч 15 мин. адрес 10.0.30.1") == {(4, 45), (9, 30), (8, 15)}

"""How long a service asks to be left alone."""

from datetime import UTC, datetime

import pytest

from domain.errors import retry_after_s

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 12:00:30", 30.0),  # no zone: UTC, as HTTP demands
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),  # a clock that is behind ours
        (None, None),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("²", None),  # a digit, and no number
    ],
)
def test_retry_after_is_read_as_seconds_or_date(value: str | None, seconds: float | None) -> None:
    assert retry_after_s(value, now=NOON) == seconds

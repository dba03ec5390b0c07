"""`Retry-After`, the part of downloading that needs no network."""

from datetime import UTC, datetime

import pytest

from ingestion.fetch.download import retry_after_s

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("120", 120.0),
        ("Sat, 21 Nov 2026 12:01:30 GMT", 90.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),  # past
        ("soon", None),
        ("-5", None),
    ],
)
def test_a_wait_is_a_number_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after_s(value, now=NOW) == seconds

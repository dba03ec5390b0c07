"""How long a document waits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.settings import Settings
from ingestion.errors import FailureCode, ServiceError
from ingestion.patience import JITTER, LONGEST_S, REFUSED_S, next_attempt_in_s

AWAY = ServiceError(FailureCode.SERVICE_AWAY)


def _delay_s(error: ServiceError = AWAY, *, attempt: int = 1, chance: float = 0.5) -> float | None:
    return next_attempt_in_s(error, attempt=attempt, attempts=8, backoff_s=5, chance=chance)


def test_waits_double_and_end_after_the_last_attempt() -> None:
    assert [_delay_s(attempt=attempt) for attempt in range(1, 9)] == [5, 10, 20, 40, 80, 160, 320, None]


def test_as_it_is_set_a_service_may_be_away_for_hours() -> None:
    """«Документ сохранён, закончу сам» is no promise for ten minutes."""
    worker = Settings.read({}).worker
    waits = [
        next_attempt_in_s(AWAY, attempt=attempt, attempts=worker.attempts, backoff_s=worker.backoff_s, chance=0.5)
        for attempt in range(1, worker.attempts)
    ]
    assert sum(filter(None, waits)) > 6 * 3600


def test_a_service_that_names_a_time_is_not_asked_sooner() -> None:
    error = ServiceError(FailureCode.SERVICE_AWAY, retry_after_s=90)
    assert _delay_s(error, chance=0) == 90


def test_a_refused_key_waits_for_a_person() -> None:
    assert _delay_s(ServiceError(FailureCode.SERVICE_REFUSED)) == REFUSED_S


@pytest.mark.parametrize("code", [FailureCode.PAGE_STATUS, FailureCode.PAGE_TOO_SLOW, FailureCode.PAGE_UNREACHABLE])
def test_a_page_is_given_up_sooner_than_a_service(code: FailureCode) -> None:
    assert [_delay_s(ServiceError(code), attempt=attempt) for attempt in (1, 2, 3)] == [5, 10, None]


@given(st.integers(1, 10_000), st.floats(0, 1), st.floats(0, 1e6) | st.none())
def test_no_wait_is_much_longer_than_an_hour(attempt: int, chance: float, asked_s: float | None) -> None:
    error = ServiceError(FailureCode.SERVICE_AWAY, retry_after_s=asked_s)
    delay_s = next_attempt_in_s(error, attempt=attempt, attempts=10_001, backoff_s=5, chance=chance)
    assert delay_s is not None
    assert 0 <= delay_s <= LONGEST_S * (1 + JITTER)

"""How long a request waits for its turn in the minute."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.jina.pace import MINUTE_S, TIERS, Pace, Tier, estimate_cost

TIER = Tier(requests_a_minute=3, tokens_a_minute=100, concurrency=2)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> Pace:
    return Pace(TIER, clock)


def test_the_first_requests_go_at_once(pace: Pace) -> None:
    pace.count(30)
    pace.count(30)
    assert pace.pause_s(30) == 0


def test_a_request_too_many_waits_for_the_first_to_be_a_minute_old(pace: Pace, clock: Clock) -> None:
    for _ in range(3):
        pace.count(1)
        clock.now += 10
    assert pace.pause_s(1) == pytest.approx(30)


def test_tokens_too_many_wait_for_as_many_to_be_a_minute_old(pace: Pace, clock: Clock) -> None:
    pace.count(60)
    clock.now += 20
    pace.count(40)
    assert pace.pause_s(50) == pytest.approx(40)


def test_a_request_above_the_whole_limit_goes_when_it_is_alone(pace: Pace, clock: Clock) -> None:
    assert pace.pause_s(1000) == 0
    pace.count(1)
    assert pace.pause_s(1000) == pytest.approx(MINUTE_S)


def test_a_pause_that_was_asked_for_is_kept(pace: Pace, clock: Clock) -> None:
    pace.rest(7)
    pace.rest(3)
    assert pace.pause_s(1) == pytest.approx(7)
    clock.now += 8
    assert pace.rest_s == 0
    assert pace.pause_s(1) == 0


@given(st.lists(st.tuples(st.integers(1, 100), st.floats(0, 20)), max_size=60))
def test_no_minute_holds_more_than_the_tier_allows(requests: list[tuple[int, float]]) -> None:
    clock = Clock()
    pace, sent = Pace(TIER, clock), list[tuple[float, int]]()
    for tokens, pause in requests:
        clock.now += pause
        clock.now += pace.pause_s(tokens)
        pace.count(tokens)
        sent.append((clock.now, tokens))
    for at, _ in sent:
        minute = [tokens for moment, tokens in sent if at - MINUTE_S + 1e-6 < moment <= at]
        assert len(minute) <= TIER.requests_a_minute
        assert max(accumulate(minute), default=0) <= TIER.tokens_a_minute


def test_the_estimate_leans_upwards() -> None:
    assert estimate_cost(["Привет, как дела у вашей бабушки?", "да"]) >= 11 + 1


def test_every_tier_of_the_settings_is_known() -> None:
    assert set(TIERS) == {"free", "paid", "premium"}


def test_where_only_questions_are_asked_the_minute_does_not_grow(pace: Pace, clock: Clock) -> None:
    for _ in range(1000):
        pace.count(1)
        clock.now += 1
    assert pace.remembered <= MINUTE_S + 1

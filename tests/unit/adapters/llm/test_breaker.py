"""A model that does not answer is left alone for a while."""

from dataclasses import dataclass

from adapters.llm.breaker import CircuitBreaker


@dataclass
class Clock:
    """Seconds that a test sets."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(failures=2, rest_s=10, clock=clock)


def test_one_failure_is_bad_luck() -> None:
    guarded = breaker(Clock())
    guarded.failed()
    assert guarded.allows_call()


def test_after_failures_in_a_row_it_rests_and_is_then_tried_by_one_caller() -> None:
    clock = Clock()
    guarded = breaker(clock)
    guarded.failed()
    guarded.failed()
    assert not guarded.allows_call()
    clock.now += 10
    assert [guarded.allows_call(), guarded.allows_call()] == [True, False]


def test_an_answer_ends_the_rest() -> None:
    clock = Clock()
    guarded = breaker(clock)
    guarded.failed()
    guarded.failed()
    clock.now += 10
    assert guarded.allows_call()
    guarded.succeeded()
    assert [guarded.allows_call(), guarded.allows_call()] == [True, True]


def test_a_failed_try_begins_another_rest() -> None:
    clock = Clock()
    guarded = breaker(clock)
    for _ in range(2):
        guarded.failed()
    clock.now += 10
    assert guarded.allows_call()
    guarded.failed()
    clock.now += 9
    assert not guarded.allows_call()


def test_looking_whether_it_rests_lets_nobody_through() -> None:
    clock = Clock()
    guarded = breaker(clock)
    states = [guarded.is_open]
    guarded.failed()
    guarded.failed()
    assert [*states, guarded.is_open] == [False, True]
    clock.now += 10
    assert [guarded.is_open, guarded.allows_call(), guarded.is_open] == [False, True, True]


def test_the_rest_after_a_failed_try_is_counted_from_its_end() -> None:
    clock = Clock()
    guarded = breaker(clock)
    for _ in range(2):
        guarded.failed()
    clock.now += 10
    assert guarded.allows_call()
    clock.now += 60  # a timeout
    guarded.failed()
    assert guarded.is_open

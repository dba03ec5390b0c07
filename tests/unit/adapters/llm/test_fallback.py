"""When a model that did not answer is tried again, beside others."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

import pytest

from adapters.llm.client import OpenAIChatModel
from adapters.llm.fallback import FAILURES, REST_S, CircuitBreaker, FallbackModel
from rag.metering import ModelCall
from rag.ports import ModelAway
from rag.records import ChatMessage

MESSAGES = (ChatMessage(role="user", content="?"),)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Model:
    """Answers with its name, or is away."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_away = False

    def heard(self, call: ModelCall) -> None: ...

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        if self.is_away:
            raise ModelAway(self.name)
        return self.name

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str, None]:
        for piece in await self.complete(messages):
            yield piece


def one_of(*models: Model, clock: Clock) -> FallbackModel:
    return FallbackModel([cast("OpenAIChatModel", model) for model in models], clock=clock)


async def tire(model: FallbackModel) -> None:
    for _ in range(FAILURES):
        with pytest.raises(ModelAway):
            await model.complete(MESSAGES)


async def test_a_model_that_has_rested_is_there_when_the_first_fails() -> None:
    """While the first answers, nobody asks the second: that was counted as its try, and it rested on."""
    clock, first, second = Clock(), Model("first"), Model("second")
    model = one_of(first, second, clock=clock)
    first.is_away = second.is_away = True
    await tire(model)
    clock.now += REST_S
    first.is_away = second.is_away = False
    assert await model.complete(MESSAGES) == "first"
    first.is_away = True
    assert await model.complete(MESSAGES) == "second"


async def test_an_answer_that_a_person_stops_ends_the_rest() -> None:
    clock, only = Clock(), Model("only")
    model = one_of(only, clock=clock)
    only.is_away = True
    await tire(model)
    clock.now += REST_S
    only.is_away = False
    async with aclosing(model.stream(MESSAGES)) as pieces:
        assert await anext(pieces) == "o"
    assert await model.complete(MESSAGES) == "only"


@dataclass
class ManualClock:
    """Seconds that a test sets."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def tired(clock: ManualClock) -> CircuitBreaker:
    """One that has begun to rest."""
    breaker = CircuitBreaker(clock=clock)
    for _ in range(FAILURES):
        breaker.failed()
    return breaker


def test_one_failure_is_bad_luck() -> None:
    guarded = CircuitBreaker()
    guarded.failed()
    assert guarded.allows_call()


def test_after_failures_in_a_row_it_rests_and_is_then_tried_by_one_caller() -> None:
    clock = ManualClock()
    guarded = tired(clock)
    assert not guarded.allows_call()
    clock.now += REST_S
    assert [guarded.allows_call(), guarded.allows_call()] == [True, False]


def test_an_answer_ends_the_rest() -> None:
    clock = ManualClock()
    guarded = tired(clock)
    clock.now += REST_S
    assert guarded.allows_call()
    guarded.succeeded()
    assert [guarded.allows_call(), guarded.allows_call()] == [True, True]


def test_a_failed_try_begins_another_rest() -> None:
    clock = ManualClock()
    guarded = tired(clock)
    clock.now += REST_S
    assert guarded.allows_call()
    guarded.failed()
    clock.now += REST_S - 1
    assert not guarded.allows_call()


def test_looking_whether_it_rests_lets_nobody_through() -> None:
    clock = ManualClock()
    guarded = tired(clock)
    assert [CircuitBreaker().is_open, guarded.is_open] == [False, True]
    clock.now += REST_S
    assert [guarded.is_open, guarded.allows_call(), guarded.is_open] == [False, True, True]


def test_the_rest_after_a_failed_try_is_counted_from_its_end() -> None:
    clock = ManualClock()
    guarded = tired(clock)
    clock.now += REST_S
    assert guarded.allows_call()
    clock.now += 60  # a timeout
    guarded.failed()
    assert guarded.is_open

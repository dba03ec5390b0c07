"""Calls that run side by side in several steps, and the limits of their turn."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from rag.execution.tools import Run, RunLimits, Spent, ask
from rag.metering import Usage
from rag.ports import ModelMisfit, Schema
from rag.records import ChatMessage
from rag.words import estimate_tokens

REPLY = 100
PRICE = 0.01  # of a token


async def _work(run: Run, prompts: list[int], chance: Random) -> None:
    """One step: it asks as often as it may; what ends takes what it was allowed, or less."""
    for tokens in prompts:
        if not run.allows(tokens + REPLY):
            return
        with run.calling(tokens + REPLY):
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            reply = chance.randrange(REPLY + 1)
            run.usage.calls += 1
            run.usage.prompt_tokens += tokens
            run.usage.answer_tokens += reply
            run.usage.cost += PRICE * (tokens + reply)


async def _turn(run: Run, steps: list[list[int]], seed: int) -> None:
    await asyncio.gather(*(_work(run, prompts, Random(seed + number)) for number, prompts in enumerate(steps)))


@given(
    steps=st.lists(st.lists(st.integers(1, 500), max_size=6), max_size=5),
    calls=st.integers(1, 12),
    tokens=st.integers(1, 4_000),
    cost=st.floats(0.5, 40),
    seed=st.integers(0, 99),
)
def test_steps_side_by_side_never_take_more_than_the_turn_may(
    steps: list[list[int]], calls: int, tokens: int, cost: float, seed: int
) -> None:
    planning = Usage(calls=1, prompt_tokens=10, cost=10 * PRICE)  # the planner has been asked: a price is known
    run = Run(limits=RunLimits(model_calls=calls, tokens=tokens, cost=cost), usage=planning)
    asyncio.run(_turn(run, steps, seed))
    used = run.usage
    assert used.calls <= max(calls, 1)
    assert used.tokens <= max(tokens, 10)
    assert used.cost <= cost + 1e-9
    assert (run.calls_under_way, run.tokens_under_way) == (0, 0)


def test_a_call_of_one_step_counts_for_the_others() -> None:
    run = Run(limits=RunLimits(model_calls=1))
    with run.calling(10):
        assert run.is_over()
    assert not run.is_over()


def test_what_is_under_way_is_paid_for_at_the_price_of_a_token_so_far() -> None:
    run = Run(limits=RunLimits(cost=1.0), usage=Usage(calls=1, prompt_tokens=100, cost=0.1))
    assert run.allows(900)
    with run.calling(500):
        assert not run.allows(900)


ASKED = (ChatMessage(role="user", content="Сколько договоров?"),)
REPLY = 100
PRICE = 0.0001  # of a token


class Count(BaseModel):
    """What is asked for."""

    count: int


@dataclass
class ClumsyModel:
    """A ChatModel whose replies fit where `fits` says so; keeps the meter as an adapter does."""

    fits: Iterator[bool]
    usage: Usage = field(default_factory=Usage)
    asked: list[Sequence[ChatMessage]] = field(default_factory=list)
    name: str = "clumsy"

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        assert not corrected, "a second try that nobody has counted"
        await asyncio.sleep(0)
        self.asked.append(messages)
        tokens = sum(estimate_tokens(message.content) for message in messages)
        self.usage.calls += 1
        self.usage.prompt_tokens += tokens
        self.usage.answer_tokens += REPLY
        self.usage.cost += PRICE * (tokens + REPLY)
        if next(self.fits):
            return schema.model_validate({"count": 3})
        raise ModelMisfit("no Count", answer='{"number": 3}', problems="- count: Field required")

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        raise NotImplementedError

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        raise NotImplementedError


def model_of(*fits: bool, **limits: int) -> tuple[ClumsyModel, Run]:
    model = ClumsyModel(iter(fits))
    return model, Run(limits=RunLimits(**limits), usage=model.usage)


async def test_a_reply_that_does_not_fit_is_shown_to_the_model_with_what_is_wrong() -> None:
    model, run = model_of(False, True)
    assert await ask(model, ASKED, Count, run, reply_tokens=REPLY) == Count(count=3)
    first, second = model.asked
    assert (first, second[:1]) == (ASKED, ASKED)
    assert second[1] == ChatMessage(role="assistant", content='{"number": 3}')
    assert "count: Field required" in second[2].content


async def test_there_is_one_second_try() -> None:
    model, run = model_of(False, False)
    with pytest.raises(ModelMisfit):
        await ask(model, ASKED, Count, run, reply_tokens=REPLY)
    assert len(model.asked) == 2


async def test_the_last_call_of_a_turn_has_no_second_try_and_the_turn_tells_why() -> None:
    model, run = model_of(False, model_calls=1)
    with pytest.raises(ModelMisfit):
        await ask(model, ASKED, Count, run, reply_tokens=REPLY)
    assert (len(model.asked), run.refused) == (1, Spent.MODEL_CALLS)


async def test_a_question_that_does_not_fit_into_the_turn_is_not_asked_and_told_of() -> None:
    model, run = model_of(tokens=50)
    assert await ask(model, ASKED, Count, run, reply_tokens=REPLY) is None
    assert (model.asked, run.refused) == ([], Spent.TOKENS)


@given(
    fits=st.lists(st.booleans(), min_size=60, max_size=60),
    steps=st.integers(1, 5),
    calls=st.integers(1, 12),
    tokens=st.integers(1, 3_000),
    cost=st.floats(0.01, 0.3),
)
def test_steps_side_by_side_with_second_tries_never_take_more_than_the_turn_may(
    fits: list[bool], steps: int, calls: int, tokens: int, cost: float
) -> None:
    model = ClumsyModel(iter(fits), usage=Usage(calls=1, prompt_tokens=1, cost=PRICE))  # a price is known
    run = Run(limits=RunLimits(model_calls=calls, tokens=tokens, cost=cost), usage=model.usage)

    async def step() -> None:
        for _ in range(5):
            try:
                await ask(model, ASKED, Count, run, reply_tokens=REPLY)
            except ModelMisfit:
                continue

    async def turn() -> None:
        await asyncio.gather(*(step() for _ in range(steps)))

    asyncio.run(turn())
    assert run.usage.calls <= max(calls, 1)
    assert run.usage.tokens <= max(tokens, 1)
    assert run.usage.cost <= cost + 1e-9

"""Calls that run side by side in several steps, and the limits of their turn."""

import asyncio
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rag.execution.run import Run, RunLimits, Spent
from rag.iterative.allowance import Allowance
from rag.metering import Usage

REPLY = 100
PRICE = 0.01  # of a token


async def _work(run: Run, prompts: list[int], chance: Random) -> None:
    """One step: it asks as often as it may; what ends takes what it was allowed, or less."""
    allowance = Allowance(run=run, reply_tokens=REPLY)
    for tokens in prompts:
        if not allowance.allows(tokens):
            return
        with allowance.calling(tokens):
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
    with Allowance(run=run, reply_tokens=REPLY).calling(10):
        assert Allowance(run=run, reply_tokens=REPLY).spent is Spent.MODEL_CALLS
    assert Allowance(run=run, reply_tokens=REPLY).spent is None


def test_what_is_under_way_is_paid_for_at_the_price_of_a_token_so_far() -> None:
    run = Run(limits=RunLimits(cost=1.0), usage=Usage(calls=1, prompt_tokens=100, cost=0.1))
    allowance = Allowance(run=run, reply_tokens=0)
    assert allowance.allows(900)
    with allowance.calling(500):
        assert not allowance.allows(900)

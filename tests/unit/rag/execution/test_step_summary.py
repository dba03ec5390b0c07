"""Older steps in a model's words, where code would leave their facts out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.loader import load_prompts
from rag.execution.step_context import MOST_CALLS, Finished, StepSummariser, summary
from rag.execution.tools import Run, RunLimits
from rag.metering import Usage
from rag.words import estimate_tokens
from tests.fakes.rag import ScriptedModel, away
from tests.fakes.steps import found, step

PROMPTS = load_prompts()
MANY = [
    Finished(step=step(f"s{number}"), payload=found(*(f"Пункт {number}.{each}: " + "слово " * 20 for each in range(9))))
    for number in range(8)
]
TOKENS = 600
NOTES = "Пункт 1.2 и пункт 2.3 говорят об одном."


async def told(model: ScriptedModel, *, tokens: int = TOKENS, run: Run | None = None) -> str:
    summariser = StepSummariser(model, PROMPTS)
    return await summariser.tell(MANY, question="О чём пункты?", tokens=tokens, run=run or Run())


async def test_a_model_sums_up_what_code_would_leave_out() -> None:
    model = ScriptedModel(reply=NOTES)
    text = await told(model)
    assert NOTES in text
    assert "Step s7" in text
    assert "Пункт 0.8" in model.asked[0][-1].content


async def test_long_facts_are_cut_rather_than_left_out_of_what_the_model_reads() -> None:
    model = ScriptedModel(reply="Пункты есть.")
    steps = [Finished(step=step(f"s{n}"), payload=found(*(f"Пункт {n}.{m} " + "слово " * 300 for m in range(4))))
             for n in range(8)]  # fmt: skip
    await StepSummariser(model, PROMPTS).tell(steps, question="О чём?", tokens=TOKENS, run=Run())
    read = model.asked[0][-1].content
    assert all(f"Пункт {n}.{m} " in read for n in range(6) for m in range(4))
    assert estimate_tokens(read) < 7_000


async def test_no_model_is_asked_while_code_can_tell_every_step() -> None:
    model = ScriptedModel(reply=NOTES)
    text = await told(model, tokens=20_000)
    assert (text, model.asked) == (summary(MANY, tokens=20_000).text, [])


@pytest.mark.parametrize(
    "model",
    [ScriptedModel(error=away()), ScriptedModel(reply="Пунктов всего 4242."), ScriptedModel(reply="слово " * 2000)],
    ids=["away", "a number of its own", "too long"],
)
async def test_notes_that_cannot_be_used_cost_nothing_but_the_call(model: ScriptedModel) -> None:
    assert await told(model) == summary(MANY, tokens=TOKENS).text
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "run",
    [
        Run(limits=RunLimits(model_calls=10), usage=Usage(calls=7)),
        Run(limits=RunLimits(tokens=2_000)),
        Run(summaries=MOST_CALLS),
    ],
    ids=["calls", "tokens", "asked before"],
)
async def test_a_turn_that_is_short_of_calls_or_tokens_asks_no_model(run: Run) -> None:
    run.started += 1_000_000  # made when tests are collected
    model = ScriptedModel(reply=NOTES)
    assert await told(model, run=run) == summary(MANY, tokens=TOKENS).text
    assert model.asked == []


@given(tokens=st.integers(0, 3_000), reply=st.text(alphabet="абв 12.\n", max_size=3_000))
async def test_what_is_told_never_takes_more_than_its_share(tokens: int, reply: str) -> None:
    assert estimate_tokens(await told(ScriptedModel(reply=reply), tokens=tokens)) <= tokens

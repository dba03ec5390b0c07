"""What a step sees of those before it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.loader import load_prompts
from rag.execution.facts import ASIDE_CHARS, Fact, FactKind, FactsPayload, passage_fact
from rag.execution.step_context import (
    MOST_CALLS,
    RESPONSE_TOKENS,
    Finished,
    StepBudget,
    StepSummariser,
    TokenBudget,
    context_for,
    summary,
)
from rag.execution.tools import Run, RunLimits
from rag.metering import Usage
from rag.words import estimate_tokens
from tests.fakes.rag import ScriptedModel, away, make_passage, rank
from tests.fakes.steps import found, step

PLENTY = StepBudget(history=1_000, rag=1_000, response=512)
TEXTS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300), max_size=6)

PROMPTS = load_prompts()
MANY = [
    Finished(step=step(f"s{number}"), payload=found(*(f"Пункт {number}.{each}: " + "слово " * 20 for each in range(9))))
    for number in range(8)
]
TOKENS = 600
NOTES = "Пункт 1.2 и пункт 2.3 говорят об одном."

SIZES = st.integers(0, 200_000)


def done(step_id: str, *texts: str) -> Finished:
    return Finished(step=step(step_id), payload=found(*texts))


def test_a_step_gets_the_facts_of_the_steps_it_names_and_the_rest_in_short() -> None:
    finished = [done("a", "оплата 14 дней"), done("b", "штраф 0,1 %")]
    seen = context_for(step("c", context_requirements=["b"]), finished, PLENTY)
    assert [fact.text for fact in seen.materials] == ["штраф 0,1 %"]
    assert "оплата 14 дней" in summary(seen.others, tokens=PLENTY.history).text


def test_all_previous_means_all() -> None:
    finished = [done("a", "один"), done("b", "два")]
    seen = context_for(step("c", context_requirements=["all_previous"]), finished, PLENTY)
    assert {fact.text for fact in seen.materials} == {"один", "два"}


def test_a_step_that_waits_for_others_sees_them_without_naming_them() -> None:
    seen = context_for(step("c", "a"), [done("a", "один"), done("b", "два")], PLENTY)
    assert [fact.text for fact in seen.materials] == ["один"]


def test_what_an_analysis_drew_nothing_from_takes_little_room() -> None:
    """«Which penalty has the supplier that …»: every round of an analysis was sent the contracts of all the others."""
    long = "Стороны добросовестны. " * 60
    passages = map(passage_fact, rank(*(make_passage(f"Договор {n}. {long}", number=n) for n in (1, 2, 3))))
    used, *others = passages
    drawn = Fact(kind=FactKind.STATEMENT, text="Неустойка 1 %.", drawn_from=(used,))
    weighed = FactsPayload(facts=(drawn,), set_aside=frozenset(piece for each in others for piece in each.pieces))
    finished = [
        Finished(step=step("a"), payload=FactsPayload(facts=(used, *others))),
        Finished(step=step("b"), payload=weighed),
    ]
    seen = context_for(step("c", context_requirements=["a", "b"]), finished, PLENTY)
    assert [each.shown for each in seen.materials] == [None, None, ASIDE_CHARS, ASIDE_CHARS]


def test_old_steps_shrink_to_a_line_and_the_oldest_to_a_number() -> None:
    finished = [done(f"s{number}", *(f"факт {number}.{each}" for each in range(9))) for number in range(9)]
    text = summary(finished, tokens=170).text
    assert "факт 8.8" in text
    assert "факт 1.8" not in text
    assert "earlier steps are left out here" in text


@given(st.lists(TEXTS, max_size=6), st.integers(0, 300), st.integers(0, 300))
def test_neither_share_is_ever_overdrawn(rows: list[list[str]], history: int, rag: int) -> None:
    finished = [done(f"s{place}", *texts) for place, texts in enumerate(rows)]
    budget = StepBudget(history=history, rag=rag, response=512)
    seen = context_for(step("z", context_requirements=["s0", "s1"]), finished, budget)
    assert estimate_tokens(summary(seen.others, tokens=history).text) <= history
    assert sum(estimate_tokens(fact.text) for fact in seen.materials) <= rag


def test_what_several_steps_found_is_told_once_with_the_latest() -> None:
    text = summary([done("s1", "срок 12 лет", "скидка 5 %"), done("s2", "срок 12 лет")], tokens=200).text
    assert text.count("срок 12 лет") == 1
    assert text.index("скидка 5 %") < text.index("Step s2") < text.index("срок 12 лет")


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


@given(SIZES, st.integers(1, 50), st.integers(1, 50), SIZES)
def test_a_step_never_gets_more_than_there_is(total: int, number: int, steps: int, context: int) -> None:
    got = TokenBudget(total=total).allocate(step_number=number, total_steps=steps, context_size=context)
    assert min(got.history, got.rag) >= 0
    assert got.history + got.rag <= max(total - got.response - context, 0)
    assert got.response == RESPONSE_TOKENS


@given(st.integers(2_000, 100_000), st.integers(2, 20))
def test_later_steps_remember_more_and_read_less(total: int, steps: int) -> None:
    budget = TokenBudget(total=total)
    shares = [budget.allocate(step_number=n, total_steps=steps, context_size=100) for n in range(1, steps + 1)]
    assert [each.history for each in shares] == sorted(each.history for each in shares)
    assert [each.rag for each in shares] == sorted((each.rag for each in shares), reverse=True)


def test_the_last_step_shares_half_and_half() -> None:
    last = TokenBudget(total=4_512).allocate(step_number=3, total_steps=3, context_size=0)
    assert (last.history, last.rag) == (2_000, 2_000)

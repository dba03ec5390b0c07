"""What a step sees of those before it."""

from hypothesis import given
from hypothesis import strategies as st

from rag.execution.step_context import Finished, StepBudget, context_for, summary
from rag.words import estimate_tokens
from tests.fakes.steps import found, step

PLENTY = StepBudget(history=1_000, rag=1_000, response=512)
TEXTS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300), max_size=6)


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

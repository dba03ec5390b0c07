"""What a step sees of those before it."""

from hypothesis import given
from hypothesis import strategies as st

from rag.execution.course import (
    RESPONSE_TOKENS,
    Finished,
    StepBudget,
    TokenBudget,
    context_for,
    summary,
)
from rag.execution.facts import ASIDE_CHARS, Fact, FactKind, FactsPayload, passage_fact
from rag.words import estimate_tokens
from tests.fakes.rag import make_passage, rank
from tests.fakes.steps import found, step

PLENTY = StepBudget(history=1_000, rag=1_000)
TEXTS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300), max_size=6)

SIZES = st.integers(0, 200_000)


def done(step_id: str, *texts: str) -> Finished:
    return Finished(step=step(step_id), payload=found(*texts))


def test_a_step_gets_the_facts_of_the_steps_it_names_and_the_rest_in_short() -> None:
    finished = [done("a", "оплата 14 дней"), done("b", "штраф 0,1 %")]
    seen = context_for(step("c", context_requirements=["b"]), finished, PLENTY)
    assert [fact.text for fact in seen.materials] == ["штраф 0,1 %"]
    assert "оплата 14 дней" in summary(seen.others, tokens=PLENTY.history)


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
    text = summary(finished, tokens=170)
    assert "факт 8.8" in text
    assert "факт 1.8" not in text
    assert "earlier steps are left out here" in text


@given(st.lists(TEXTS, max_size=6), st.integers(0, 300), st.integers(0, 300))
def test_neither_share_is_ever_overdrawn(rows: list[list[str]], history: int, rag: int) -> None:
    finished = [done(f"s{place}", *texts) for place, texts in enumerate(rows)]
    budget = StepBudget(history=history, rag=rag)
    seen = context_for(step("z", context_requirements=["s0", "s1"]), finished, budget)
    assert estimate_tokens(summary(seen.others, tokens=history)) <= history
    assert sum(estimate_tokens(fact.text) for fact in seen.materials) <= rag


def test_what_several_steps_found_is_told_once_with_the_latest() -> None:
    text = summary([done("s1", "срок 12 лет", "скидка 5 %"), done("s2", "срок 12 лет")], tokens=200)
    assert text.count("срок 12 лет") == 1
    assert text.index("скидка 5 %") < text.index("Step s2") < text.index("срок 12 лет")


@given(SIZES, st.integers(1, 50), st.integers(1, 50), SIZES)
def test_a_step_never_gets_more_than_there_is(total: int, number: int, steps: int, context: int) -> None:
    got = TokenBudget(total=total).allocate(step_number=number, total_steps=steps, context_size=context)
    assert min(got.history, got.rag) >= 0
    assert got.history + got.rag <= max(total - RESPONSE_TOKENS - context, 0)


@given(st.integers(2_000, 100_000), st.integers(2, 20))
def test_later_steps_remember_more_and_read_less(total: int, steps: int) -> None:
    budget = TokenBudget(total=total)
    shares = [budget.allocate(step_number=n, total_steps=steps, context_size=100) for n in range(1, steps + 1)]
    assert [each.history for each in shares] == sorted(each.history for each in shares)
    assert [each.rag for each in shares] == sorted((each.rag for each in shares), reverse=True)


def test_the_last_step_shares_half_and_half() -> None:
    last = TokenBudget(total=4_512).allocate(step_number=3, total_steps=3, context_size=0)
    assert (last.history, last.rag) == (2_000, 2_000)

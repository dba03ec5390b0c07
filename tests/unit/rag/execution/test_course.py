"""How a plan of several steps goes on: what begins when, what is added, changed, skipped, and that it ends; what a step
sees of those before it; what the model that answers is told of the gaps."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from rag.execution.course import (
    FRUITLESS,
    RESPONSE_TOKENS,
    ROUNDS,
    Course,
    StepRun,
    context_for,
    gaps_of,
    step_budget,
    summary,
)
from rag.execution.facts import ASIDE_CHARS, Advice, Fact, FactKind, FactsPayload, passage_fact
from rag.execution.tools import Spent
from rag.planning.plan import Step
from rag.progress import StepState
from rag.words import estimate_tokens
from tests.fakes.rag import make_passage, rank
from tests.fakes.steps import ANSWERS, found, odd_plans, step
from tests.fakes.tabulated import shown


def course(*steps: Step, limit: int = 12) -> Course:
    return Course.of(steps, question="Вопрос?", limit=limit)


def ids(steps: Sequence[Step]) -> list[str]:
    return [each.id for each in steps]


def end(made: Course, step_id: str, payload: FactsPayload, problem: str = "") -> None:
    one = made.steps[step_id]
    made.begin(one)
    made.settle(StepRun(step=one, payload=payload, problem=problem))


def test_a_step_waits_for_those_it_depends_on_or_reads() -> None:
    reading = step("b", "a", action="read_documents")
    made = course(step("a"), reading, step("c", context_requirements=["b"], action="analyze"), step("d"))
    assert ids(made.ready()) == ["a", "d"]
    end(made, "a", found("x"))
    assert ids(made.ready()) == ["b", "d"]


def test_what_somebody_who_thought_about_it_wants_to_know_is_searched_for() -> None:
    made = course(step("d", action="analyze"))
    end(made, "d", found("вывод", advice=Advice(queries=("пени",))))
    assert [each.params for each in made.ready()] == [{"query": "пени"}]


def test_a_step_that_found_nothing_is_told_also_when_it_was_made_once_more_with_the_question() -> None:
    made = course(step("a", query="редкое слово"))
    end(made, "a", FactsPayload())
    end(made, "a", found("x"))
    told = [(each.id, each.about, each.is_empty) for each in made.shown()]
    assert told == [("a~", "редкое слово", True), ("a", "Вопрос?", False)]


def test_a_failed_step_keeps_nobody_waiting() -> None:
    made = course(step("a"), step("b", "a"))
    end(made, "a", found(), problem="away")
    assert made.states["a"] is StepState.FAILED
    assert ids(made.ready()) == ["b"]


def test_the_same_search_under_two_names_is_made_once() -> None:
    assert list(course(step("a", query="x"), step("b", query="x")).steps) == ["a"]


def test_a_search_that_finds_too_little_is_made_once_more_with_the_question() -> None:
    made = course(step("a", query="редкое слово"))
    end(made, "a", found())
    assert made.ready()[0].params == {"query": "Вопрос?"}
    end(made, "a", found())
    assert (made.states["a"], made.adapted) == (StepState.SHORT, 1)
    assert not made.ready()


def test_what_was_found_before_a_second_try_is_kept() -> None:
    made = course(step("a", success={"min_facts": 3}))
    end(made, "a", found("один"))
    end(made, "a", found("два", "три"))
    assert [fact.text for each in made.finished for fact in each.payload.facts] == ["один", "два", "три"]


def test_when_the_goal_is_met_the_rest_is_skipped() -> None:
    made = course(step("think", action="analyze"), step("b"), step("c", "b"))
    end(made, "think", found("вывод", advice=Advice(enough=True)))
    assert [made.states[each] for each in ("b", "c")] == [StepState.SKIPPED] * 2


def test_what_another_task_waits_for_is_not_skipped() -> None:
    made = course(step("think", action="analyze"), step("b"), step("c", "b"), step("last", "c", action="analyze"))
    end(made, "think", found("вывод", advice=Advice(enough=True)))
    assert [made.states[each] for each in ("b", "c", "last")] == [StepState.WAITING] * 3


def test_a_task_that_looks_at_all_before_it_keeps_them_and_none_after_it() -> None:
    last = step("last", action="analyze", context_requirements=["all_previous"])
    made = course(step("think", action="analyze"), step("b"), last, step("after"))
    end(made, "think", found("вывод", advice=Advice(enough=True)))
    states = {each: made.states[each] for each in ("b", "last", "after")}
    assert states == {"b": StepState.WAITING, "last": StepState.WAITING, "after": StepState.SKIPPED}


def test_what_is_missing_is_searched_for_and_looked_at_again() -> None:
    made = course(step("a"), step("think", "a", action="analyze"))
    end(made, "a", found("x"))
    end(made, "think", found("y", advice=Advice(queries=("штраф", "срок"))))
    assert [each.params for each in made.ready()] == [{"query": "штраф"}, {"query": "срок"}]
    for each in made.ready():
        end(made, each.id, found(each.id))
    (again,) = made.ready()
    assert (again.action, "think" in again.context_requirements) == ("analyze", True)


def test_further_searches_stay_within_the_documents_of_those_before() -> None:
    asked = step("a").model_copy(update={"params": {"query": "активы", "documents": ["d1"]}})
    made = course(asked, step("think", "a", action="analyze"))
    end(made, "a", found("x"))
    end(made, "think", found("y", advice=Advice(queries=("выручка",))))
    assert [each.params for each in made.ready()] == [{"query": "выручка", "documents": ["d1"]}]


def test_a_search_that_found_nothing_in_its_document_lets_no_other_out_of_it() -> None:
    """A missing figure brought the income statements of other companies."""
    inside = [step(each).model_copy(update={"params": {"query": each, "documents": ["d1"]}}) for each in "ab"]
    made = course(*inside, step("think", "a", "b", action="analyze"))
    end(made, "a", found("x"))
    end(made, "b", found())
    assert made.steps["b"].params == {"query": "Вопрос?"}
    end(made, "b", found("y"))
    end(made, "think", found("z", advice=Advice(queries=("выручка",))))
    assert [each.params for each in made.ready()] == [{"query": "выручка", "documents": ["d1"]}]


def test_a_search_that_found_a_little_is_widened_in_its_document() -> None:
    params = {"query": "a", "documents": ["d1"]}
    made = course(step("a", success={"min_facts": 3}).model_copy(update={"params": params}))
    end(made, "a", found("x"))
    assert [each.params for each in made.ready()] == [{"query": "Вопрос?", "documents": ["d1"]}]


def test_further_searches_stay_within_the_document_that_was_read() -> None:
    reading = step("a", action="read_document").model_copy(update={"params": {"document": "Отчёт", "about": "активы"}})
    made = course(reading, step("think", "a", action="analyze"))
    end(made, "a", found("x"))
    end(made, "think", found("y", advice=Advice(queries=("выручка",))))
    assert [each.params for each in made.ready()] == [{"query": "выручка", "documents": ["Отчёт"]}]


def test_advice_is_followed_a_few_times_only() -> None:
    made = course(step("think", action="analyze"), limit=100)
    for number in range(20):
        if not (ready := made.ready()):
            break
        queries = (f"запрос {number}",) if ready[0].action == "analyze" else ()
        end(made, ready[0].id, found(f"факт {number}", advice=Advice(queries=queries)))
    assert sum(each.action == "analyze" for each in made.steps.values()) == ROUNDS + 1


def test_searches_that_bring_nothing_new_end_the_added_steps() -> None:
    made = course(step("think", action="analyze"))
    end(made, "think", found("x", advice=Advice(queries=("1", "2", "3"))))
    for each in made.ready()[:FRUITLESS]:
        end(made, each.id, found("x"))
    assert not made.ready()


def test_no_more_steps_begin_than_allowed() -> None:
    made = course(*(step(each) for each in "abcdef"), limit=2)
    assert ids(made.ready()) == ["a", "b"]
    for each in made.ready():
        made.begin(each)
    assert not made.ready()


def test_searches_of_later_steps_begin_ahead_after_all_that_wait_for_nothing() -> None:
    made = course(step("a"), step("b", "a"), step("think", "a", action="analyze"), step("c"))
    assert ids(made.ready()) == ["a", "c", "b"]


@given(odd_plans(), st.lists(ANSWERS, min_size=1, max_size=30), st.integers(0, 12))
def test_every_plan_ends_within_its_limit_and_loses_no_fact(
    steps: Sequence[Step], answers: Sequence[FactsPayload | Exception], limit: int
) -> None:
    made = Course.of(steps, question="Вопрос?", limit=limit)
    given_out: list[str] = []
    turn = 0
    while ready := made.ready():
        one, answer = ready[0], answers[turn % len(answers)]
        turn += 1
        made.begin(one)
        payload = answer if isinstance(answer, FactsPayload) else FactsPayload()
        given_out += [fact.text for fact in payload.facts]
        problem = "" if isinstance(answer, FactsPayload) else str(answer)
        made.settle(StepRun(step=one, payload=payload, problem=problem))
    made.close()
    assert turn == made.begun <= limit
    assert [fact.text for each in made.finished for fact in each.payload.facts] == given_out
    assert not {StepState.WAITING, StepState.RUNNING} & set(_states(made).values())


def _states(made: Course) -> Mapping[str, StepState]:
    return {each.id: each.state for each in made.shown()}


PLENTY = 1_000
TEXTS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300), max_size=6)

SIZES = st.integers(0, 200_000)


def done(step_id: str, *texts: str) -> StepRun:
    return StepRun(step=step(step_id), payload=found(*texts))


def test_a_step_gets_the_facts_of_the_steps_it_names_and_the_rest_in_short() -> None:
    finished = [done("a", "оплата 14 дней"), done("b", "штраф 0,1 %")]
    materials, others = context_for(step("c", context_requirements=["b"]), finished, tokens=PLENTY)
    assert [fact.text for fact in materials] == ["штраф 0,1 %"]
    assert "оплата 14 дней" in summary(others, tokens=PLENTY)


def test_all_previous_means_all() -> None:
    finished = [done("a", "один"), done("b", "два")]
    materials, _ = context_for(step("c", context_requirements=["all_previous"]), finished, tokens=PLENTY)
    assert {fact.text for fact in materials} == {"один", "два"}


def test_a_step_that_waits_for_others_sees_them_without_naming_them() -> None:
    materials, _ = context_for(step("c", "a"), [done("a", "один"), done("b", "два")], tokens=PLENTY)
    assert [fact.text for fact in materials] == ["один"]


def test_what_an_analysis_drew_nothing_from_takes_little_room() -> None:
    """«Which penalty has the supplier that …»: every round of an analysis was sent the contracts of all the others."""
    long = "Стороны добросовестны. " * 60
    passages = map(passage_fact, rank(*(make_passage(f"Договор {n}. {long}", number=n) for n in (1, 2, 3))))
    used, *others = passages
    drawn = Fact(kind=FactKind.STATEMENT, text="Неустойка 1 %.", drawn_from=(used,))
    weighed = FactsPayload(facts=(drawn,), set_aside=frozenset(piece for each in others for piece in each.pieces))
    finished = [
        StepRun(step=step("a"), payload=FactsPayload(facts=(used, *others))),
        StepRun(step=step("b"), payload=weighed),
    ]
    materials, _ = context_for(step("c", context_requirements=["a", "b"]), finished, tokens=PLENTY)
    assert [each.shown for each in materials] == [None, None, ASIDE_CHARS, ASIDE_CHARS]


def test_old_steps_shrink_to_a_line_and_the_oldest_to_a_number() -> None:
    finished = [done(f"s{number}", *(f"факт {number}.{each}" for each in range(9))) for number in range(9)]
    text = summary(finished, tokens=170)
    assert "факт 8.8" in text
    assert "факт 1.8" not in text
    assert "earlier steps are left out here" in text


@given(st.lists(TEXTS, max_size=6), st.integers(0, 300), st.integers(0, 300))
def test_neither_share_is_ever_overdrawn(rows: list[list[str]], history: int, rag: int) -> None:
    finished = [done(f"s{place}", *texts) for place, texts in enumerate(rows)]
    materials, others = context_for(step("z", context_requirements=["s0", "s1"]), finished, tokens=rag)
    assert estimate_tokens(summary(others, tokens=history)) <= history
    assert sum(estimate_tokens(fact.text) for fact in materials) <= rag


def test_what_several_steps_found_is_told_once_with_the_latest() -> None:
    text = summary([done("s1", "срок 12 лет", "скидка 5 %"), done("s2", "срок 12 лет")], tokens=200)
    assert text.count("срок 12 лет") == 1
    assert text.index("скидка 5 %") < text.index("Step s2") < text.index("срок 12 лет")


@given(SIZES, st.integers(1, 50), st.integers(1, 50), SIZES)
def test_a_step_never_gets_more_than_there_is(total: int, number: int, steps: int, context: int) -> None:
    got = step_budget(total, step_number=number, total_steps=steps, context_size=context)
    assert min(got) >= 0
    assert sum(got) <= max(total - RESPONSE_TOKENS - context, 0)


@given(st.integers(2_000, 100_000), st.integers(2, 20))
def test_later_steps_remember_more_and_read_less(total: int, steps: int) -> None:
    shares = [step_budget(total, step_number=n, total_steps=steps, context_size=100) for n in range(1, steps + 1)]
    histories, materials = zip(*shares, strict=True)
    assert list(histories) == sorted(histories)
    assert list(materials) == sorted(materials, reverse=True)


def test_the_last_step_shares_half_and_half() -> None:
    assert step_budget(4_512, step_number=3, total_steps=3, context_size=0) == (2_000, 2_000)


STEPS = (
    shown("rag_db_query", about="пени", is_empty=True),
    shown("rag_db_query", about="срок"),
    shown("collect_rows", StepState.FAILED, about="договор"),
    shown("analyze", StepState.STOPPED, about="причины"),
    shown("list_documents", is_empty=True),
)


def test_what_was_looked_for_and_not_found_is_said_by_its_words() -> None:
    assert "nothing was found: «пени»; list_documents." in gaps_of(STEPS, None)


def test_what_was_not_done_is_told_apart_from_what_is_not_there() -> None:
    lines = gaps_of(STEPS, Spent.MODEL_CALLS).splitlines()
    assert lines[1].endswith("«договор».")
    assert lines[2].startswith("Broken off")
    assert "model calls" in lines[3]


def test_what_an_analysis_missed_is_said_in_its_words() -> None:
    assert gaps_of((STEPS[1],), None, ("причины спада", "меры")).endswith(": причины спада; меры.")


def test_where_nothing_is_missing_nothing_is_said() -> None:
    thought_in_vain = shown("analyze", is_empty=True)
    assert gaps_of((STEPS[1], thought_in_vain), None) == ""

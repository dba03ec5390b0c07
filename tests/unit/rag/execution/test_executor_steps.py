"""Steps side by side, in their order, within limits, and with what is known when it has to end early."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from domain.errors import DatabaseAway
from rag.execution.course import Course
from rag.execution.executor import AT_ONCE, Call, StepEngine
from rag.execution.facts import FactsPayload
from rag.execution.tools import Run, RunLimits, Spent, StepFailed, StepStopped, ToolContext
from rag.metering import Usage, asking, begin_metering, note_usage, searching
from rag.planning.plan import Step, ToolCall
from rag.progress import StepShown, StepState
from rag.records import DocumentsRead
from tests.fakes.planning import begin
from tests.fakes.steps import ANSWERS, ScriptedTools, found, odd_plans, step


def context(**changes: object) -> ToolContext:
    return begin(Run(**changes))  # type: ignore[arg-type]  # fields of Run by name


async def run(tools: Call, *steps: Step, turn: ToolContext | None = None) -> StepEngine:
    turn = turn or context()
    course = Course.of(steps, question="Вопрос?", limit=turn.run.limits.steps)
    engine = StepEngine(call=tools, budget=4_000, course=course, context=turn)
    await engine.run()
    return engine


def states(done: StepEngine) -> dict[str, StepState]:
    return {each.id: each.state for each in done.course.shown()}


async def test_independent_steps_run_side_by_side_and_never_too_many() -> None:
    tools = ScriptedTools()
    await run(tools, *(step(each) for each in "abcdefgh"))
    assert tools.most == AT_ONCE


async def test_a_step_sees_what_it_waited_for() -> None:
    tools = ScriptedTools({"a": found("срок 14 дней")})
    await run(tools, step("a"), step("think", "a", action="analyze"))
    assert [fact.text for fact in tools.contexts["think"].materials] == ["срок 14 дней"]


async def test_a_search_that_comes_later_is_begun_while_there_is_room() -> None:
    tools = ScriptedTools(slow=frozenset({"a"}))
    turn = context(limits=RunLimits(seconds=0.05))
    await run(tools, step("a"), step("b", "a"), turn=turn)
    assert tools.asked == ["a", "b"]


async def test_a_failed_step_is_named_and_the_others_go_on() -> None:
    tools = ScriptedTools({"a": StepFailed("the model failed: ModelAway")})
    done = await run(tools, step("a"), step("b", "a"))
    assert states(done) == {"a": StepState.FAILED, "b": StepState.DONE}


async def test_a_database_that_is_away_ends_the_turn() -> None:
    with pytest.raises(DatabaseAway):
        await run(ScriptedTools({"a": DatabaseAway("gone")}), step("a"), step("b"))


async def test_the_person_sees_the_steps_as_they_run() -> None:
    seen: list[tuple[StepShown, ...]] = []
    await run(ScriptedTools(), step("a"), step("b", "a", action="analyze"), turn=context(watch=seen.append))
    assert [each.state for each in seen[0]] == [StepState.RUNNING, StepState.WAITING]
    assert [each.state for each in seen[-1]] == [StepState.DONE, StepState.DONE]


async def test_progress_inside_a_step_is_seen() -> None:
    seen: list[tuple[StepShown, ...]] = []
    turn = context(watch=seen.append)

    async def read(call: object, given: ToolContext) -> FactsPayload:
        given.run.report(given.step_id, 3, 17)
        return found("x")

    await run(read, step("a"), turn=turn)
    assert any((each.done, each.total) == (3, 17) for shown in seen for each in shown)


async def test_stopped_by_the_person_it_hands_over_what_is_known() -> None:
    tools = ScriptedTools(slow=frozenset({"b"}))
    turn = context()
    turn.run.kept["b"] = found("прочитано наполовину")
    asyncio.get_running_loop().call_later(0.02, turn.run.stop.set)
    done = await run(tools, step("a"), step("b"), step("c", "b", action="analyze"), turn=turn)
    assert done.spent is Spent.STOPPED
    assert [fact.text for each in done.course.finished for fact in each.payload.facts] == ["a", "прочитано наполовину"]
    assert (states(done)["b"], states(done)["c"]) == (StepState.STOPPED, StepState.SKIPPED)


async def test_a_step_that_ends_by_itself_when_stopped_is_shown_as_stopped() -> None:
    turn = context()

    async def read(call: object, given: ToolContext) -> FactsPayload:
        await given.run.stop.wait()
        return replace(found("x"), documents=DocumentsRead(read=3, total=17))

    asyncio.get_running_loop().call_later(0.02, turn.run.stop.set)
    done = await run(read, step("a"), turn=turn)
    assert states(done) == {"a": StepState.STOPPED}


async def test_a_step_that_the_person_stopped_has_not_failed() -> None:
    turn = context()
    asyncio.get_running_loop().call_later(0.02, turn.run.stop.set)
    failing = {"failed": StepFailed("the model failed: ModelAway"), "refused": StepStopped("the person had enough")}
    tools = ScriptedTools(failing, slow=frozenset({"slow"}))
    done = await run(tools, step("failed"), step("refused"), step("slow"), turn=turn)
    assert states(done) == {"failed": StepState.FAILED, "refused": StepState.STOPPED, "slow": StepState.STOPPED}


async def test_time_ends_it() -> None:
    done = await run(ScriptedTools(slow=frozenset({"a"})), step("a"), turn=context(limits=RunLimits(seconds=0.05)))
    assert (done.spent, states(done)) == (Spent.SECONDS, {"a": StepState.FAILED})


@pytest.mark.parametrize(
    ("usage", "spent"),
    [
        (Usage(calls=3), Spent.MODEL_CALLS),
        (Usage(prompt_tokens=60, answer_tokens=60), Spent.TOKENS),
        (Usage(cost=0.2), Spent.COST),
    ],
)
async def test_a_turn_that_has_spent_its_due_begins_nothing(usage: Usage, spent: Spent) -> None:
    tools = ScriptedTools()
    limits = RunLimits(model_calls=3, tokens=100, cost=0.1)
    done = await run(tools, step("a"), turn=context(limits=limits, usage=usage))
    assert (done.spent, tools.asked, states(done)) == (spent, [], {"a": StepState.SKIPPED})


@pytest.mark.parametrize(("after", "spent"), [((), None), (("last",), Spent.MODEL_CALLS)], ids=["done", "one is left"])
async def test_a_limit_met_by_the_last_step_of_all_kept_nothing_from_being_done(
    after: tuple[str, ...], spent: Spent | None
) -> None:
    turn = context(limits=RunLimits(model_calls=1))

    async def spend(call: object, given: ToolContext) -> FactsPayload:
        given.run.usage.calls += 1
        return found("x")

    steps = [step("last"), *(step("more", each, action="collect_rows") for each in after)]
    done = await run(spend, *steps, turn=turn)
    assert done.spent is spent


async def test_a_limit_that_a_step_met_is_told_of() -> None:
    turn = context()
    turn.run.refused = Spent.TOKENS
    done = await run(ScriptedTools(), step("a"), turn=turn)
    assert (done.spent, states(done)) == (Spent.TOKENS, {"a": StepState.DONE})


async def test_more_steps_than_a_turn_may_have_are_told_of() -> None:
    tools = ScriptedTools()
    done = await run(tools, step("a"), step("b", "a"), step("c", "b"), turn=context(limits=RunLimits(steps=2)))
    assert (tools.asked, done.spent) == (["a", "b"], Spent.STEPS)
    enough = await run(ScriptedTools(), step("a"), step("b", "a"), turn=context(limits=RunLimits(steps=2)))
    assert enough.spent is None


async def test_what_two_steps_do_alike_is_done_once_and_serves_whoever_waits_for_either() -> None:
    tools = ScriptedTools({"срок": found("срок 14 дней")})
    think = step("think", "b", action="analyze")
    await run(tools, step("a", query="срок"), step("b", query="срок"), think)
    assert tools.asked == ["срок", "think"]
    assert [fact.text for fact in tools.contexts["think"].materials] == ["срок 14 дней"]


async def test_a_repeated_step_never_makes_others_wait_in_a_circle() -> None:
    steps = [step("a", "c", query="срок"), step("c", "b"), step("b", query="срок")]
    done = await run(ScriptedTools(), *steps)
    assert states(done) == {"c": StepState.DONE, "b": StepState.DONE}


async def test_each_step_is_logged_as_the_seed_names_it() -> None:
    with capture_logs() as logs:
        await run(ScriptedTools(), step("a"))
    (event,) = [each for each in logs if each["event"] == "complex_query.step_completed"]
    assert {"step_id", "step_number", "total_steps", "tokens_used", "rag_items_retrieved", "execution_time_ms"} <= set(
        event
    )


async def test_steps_side_by_side_do_not_count_each_others_tokens_and_waiting() -> None:
    both = asyncio.Barrier(2)

    async def ask(call: ToolCall, given: ToolContext) -> FactsPayload:
        with searching() if given.step_id == "a" else asking():
            await both.wait()
            await asyncio.sleep(0.01)
        note_usage(prompt_tokens={"a": 100, "b": 7}[given.step_id], answer_tokens=0)
        return found(given.step_id)

    usage = begin_metering()
    done = await run(ask, step("a"), step("b"), turn=context(usage=usage))
    taken = {each.step.id: each.usage for each in done.course.finished}
    assert ({key: used.tokens for key, used in taken.items()}, usage.tokens) == ({"a": 100, "b": 7}, 107)
    assert [taken["a"].models.seconds, taken["b"].searching.seconds] == [0, 0]
    assert min(taken["a"].searching.seconds, taken["b"].models.seconds) > 0.005


@given(odd_plans(), st.dictionaries(st.sampled_from(["x", "y", *"abcdefgh", "q1", "q2"]), ANSWERS))
def test_no_plan_however_odd_runs_on_or_loses_a_fact(
    steps: Sequence[Step], answers: dict[str, FactsPayload | Exception]
) -> None:
    tools = ScriptedTools(answers)
    turn = context(limits=RunLimits(steps=10))
    done = asyncio.run(run(tools, *steps, turn=turn))
    assert len(done.course.finished) <= 10
    kept = {fact.text for each in done.course.finished for fact in each.payload.facts}
    used = [answers.get(str(next(iter(each.step.params.values()), "")), found("")) for each in done.course.finished]
    assert {fact.text for each in used if isinstance(each, FactsPayload) for fact in each.facts} - {""} <= kept
    assert not tools.running

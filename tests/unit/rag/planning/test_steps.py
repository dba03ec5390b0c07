"""Plans of several steps: what is wrong with one, and the strategies of seed 3."""

from collections.abc import Sequence

import pytest
from hypothesis import given

from rag.planning.plan import QueryKind, Step
from rag.planning.steps import in_order, needs, step_problems, template
from tests.fakes.planning import ScriptedTool
from tests.fakes.steps import odd_plans, step

TOOLS = {"rag_db_query": ScriptedTool()}


def test_a_sound_plan_has_no_problems() -> None:
    assert step_problems([step("a"), step("b", "a")], TOOLS) == []


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([step("a"), step("a", query="x")], "two steps have the id a"),
        ([step("a", "z")], "step a needs z, which is no step"),
        ([step("a", action="shell")], "step a: unknown action shell"),
        ([Step(id="a", action="rag_db_query", params={"base_id": "x"})], "step a: rag_db_query.query: Field required"),
        ([step("a", "b"), step("b", "a")], "the steps depend on each other in a circle"),
        ([step("a", context_requirements=["a"])], "the steps depend on each other in a circle"),
    ],
)
def test_what_cannot_be_run_is_said(steps: Sequence[Step], problem: str) -> None:
    assert any(problem in each for each in step_problems(steps, TOOLS))


@given(odd_plans())
def test_an_order_puts_every_step_after_those_it_needs(steps: Sequence[Step]) -> None:
    ordered = in_order(steps)
    if ordered is not None:
        for place, each in enumerate(ordered):
            assert needs(each) <= {before.id for before in ordered[:place]}


@pytest.mark.parametrize("kind", list(QueryKind))
def test_a_template_can_be_run_with_whatever_tools_there_are(kind: QueryKind) -> None:
    steps = template(kind, "Почему упал сервер?", TOOLS)
    assert step_problems(steps, TOOLS) == []
    assert bool(steps) is (kind in (QueryKind.ITERATIVE, QueryKind.DIAGNOSTIC))

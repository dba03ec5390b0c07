"""Plans of several steps: what is wrong with one, and the strategies of seed 3."""

from collections.abc import Sequence

import pytest
from hypothesis import given

from rag.planning.plan import QueryKind, Step, in_order, needs, template
from tests.fakes.steps import odd_plans

TOOLS = ("rag_db_query",)


@given(odd_plans())
def test_an_order_puts_every_step_after_those_it_needs(steps: Sequence[Step]) -> None:
    ordered = in_order(steps)
    if ordered is not None:
        for place, each in enumerate(ordered):
            assert needs(each) <= {before.id for before in ordered[:place]}


@pytest.mark.parametrize("kind", list(QueryKind))
def test_a_template_can_be_run_with_whatever_tools_there_are(kind: QueryKind) -> None:
    steps = template(kind, "Почему упал сервер?", TOOLS)
    assert {each.action for each in steps} <= set(TOOLS)
    assert in_order(steps) is not None
    assert bool(steps) is (kind in (QueryKind.ITERATIVE, QueryKind.DIAGNOSTIC))

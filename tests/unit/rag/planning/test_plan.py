"""The plan's shape: seed 4, section 6, read tolerantly, what a server is asked to keep to; plans of several steps."""

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from adapters.llm.structured import Rung, response_format, strict_schema
from prompts.wordings import load_intents
from rag.planning.plan import (
    FollowUp,
    Limits,
    QueryKind,
    QueryPlan,
    RenderStyle,
    Step,
    in_order,
    needs,
    plan_schema,
    template,
)
from tests.fakes.planning import call, plan
from tests.fakes.steps import odd_plans

SEED_PLAN: dict[str, Any] = {
    "question": "Какие достижения на проекте АЛОР Брокер?",
    "intents": ["PROJECT_ACHIEVEMENTS"],
    "entities": [{"type": "project", "id": "project:alor-broker", "name": "АЛОР Брокер"}],
    "tool_calls": [{"tool": "graph_query_tool", "args": {"query": "достижения АЛОР"}}],
    "fallback": {"enabled": True, "tool": "rag_db_query", "when": ["NO_RESULTS", "LOW_COVERAGE"]},
    "limits": {"max_items": 10, "max_groups": 4, "max_paragraphs": 4},
    "render_style": "BULLETS",
    "answer_style": "NATURAL_RU",
    "confidence": 0.86,
}
SCHEMA = plan_schema(["rag_db_query", "graph_query_tool"], load_intents())

TOOLS = ("rag_db_query",)


def read(**changes: object) -> QueryPlan:
    return SCHEMA.model_validate_json(json.dumps({**SEED_PLAN, **changes}))


def test_the_seeds_own_plan_is_a_plan() -> None:
    assert QueryPlan.model_validate(SEED_PLAN).entities[0].id == "project:alor-broker"


@pytest.mark.parametrize(
    ("field", "given", "read_as"),
    [
        ("limits", {"max_items": 99, "max_groups": 0, "max_paragraphs": "3"}, Limits(max_items=12, max_groups=1)),
        ("limits", {"max_items": "много", "skip": -1}, Limits()),
        ("limits", None, Limits()),
        ("confidence", 95, 1.0),
        ("confidence", "high", 0.75),
        ("render_style", "table", RenderStyle.TABLE),
        ("render_style", "HTML", RenderStyle.BULLETS),
        ("follow_up", "maybe", FollowUp.NONE),
        ("clarification", "Какой договор?", {"question": "Какой договор?", "choices": ()}),
        ("clarification", {}, None),
        ("entities", ["person:ivan"], ({"id": "person:ivan", "type": "person", "name": "person:ivan"},)),
        ("question", "а" * 2000, "а" * 1000),
        ("thoughts", "…", None),
    ],
)
def test_what_is_out_of_bounds_or_worded_otherwise_is_put_right(field: str, given: object, read_as: object) -> None:
    made = read(**{field: given})
    expected = QueryPlan.model_validate({**SEED_PLAN, field: read_as}) if field != "thoughts" else read()
    assert getattr(made, field, None) == getattr(expected, field, None)


@pytest.mark.parametrize(
    "written",
    [
        {"tool": "rag_db_query", "args": {"query": "штраф", "source": "note"}},
        {"tool": "rag_db_query", "query": "штраф", "source": "note"},
        {"name": "rag_db_query", "arguments": '{"query": "штраф", "source": "note"}'},
        {"action": "rag_db_query", "params": {"query": "штраф", "source": "note"}},
        {"tool": "rag_db_query", "args": {"query": "штраф"}, "source": "note"},
    ],
)
def test_arguments_are_read_wherever_they_stand(written: dict[str, object]) -> None:
    assert read(tool_calls=[written]).tool_calls == (call("штраф", source="note"),)
    assert read(tool_calls=written).tool_calls == (call("штраф", source="note"),)


def test_calls_that_wait_for_each_other_are_steps() -> None:
    calls = [{"id": "a", "tool": "rag_db_query", "query": "x"}, {"tool": "analyze", "task": "y", "after": ["a"]}]
    made = read(tool_calls=calls)
    assert made.tool_calls == ()
    assert [(each.id, each.action, each.depends_on) for each in made.steps] == [
        ("a", "rag_db_query", ()),
        ("2", "analyze", ("a",)),
    ]


def test_a_step_may_need_all_before_it() -> None:
    (step,) = read(steps=[{"action": "analyze", "params": {}, "depends_on": ["all_previous"]}]).steps
    assert (step.depends_on, step.context_requirements) == ((), ("all_previous",))


@pytest.mark.parametrize("wrapped", [{"plan": SEED_PLAN}, {"QueryPlan": SEED_PLAN, "note": "здесь план"}])
def test_a_plan_inside_another_object_is_found(wrapped: dict[str, object]) -> None:
    assert SCHEMA.model_validate(wrapped).question == SEED_PLAN["question"]


@pytest.mark.parametrize("answer", [{}, {"plan": ["search"]}, {"confidence": 1}, {"answer": "Штраф 10 %"}])
def test_what_names_nothing_of_a_plan_is_none(answer: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="none of question"):
        SCHEMA.model_validate(answer)


def test_the_schema_names_the_tools_and_intents_that_there_are() -> None:
    shape = json.dumps(strict_schema(SCHEMA))
    assert all(name in shape for name in (*load_intents(), "rag_db_query", "graph_query_tool", "skip"))
    assert "sign" not in shape
    assert "sign" in json.dumps(strict_schema(plan_schema(["rag_db_query"], load_intents(), with_sign=True)))


def test_a_schema_with_open_arguments_is_not_sent_as_a_strict_one() -> None:
    wanted = response_format(Rung.JSON_SCHEMA, SCHEMA)
    assert wanted is not None
    assert wanted["json_schema"]["strict"] is False  # type: ignore[index]
    assert "additionalProperties" not in str(wanted)


@pytest.mark.parametrize(("intents", "calls"), list(product((1, 3), (0, 2))))
def test_plans_survive_the_way_to_a_model_and_back(intents: int, calls: int) -> None:
    made = plan(*(call(f"запрос {number}") for number in range(calls)), intents=("GENERAL_UNSTRUCTURED",) * intents)
    assert SCHEMA.model_validate_json(made.model_dump_json()).model_dump() == made.model_dump()


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

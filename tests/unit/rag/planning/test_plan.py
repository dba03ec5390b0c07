"""The plan's shape: seed 4, section 6, and what a server is asked to keep to."""

import json
from itertools import product
from typing import Any

import pytest
from pydantic import ValidationError

from adapters.llm.structured import strict_schema
from prompts.intents import load_intents
from rag.planning.plan import QueryPlan
from rag.planning.wire import from_wire, wire_schema
from tests.fakes.planning import GraphTool, ScriptedTool, call, plan

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
TOOLS = (ScriptedTool(), GraphTool())


def test_the_seeds_own_plan_is_a_plan() -> None:
    assert QueryPlan.model_validate(SEED_PLAN).entities[0].id == "project:alor-broker"


@pytest.mark.parametrize(
    "change",
    [
        {"limits": {"max_items": 13}},
        {"limits": {"max_paragraphs": 5}},
        {"confidence": 1.5},
        {"intents": []},
        {"render_style": "HTML"},
        {"thoughts": "…"},
    ],
)
def test_what_goes_beyond_the_seeds_limits_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        QueryPlan.model_validate({**SEED_PLAN, **change})


def test_a_wire_plan_becomes_a_plain_one() -> None:
    wire = wire_schema(TOOLS, load_intents()).model_validate(SEED_PLAN)
    assert from_wire(wire) == QueryPlan.model_validate(SEED_PLAN)


@pytest.mark.parametrize(
    "change",
    [
        {"intents": []},
        {"intents": ["CONTACTS"] * 9},
        {"tool_calls": SEED_PLAN["tool_calls"] * 9},
        {"steps": [{"id": str(number), "action": "rag_db_query", "params": {"query": "x"}} for number in range(9)]},
    ],
)
def test_what_is_no_plan_does_not_fit_the_wire_either(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        wire_schema(TOOLS, load_intents()).model_validate({**SEED_PLAN, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"tool_calls": [{"tool": "shell", "args": {"query": "ls"}}]},
        {"intents": ["MAKE_COFFEE"]},
        {"tool_calls": [{"tool": "rag_db_query", "args": {"query": "x", "base_id": "another"}}]},
    ],
)
def test_the_wire_knows_only_what_there_is(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        wire_schema(TOOLS, load_intents()).model_validate({**SEED_PLAN, **change})


def test_a_server_can_hold_a_model_to_the_schema() -> None:
    schema = strict_schema(wire_schema(TOOLS, load_intents()))
    assert not [node for node in _objects(schema) if node.get("additionalProperties") is not False]


def _objects(node: object) -> list[dict[str, object]]:
    """Every object schema in it; strict mode refuses one that is open."""
    if isinstance(node, list):
        return [found for item in node for found in _objects(item)]
    if not isinstance(node, dict):
        return []
    below = [found for value in node.values() for found in _objects(value)]
    return [node, *below] if node.get("type") == "object" else below


@pytest.mark.parametrize(("intents", "calls"), list(product((1, 3), (0, 2))))
def test_plans_survive_the_way_to_a_model_and_back(intents: int, calls: int) -> None:
    made = plan(*(call(f"запрос {number}") for number in range(calls)), intents=("GENERAL_UNSTRUCTURED",) * intents)
    wire = wire_schema(TOOLS, load_intents()).model_validate_json(json.dumps(made.model_dump(mode="json")))
    assert from_wire(wire) == made

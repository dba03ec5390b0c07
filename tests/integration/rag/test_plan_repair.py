"""How often a model is asked for one plan: once, and once more when it cannot be run, at any rung of its server."""

import json

import pytest
from pydantic import JsonValue

from domain.ids import BaseId
from prompts.loader import load_prompts
from prompts.wordings import load_intents
from rag.execution.graph_tool import GraphQuery
from rag.planning.mending import PlanningRequest
from rag.planning.planner import Planner, PlanOrigin
from rag.records import ChatMessage
from tests.fakes.planning import BREADTH, SMALL_TALK, ScriptedTool
from tests.integration.adapters.llm.conftest import model_of
from tests.servers.llm import FORMATS, LlmServer, in_order, serve_llm
from tests.unit.rag.execution.test_graph_tool import Graph

REQUEST = PlanningRequest(
    question="Где применял RAG?",
    messages=(
        ChatMessage(role="system", content=load_prompts().planner.text),
        ChatMessage(role="user", content="Где применял RAG?"),
    ),
    base_id=BaseId("base"),
)


def written(**changes: JsonValue) -> str:
    plain: dict[str, JsonValue] = {
        "question": "Где применял RAG?",
        "intents": ["GENERAL_UNSTRUCTURED"],
        "tool_calls": [{"tool": "rag_db_query", "args": {"query": "RAG"}}],
        "confidence": 0.9,
    }
    return json.dumps({**plain, **changes})


GOOD = written()
BAD = {
    "no JSON": "Сейчас поищу!",
    "JSON of another shape": '{"plan": ["search"]}',
    "an unknown tool": written(tool_calls=[{"tool": "shell", "args": {"query": "ls"}}]),
    "little confidence": written(confidence=0.1),
    "a day that is none": written(tool_calls=[{"tool": "list_documents", "args": {"since": "вчера"}}]),
}


NO_PLANS = frozenset({BAD["no JSON"], BAD["JSON of another shape"]})


def formats_for(bad: str) -> list[str]:
    """A model that ignored the server's schema is told it in words."""
    return ["json_schema", "json_object" if bad in NO_PLANS else "json_schema"]


async def ask(server: LlmServer, *answers: str, first_ones: int = 0) -> tuple[list[PlanOrigin], list[str | None]]:
    """Where the plans came from, and the formats of the requests that this took after the `first_ones` plans."""
    server.planner = in_order(answers)
    async with model_of(server) as model:
        planner = Planner(
            model,
            tools=(ScriptedTool(), GraphQuery(Graph())),
            intents=load_intents(),
            threshold=0.5,
            breadth=BREADTH,
            small_talk=SMALL_TALK,
        )
        origins = [(await planner.plan(REQUEST)).origin for _ in range(first_ones)]
        before = len(server.plans)
        origins.append((await planner.plan(REQUEST)).origin)
    return origins, [request.format for request in server.plans[before:]]


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
async def test_a_bad_plan_is_repaired_by_one_call(bad: str) -> None:
    async with serve_llm(formats=FORMATS) as server:
        origins, requests = await ask(server, bad, GOOD)
    assert (origins, requests) == ([PlanOrigin.REPAIRED], formats_for(bad))


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
async def test_after_one_repair_that_is_no_better_the_default_plan_stands(bad: str) -> None:
    async with serve_llm(formats=FORMATS) as server:
        origins, requests = await ask(server, bad, bad, GOOD)
    assert (origins, requests) == ([PlanOrigin.DEFAULT], formats_for(bad))


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
async def test_on_the_way_to_the_rung_that_works_refusals_are_no_repairs(bad: str) -> None:
    async with serve_llm(formats=frozenset()) as server:
        origins, requests = await ask(server, bad, bad, GOOD)
    assert (origins, requests) == ([PlanOrigin.DEFAULT], ["json_schema", "json_object", None, None])


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
async def test_a_rung_that_is_known_is_not_looked_for_again(bad: str) -> None:
    async with serve_llm(formats=frozenset()) as server:
        origins, requests = await ask(server, GOOD, bad, bad, GOOD, first_ones=1)
    assert (origins, requests) == ([PlanOrigin.MODEL, PlanOrigin.DEFAULT], [None, None])


@pytest.mark.parametrize("bad", [BAD["no JSON"], BAD["JSON of another shape"]])
async def test_another_model_is_not_asked_instead_of_the_repair(bad: str) -> None:
    async with serve_llm(formats=FORMATS) as server, model_of(server, "first", "second") as model:
        server.planner = in_order([bad, bad, GOOD])
        planner = Planner(
            model,
            tools=(ScriptedTool(),),
            intents=load_intents(),
            threshold=0.5,
            breadth=BREADTH,
            small_talk=SMALL_TALK,
        )
        assert (await planner.plan(REQUEST)).origin is PlanOrigin.DEFAULT
        assert [request.model for request in server.plans] == ["first", "first"]


async def test_the_repair_shows_the_answer_its_problem_and_the_schema() -> None:
    async with serve_llm(formats=FORMATS) as server:
        await ask(server, BAD["JSON of another shape"], GOOD)
    said, remarks, schema = server.plans[1].messages[-3:]
    assert (said.role, said.content) == ("assistant", BAD["JSON of another shape"])
    assert "none of question" in remarks.content
    assert '"confidence"' in schema.content

"""Ids that a model makes up: found by their name where the base has it, else handed back with the near ones."""

import pytest

from adapters.entities.names import NameForms
from prompts.intents import load_intents
from rag.entities import NamedEntity
from rag.execution.graph_tool import GraphQuery
from rag.planning.entities import RegistryResolver
from rag.planning.entity_ids import EntityIds, Mended
from rag.planning.plan import QueryPlan, ToolCall
from rag.planning.planner import Planned, Planner, PlanningRequest, PlanOrigin
from rag.records import ChatMessage
from tests.fakes.planning import BREADTH, SMALL_TALK, ScriptedTool, call, plan
from tests.fakes.steps import step
from tests.unit.rag.execution.test_graph_tool import Graph
from tests.unit.rag.planning.test_entities import BASE, Registry
from tests.unit.rag.planning.test_planner import PlanModel


def known(id_: str, name: str, key: str, *, weight: float = 1.0) -> NamedEntity:
    return NamedEntity(
        id=id_,
        type=id_.partition(":")[0],
        name=name,
        forms=(name,),
        key=key,
        weight=weight,
        as_name=False,
        confidence=1.0,
        facts=3,
    )


ALOR = (
    known("project:alor-broker", "АЛОР Брокер", "alor broker"),
    known("project:alor-broker", "АЛОР Брокер", "alor", weight=0.8),
)
CUSTOMER = known("organization:alor", "АЛОР", "alor")
TWO_IVANOVS = (
    known("person:ivan-ivanov", "Иван Иванов", "ivanov", weight=0.8),
    known("person:petr-ivanov", "Пётр Иванов", "ivanov", weight=0.8),
)


def look_up(id_: str | None) -> ToolCall:
    return ToolCall(tool="graph_query_tool", args={"intent": "PROJECT_ACHIEVEMENTS", "entity_id": id_})


async def mended(made: QueryPlan, *entities: NamedEntity, listed: tuple[str, ...] = ()) -> tuple[Mended, Registry]:
    registry = Registry(*entities)
    return await EntityIds(RegistryResolver(registry, NameForms())).mend(made, BASE, listed=listed), registry


@pytest.mark.parametrize(
    "made_up",
    [
        "project:alor-broker",
        "project:АЛОР Брокер",
        "project:alor_broker",
        "alor broker",
        "project:alor",
        "Project:ALOR",
    ],
)
async def test_an_id_is_found_by_the_name_it_is_made_of(made_up: str) -> None:
    found, _ = await mended(plan(look_up(made_up)), *ALOR)
    assert found.plan.tool_calls == (look_up("project:alor-broker"),)
    assert (found.ids, found.problems) == (("project:alor-broker",), ())


async def test_of_several_the_only_one_of_the_type_is_meant() -> None:
    found, _ = await mended(plan(look_up("organization:alor")), *ALOR, CUSTOMER)
    assert found.plan.tool_calls == (look_up("organization:alor"),)


async def test_an_id_of_a_step_and_of_an_entity_are_mended_too() -> None:
    made = plan(
        kind="analytical",
        steps=[{**step("a").model_dump(), "params": {"entity_id": "project:alor"}}],
        entities=[{"type": "p", "id": "project:alor", "name": "алор"}],
    )
    found, registry = await mended(made, *ALOR)
    assert found.plan.steps[0].params["entity_id"] == "project:alor-broker"
    assert [(each.id, each.name) for each in found.plan.entities] == [("project:alor-broker", "АЛОР Брокер")]
    assert registry.asked == 1


async def test_one_that_fits_several_is_handed_back_with_the_near_ones() -> None:
    found, _ = await mended(plan(look_up("person:ivanov")), *TWO_IVANOVS)
    assert found.plan.tool_calls == (look_up("person:ivanov"),)
    (problem,) = found.problems
    assert "person:ivan-ivanov (Иван Иванов), person:petr-ivanov (Пётр Иванов)" in problem


async def test_one_that_fits_nothing_is_handed_back_with_the_advice_to_search() -> None:
    found, _ = await mended(plan(look_up("project:romashka")), *ALOR)
    assert "project:romashka: nothing like it is known; search instead" in found.problems[0]


@pytest.mark.parametrize("made", [plan(look_up("project:x")), plan(look_up(None)), plan(call("RAG"))])
async def test_ids_of_the_list_and_none_ask_nobody(made: QueryPlan) -> None:
    found, registry = await mended(made, *ALOR, listed=("project:x",))
    assert (found, registry.asked) == (Mended(plan=made), 0)


async def planned(*plans: QueryPlan, entities: tuple[NamedEntity, ...]) -> tuple[Planned, PlanModel]:
    model = PlanModel(plans=list(plans))
    planner = Planner(
        model,
        tools=(ScriptedTool(), GraphQuery(Graph())),
        intents=load_intents(),
        threshold=0.5,
        breadth=BREADTH,
        small_talk=SMALL_TALK,
        entities=RegistryResolver(Registry(*entities), NameForms()),
    )
    messages = (ChatMessage(role="user", content="?"),)
    request = PlanningRequest(question="Где Алор?", messages=messages, entity_ids=(), base_id=BASE)
    return await planner.plan(request), model


async def test_a_mended_plan_costs_no_second_call() -> None:
    outcome, model = await planned(plan(look_up("project:alor")), entities=ALOR)
    assert (outcome.origin, len(model.asked)) == (PlanOrigin.MODEL, 1)
    assert outcome.plan.tool_calls == (look_up("project:alor-broker"),)


async def test_the_model_is_shown_the_near_ones_and_may_take_one() -> None:
    outcome, model = await planned(
        plan(look_up("person:ivanov")), plan(look_up("person:petr-ivanov")), entities=TWO_IVANOVS
    )
    assert "person:petr-ivanov (Пётр Иванов)" in model.asked[1][-1].content
    assert outcome.plan.tool_calls == (look_up("person:petr-ivanov"),)


async def test_an_id_made_up_twice_becomes_a_search() -> None:
    made_up = plan(look_up("project:romashka"))
    outcome, _ = await planned(made_up, made_up, entities=ALOR)
    assert outcome.plan.tool_calls == (call("Где Алор?"),)

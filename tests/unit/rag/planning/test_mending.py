"""Plans put right with what there is: arguments, ids of entities and documents, steps, questions back."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from pydantic import JsonValue

from adapters.names import NameForms
from domain.documents import SourceType
from domain.ids import DocumentId
from prompts.wordings import load_intents
from rag.entities import NamedEntity, RegistryResolver
from rag.execution.document_tools import ListDocuments
from rag.execution.graph_tool import GraphQuery
from rag.planning.mending import Known, PlanMender, PlanningRequest, looked_at, ordered
from rag.planning.plan import ANALYZE, SEARCH, QueryPlan, Step, ToolCall, in_order
from rag.planning.planner import Planned, Planner, PlanOrigin
from rag.planning.tool import AnyTool
from rag.records import ChatMessage, DocumentMatch, KnownEntity
from tests.fakes.catalogue import Catalogue
from tests.fakes.planning import BREADTH, QUESTION, SMALL_TALK, ScriptedTool, call, plan
from tests.fakes.reading import WORDINGS
from tests.fakes.steps import odd_plans
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


TOOLS: tuple[AnyTool, ...] = (ScriptedTool(), GraphQuery(Graph()), ListDocuments(Catalogue(), WORDINGS))


class Mended(NamedTuple):
    plan: QueryPlan
    problems: tuple[str, ...]


async def mended(
    made: QueryPlan,
    *entities: NamedEntity,
    listed: tuple[str, ...] = (),
    documents: tuple[DocumentMatch, ...] = (),
    needs_sign: bool = False,
) -> tuple[Mended, Registry]:
    registry = Registry(*entities)
    mender = PlanMender(
        tools={tool.name: tool for tool in TOOLS},
        intents=load_intents(),
        threshold=0.5,
        resolver=RegistryResolver(registry, NameForms()),
        needs_sign=needs_sign,
    )
    named = tuple(KnownEntity(type="project", id=id_, name=f"Проект {id_}") for id_ in listed)
    asked = PlanningRequest(
        question="Где Алор?", messages=(), base_id=BASE, known=Known(entities=named, documents=documents)
    )
    return Mended(*await mender.mend(made, asked)), registry


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
    assert found.problems == ()


async def test_of_several_the_only_one_of_the_type_is_meant() -> None:
    found, _ = await mended(plan(look_up("organization:alor")), *ALOR, CUSTOMER)
    assert found.plan.tool_calls == (look_up("organization:alor"),)


async def test_an_id_of_a_step_and_of_an_entity_are_mended_too() -> None:
    made = plan(
        kind="analytical",
        steps=[{"action": "graph_query_tool", "params": {"intent": "CONTACTS", "entity_id": "project:alor"}}],
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


async def test_one_that_fits_nothing_becomes_a_search() -> None:
    found, _ = await mended(plan(look_up("project:romashka")), *ALOR)
    assert (found.plan.tool_calls, found.problems) == ((call(QUESTION),), ())


@pytest.mark.parametrize("made", [plan(look_up("project:x")), plan(look_up(None)), plan(call("RAG"))])
async def test_ids_of_the_list_and_none_ask_nobody(made: QueryPlan) -> None:
    found, registry = await mended(made, *ALOR, listed=("project:x",))
    assert (found.problems, registry.asked) == ((), 0)


async def test_an_id_and_an_intent_that_stand_elsewhere_in_the_plan_are_taken_from_there() -> None:
    made = plan(ToolCall(tool="graph_query_tool"), intents=["CONTACTS"], entities=["project:x"])
    found, _ = await mended(made, listed=("project:x",))
    assert found.plan.tool_calls[0].args == {"intent": "CONTACTS", "entity_id": "project:x"}


async def test_a_plan_that_names_no_form_gets_its_intents_own() -> None:
    found, _ = await mended(plan(call("x"), intents=["EXACT_VALUE", "LIST_ITEMS"]))
    assert (found.plan.render_style, found.plan.limits.max_items) == ("SHORT", 4)
    named, _ = await mended(plan(call("x"), intents=["EXACT_VALUE"], render_style="TABLE", limits={"max_items": 7}))
    assert (named.plan.render_style, named.plan.limits.max_items) == ("TABLE", 7)


async def test_unknown_intents_are_general_and_unknown_entities_are_left_out() -> None:
    made = plan(call("x"), intents=["MAKE_COFFEE", "CONTACTS"], entities=["project:nobody"])
    found, _ = await mended(made)
    assert (found.plan.intents, found.plan.entities) == (("GENERAL_UNSTRUCTURED", "CONTACTS"), ())
    assert found.problems == ()


@pytest.mark.parametrize(
    ("args", "read_as"),
    [
        ({}, {"query": QUESTION}),
        ({"query": "штраф", "base_id": "another", "until": None}, {"query": "штраф", "base_id": "another"}),
        ({"query": "штраф", "documents": ["D2", "аренда"]}, {"query": "штраф", "documents": ["id-2", "аренда"]}),
        ({"query": "штраф", "document": "d1"}, {"query": "штраф", "document": "id-1"}),
    ],
)
async def test_a_search_gets_its_question_and_the_ids_of_its_documents(
    args: dict[str, JsonValue], read_as: dict[str, JsonValue]
) -> None:
    made = plan(ToolCall(tool="rag_db_query", args=args))
    found, _ = await mended(made, documents=(match("Договор", "id-1"), match("Прайс", "id-2")))
    assert (found.plan.tool_calls, found.problems) == ((ToolCall(tool="rag_db_query", args=read_as),), ())


async def test_a_day_that_is_none_is_asked_again() -> None:
    found, _ = await mended(plan(ToolCall(tool="list_documents", args={"since": "вчера"})))
    assert "list_documents.since" in found.problems[0]


async def test_a_question_back_shows_names_and_calls_nothing() -> None:
    made = plan(clarification={"question": "project:x или d2?", "choices": ["project:x", "d2", "Аренда"]})
    found, _ = await mended(made, listed=("project:x",), documents=(match("Договор", "1"), match("Прайс", "2")))
    asked = found.plan.clarification
    assert asked is not None
    assert (asked.question, asked.choices) == ("Проект project:x или d2?", ("Проект project:x", "Прайс", "Аренда"))
    assert found.plan.tool_calls == ()


async def test_a_plan_that_searches_and_asks_back_searches() -> None:
    found, _ = await mended(plan(call("x"), clarification={"question": "Какой?"}))
    assert (found.plan.clarification, found.plan.tool_calls) == (None, (call("x"),))


@pytest.mark.parametrize(
    ("changes", "calls"),
    [
        ({}, (call(QUESTION),)),
        ({"intents": ["CONVERSATION"]}, ()),
        ({"intents": ["EXACT_VALUE", "CONVERSATION"], "follow_up": "explicit"}, ()),
        ({"intents": ["EXACT_VALUE"], "follow_up": "explicit"}, (call(QUESTION),)),
    ],
)
async def test_a_question_of_facts_without_calls_is_searched(
    changes: dict[str, object], calls: tuple[ToolCall, ...]
) -> None:
    assert (await mended(plan(**changes)))[0].plan.tool_calls == calls


@pytest.mark.parametrize(
    ("sign", "made", "calls"),
    [
        ("где алор", (), (call(QUESTION),)),
        ("Где Алор?", (call("а"), call("б")), (call("а"),)),
        ("проверь в базе", (call("а"),), ()),
        ("", (call("а"),), ()),
    ],
)
async def test_where_a_search_must_be_asked_for_the_questions_own_words_have_to_ask(
    sign: str, made: tuple[ToolCall, ...], calls: tuple[ToolCall, ...]
) -> None:
    found, _ = await mended(plan(*made, sign=sign), needs_sign=True)
    assert found.plan.tool_calls == calls


@given(odd_plans())
def test_steps_can_always_be_run_in_some_order(steps: Sequence[Step]) -> None:
    made = ordered(steps)
    assert len(made) == len({step.id for step in made}) == len(steps)
    assert in_order(made) is not None


def step(id_: str, action: str = SEARCH, *needed: str) -> Step:
    return Step(id=id_, action=action, params={"query": id_}, depends_on=needed)


def test_after_a_search_that_needs_what_another_finds_a_model_looks_at_both() -> None:
    """A model planned «поставщик, из-за которого перенесён запуск», then «неустойка поставщика, из-за которого …»."""
    steps = (step("launch"), step("fine", SEARCH, "launch"))
    *same, look = looked_at(steps, QUESTION)
    assert tuple(same) == steps
    assert (look.action, look.params, look.depends_on) == (ANALYZE, {"task": QUESTION}, ("launch", "fine"))


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (step("a"), step("b")),
        (step("all", "list_documents"), step("b", SEARCH, "all")),
        (step("a"), step("b", SEARCH, "a"), step("c", ANALYZE, "b")),
    ],
)
def test_other_plans_keep_their_steps(steps: tuple[Step, ...]) -> None:
    assert looked_at(steps, QUESTION) == steps


def test_what_needs_all_before_it_may_need_another_search() -> None:
    all_before = Step(id="c", action=SEARCH, params={"query": "c"}, context_requirements=("all_previous",))
    assert len(looked_at((step("a"), all_before), QUESTION)) == 3
    assert len(looked_at((step("look", "list_documents"), all_before), QUESTION)) == 2


@given(odd_plans())
def test_with_the_added_step_steps_can_still_be_run_in_some_order(steps: Sequence[Step]) -> None:
    made = looked_at(ordered(steps), QUESTION)
    assert in_order(made) is not None
    assert len(made) == len({each.id for each in made})


def match(title: str, id_: str) -> DocumentMatch:
    return DocumentMatch(
        id=DocumentId(id_),
        title=title,
        file_name="",
        source_type=SourceType.NOTE,
        published_at=None,
        pages=None,
        passages=1,
        score=1.0,
    )


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
    request = PlanningRequest(question="Где Алор?", messages=messages, base_id=BASE)
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

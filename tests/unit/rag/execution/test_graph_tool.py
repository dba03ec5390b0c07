"""The graph's tool: complete lists, passages to cite, nothing of ids."""

from collections.abc import Sequence
from datetime import date

import pytest

from domain.ids import BaseId, UserId
from domain.names import Relation
from prompts.wordings import load_intents
from rag.entities import GraphFact
from rag.execution.executor import Executor
from rag.execution.facts import FactKind
from rag.execution.graph_tool import GraphQuery
from rag.execution.tools import ToolContext
from rag.planning.plan import ToolCall
from rag.planning.tool import ToolMisused
from tests.fakes.planning import Facts, ScriptedTool, begin, plan
from tests.fakes.rag import make_candidate

CONTEXT = ToolContext(base_id=BaseId("base"), user_id=UserId(1), question="?", today=date(2026, 11, 21))


def fact(entity: str, text: str, relation: Relation, about: str | None = None) -> GraphFact:
    passage = make_candidate(text, number=1, bm25=1.0).passage
    return GraphFact(entity=entity, relation=relation.value, text=text, object=about, confidence=1.0, passage=passage)


class Graph:
    """Holds facts, and what was asked of it last."""

    def __init__(self, *facts: GraphFact, waiting: int = 0) -> None:
        self._facts = facts
        self.waiting = waiting
        self.asked: tuple[BaseId, str | None, Sequence[str], bool] | None = None

    async def facts(
        self, base: BaseId, *, entity: str | None, relations: Sequence[str], related: bool, limit: int
    ) -> list[GraphFact]:
        self.asked = (base, entity, relations, related)
        return list(self._facts)[:limit]

    async def unread(self, base: BaseId) -> int:
        return self.waiting


def test_its_intents_are_some_of_the_catalogue() -> None:
    assert {intent.value for intent in Relation} < set(load_intents())


async def test_statements_carry_the_entitys_name_and_the_passage() -> None:
    tool = GraphQuery(Graph(fact("АЛОР Брокер", "Ускорил ответы", Relation.PROJECT_ACHIEVEMENTS)))
    payload = await tool.run(tool.read({"intent": "PROJECT_ACHIEVEMENTS", "entity_id": "project:x"}), CONTEXT)
    (found,) = payload.facts
    assert (found.kind, found.title, found.text) == (FactKind.STATEMENT, "АЛОР Брокер", "Ускорил ответы")
    assert found.passage is not None


ACHIEVEMENTS = tuple(fact("АЛОР", f"Достижение {number}", Relation.PROJECT_ACHIEVEMENTS) for number in range(4))


@pytest.mark.parametrize(
    ("intent", "count", "waiting", "joins"),
    [
        ("PROJECT_ACHIEVEMENTS", 4, 0, False),
        ("PROJECT_ACHIEVEMENTS", 4, 2, True),
        ("PROJECT_ACHIEVEMENTS", 1, 0, True),
        ("CURRENT_JOB", 1, 0, False),
        ("CURRENT_JOB", 1, 7, True),
    ],
)
async def test_a_list_that_may_be_incomplete_is_joined_by_a_search(
    intent: str, count: int, waiting: int, joins: bool
) -> None:
    """The real tool, its coverage judged by the real executor."""
    tool = GraphQuery(Graph(*ACHIEVEMENTS[:count], waiting=waiting))
    search = ScriptedTool(Facts()("из текста"))
    made = plan(ToolCall(tool="graph_query_tool", args={"intent": intent, "entity_id": "project:x"}))
    done = await Executor([tool, search], max_calls=4).execute(made, begin())
    assert (search.asked != []) is joins
    assert len(done.payload.facts) == count + joins
    assert done.payload.unread == waiting


async def test_nothing_known_covers_nothing() -> None:
    tool = GraphQuery(Graph())
    payload = await tool.run(tool.read({"intent": "CONTACTS"}), CONTEXT)
    assert (payload.found, payload.coverage) == (False, 0.0)


async def test_a_bare_name_is_left_out_where_it_is_said_how_it_was_used() -> None:
    graph = Graph(
        fact("А", "RAG", Relation.PROJECT_TECH_STACK, "RAG"),
        fact("А", "RAG применён для выдержек", Relation.TECHNOLOGY_USAGE, "RAG"),
        fact("Б", "RAG", Relation.PROJECT_TECH_STACK, "RAG"),
    )
    tool = GraphQuery(graph)
    payload = await tool.run(tool.read({"intent": "TECHNOLOGY_USAGE", "entity_id": "technology:rag"}), CONTEXT)
    assert [(each.title, each.text) for each in payload.facts] == [("А", "RAG применён для выдержек"), ("Б", "RAG")]


async def test_only_the_base_of_the_turn_is_asked() -> None:
    graph = Graph()
    tool = GraphQuery(graph)
    await tool.run(tool.read({"intent": "PROJECT_DETAILS", "entity_id": "organization:aston"}), CONTEXT)
    assert graph.asked == (BaseId("base"), "organization:aston", ["PROJECT_DETAILS"], True)


def test_another_intent_is_refused_with_a_reason() -> None:
    with pytest.raises(ToolMisused, match="intent"):
        GraphQuery(Graph()).read({"intent": "HOW_TO"})

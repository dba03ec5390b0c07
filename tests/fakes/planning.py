"""Doubles for planning and execution: tools that answer by script, and plans made short."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from pydantic import JsonValue

from domain.ids import DocumentId
from prompts.wordings import load_breadth, load_small_talk, load_wordings
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.iterative_tool import ReadAllArguments
from rag.execution.search_tool import SearchArguments
from rag.execution.tools import Run, Tool, ToolContext
from rag.planning.plain_requests import Breadth
from rag.planning.plan import QueryPlan, ToolCall
from rag.small_talk import SmallTalkRule
from tests.fakes.rag import BASE, USER

QUESTION = "Где применял RAG?"
BREADTH = Breadth(load_breadth(), load_wordings())
SMALL_TALK = SmallTalkRule(load_small_talk())


def begin(run: Run | None = None) -> ToolContext:
    """A turn that begins now: a run made when tests are collected would be out of time when they run."""
    return ToolContext(base_id=BASE, user_id=USER, question=QUESTION, today=date(2026, 5, 12), run=run or Run())


class ScriptedTool(Tool[SearchArguments]):
    """Finds what it was given; keeps what it was asked."""

    name = "rag_db_query"
    arguments = SearchArguments

    def __init__(self, *payloads: FactsPayload, error: Exception | None = None) -> None:
        self.payloads = list(payloads)
        self.error = error
        self.asked: list[str] = []

    async def run(self, arguments: SearchArguments, context: ToolContext) -> FactsPayload:
        self.asked.append(arguments.query)
        if self.error:
            raise self.error
        return self.payloads.pop(0) if self.payloads else FactsPayload()


class GraphTool(ScriptedTool):
    """The same under the graph's name."""

    name = "graph_query_tool"


class ReadingTool(Tool[ReadAllArguments]):
    """Has read what it was given."""

    name = "read_documents"
    is_slow = True
    arguments = ReadAllArguments

    def __init__(self, *payloads: FactsPayload) -> None:
        self.payloads = list(payloads)

    async def run(self, arguments: ReadAllArguments, context: ToolContext) -> FactsPayload:
        return self.payloads.pop(0)


@dataclass
class Facts:
    """Facts made short: `Facts()("a", "b")`."""

    title: str = "Договор"
    kind: FactKind = FactKind.STATEMENT
    coverage: float = 1.0
    made: list[Fact] = field(default_factory=list)

    def __call__(self, *texts: str) -> FactsPayload:
        facts = tuple(Fact(kind=self.kind, text=text, title=self.title, document=DocumentId("d")) for text in texts)
        return FactsPayload(facts=facts, coverage=self.coverage)


def call(query: str, tool: str = "rag_db_query", **more: JsonValue) -> ToolCall:
    args: Mapping[str, JsonValue] = {"query": query, **more}
    return ToolCall(tool=tool, args=dict(args))


def plan(*calls: ToolCall, **changes: object) -> QueryPlan:
    """A confident plan for the question of a turn that begins."""
    plain: dict[str, object] = {
        "question": QUESTION,
        "intents": ("TECHNOLOGY_USAGE",),
        "tool_calls": calls,
        "confidence": 0.9,
    }
    return QueryPlan.model_validate({**plain, **changes})

"""Doubles for plans of several steps: steps made short, tools that answer by script, and odd plans for properties."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st
from pydantic import JsonValue

from rag.execution.facts import Advice, Fact, FactKind, FactsPayload
from rag.execution.tools import StepFailed, ToolContext
from rag.planning.plan import Step, Success, ToolCall

IDS = ("a", "b", "c", "d", "e", "f", "g", "h")


def step(step_id: str, *after: str, query: str | None = None, action: str = "rag_db_query", **more: JsonValue) -> Step:
    """A search for its own id, after some others."""
    name = "task" if action == "analyze" else "query"
    params: dict[str, JsonValue] = {name: query or step_id}
    return Step.model_validate({"id": step_id, "action": action, "params": params, "depends_on": after, **more})


def found(*texts: str, advice: Advice | None = None, coverage: float = 1.0) -> FactsPayload:
    facts = tuple(Fact(kind=FactKind.STATEMENT, text=text, title="Договор") for text in texts)
    return FactsPayload(facts=facts, coverage=coverage, advice=advice)


@dataclass
class ScriptedTools:
    """Answers each call by its words; keeps what was asked, and how many calls ran side by side."""

    answers: Mapping[str, FactsPayload | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    contexts: dict[str, ToolContext] = field(default_factory=dict)
    slow: frozenset[str] = frozenset()  # these never end
    running: int = 0
    most: int = 0

    async def __call__(self, call: ToolCall, context: ToolContext) -> FactsPayload:
        words = str(next(iter(call.args.values()), call.tool))
        self.asked.append(words)
        self.contexts[words] = context
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await (asyncio.Event().wait() if words in self.slow else asyncio.sleep(0))
            answer = self.answers.get(words, found(words))
        finally:
            self.running -= 1
        if isinstance(answer, Exception):
            raise answer
        return answer


@st.composite
def odd_plans(draw: st.DrawFn) -> Sequence[Step]:
    """Steps of any order and dependence, circles, doubles and unknown ids included, as a broken model may send them."""
    size = draw(st.integers(1, 8))
    ids = draw(st.lists(st.sampled_from(IDS), min_size=size, max_size=size))
    return [
        Step(
            id=each,
            action=draw(st.sampled_from(["rag_db_query", "analyze", "list_documents"])),
            params={"query": draw(st.sampled_from(["x", "y", each]))},
            depends_on=tuple(draw(st.lists(st.sampled_from((*IDS, "unknown")), max_size=3))),
            context_requirements=tuple(draw(st.lists(st.sampled_from((*IDS, "all_previous")), max_size=2))),
            success=Success(min_facts=draw(st.integers(0, 3))),
        )
        for each in ids
    ]


ADVICE = st.builds(
    Advice, enough=st.booleans(), queries=st.lists(st.sampled_from(["q1", "q2", "q3", "q4"]), max_size=3).map(tuple)
)
ANSWERS = st.one_of(
    st.builds(found, st.sampled_from(["факт 1", "факт 2", "факт 3"]), advice=st.none() | ADVICE),
    st.builds(found, advice=st.none() | ADVICE),
    st.just(StepFailed("away")),
)

"""`analyze`: a model examines what earlier steps found, draws conclusions, and says what is missing.

In: a task, the materials of the step. Out: statements, each with the passage that supports it, and advice on how to go
on: whether that is enough, what to search for. Code drops statements that name no material. Numbers may be worked out:
the check of the answer holds it against the passages, not against these statements.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated

import structlog
from pydantic import Field

from domain.ids import ChunkId
from prompts.loader import Prompts
from rag.execution.facts import Advice, Fact, FactKind, FactsPayload
from rag.execution.facts_block import FactsBlock, build_block
from rag.execution.tools import StepFailed, StepStopped, Tool, ToolContext, ask
from rag.execution.wire import WirePart
from rag.numbers import numbers, spoken_numbers
from rag.planning.tool import ToolArguments
from rag.ports import ChatModel, ModelError
from rag.records import asking
from rag.words import estimate_tokens

MAX_FINDINGS = 12
MAX_QUERIES = 3
MAX_MISSING = 6  # gaps that are passed on to the answer
REPLY_TOKENS = 2_000  # some findings and what is missing

log = structlog.get_logger()


class AnalyzeArguments(ToolArguments):
    """What to think about."""

    task: str = Field(min_length=1, max_length=2000)


class Finding(WirePart):
    """What follows from the materials with these numbers."""

    statement: Annotated[str, Field(min_length=1, max_length=1000)]
    materials: tuple[int, ...]


class Analysis(WirePart):
    """The model's reply."""

    findings: Annotated[tuple[Finding, ...], Field(max_length=MAX_FINDINGS)] = ()
    missing: tuple[str, ...] = ()
    queries: Annotated[tuple[str, ...], Field(max_length=MAX_QUERIES)] = ()
    enough: bool


@dataclass(eq=False)
class Analyze(Tool[AnalyzeArguments]):
    """only as a step after others: compares what they found, draws conclusions, and has the program search for what is
    missing. task: what to find out.
    """

    name = "analyze"
    arguments = AnalyzeArguments

    model: ChatModel
    prompts: Prompts
    prompt_tokens: int = field(kw_only=True)  # limit for the whole prompt

    async def run(self, arguments: AnalyzeArguments, context: ToolContext) -> FactsPayload:
        """Raises StepFailed when the model fails or a limit forbids the call; StepStopped when the person did."""
        if not context.materials:
            return FactsPayload()
        others = (self.prompts.analyze, self.prompts.analyze_task.text, arguments.task, context.background)
        left = self.prompt_tokens - sum(map(estimate_tokens, (*others, context.question)))
        block = build_block(context.materials, tokens=left, about=f"{context.question}\n{arguments.task}")
        task = self.prompts.analyze_task.fill(
            fence=block.fence,
            materials=block.text,
            background=context.background or "Nothing.",
            today=context.today.isoformat(),
            question=context.question,
            task=arguments.task,
        )
        messages = asking(self.prompts.analyze, task)
        try:
            analysis = await ask(self.model, messages, Analysis, context.run, reply_tokens=REPLY_TOKENS)
        except ModelError as error:
            raise StepFailed(f"the model failed: {type(error).__name__}") from error
        if analysis is None:
            if context.run.stop.is_set():
                raise StepStopped("the person had enough")
            raise StepFailed(f"the limits of the turn forbid it: {context.run.refused}")
        return _payload(analysis, block, task=task)


def _payload(analysis: Analysis, block: FactsBlock, *, task: str) -> FactsPayload:
    """Statements without a material are dropped. What is missing goes to the model that answers as it is, so its
    numbers must stand in the materials or the task."""
    facts, drawn, numbered = list[Fact](), set[ChunkId](), dict(enumerate(block.facts, start=1))
    for finding in analysis.findings:
        named = dict.fromkeys(finding.materials)
        if drawn_from := tuple(numbered[number] for number in named if number in numbered):
            first = drawn_from[0]
            fact = Fact(kind=FactKind.STATEMENT, text=finding.statement, title=first.title, drawn_from=drawn_from)
            facts.append(replace(fact, passage=next(iter(fact.passages), None), document=first.document))
            drawn.update(piece for behind in drawn_from for piece in behind.pieces)
    if len(facts) < len(analysis.findings):
        log.info("analysis.unfounded", dropped=len(analysis.findings) - len(facts))
    known = numbers(task) | spoken_numbers(task)
    missing = tuple(each for each in analysis.missing if numbers(each) <= known)[:MAX_MISSING]
    advice = Advice(enough=analysis.enough and bool(facts), queries=analysis.queries, missing=missing)
    seen = {piece for fact in block.facts if fact.kind is FactKind.PASSAGE for piece in fact.pieces}
    return FactsPayload(
        facts=tuple(facts),
        coverage=1.0 if advice.enough else 0.5 if facts else 0.0,
        advice=advice,
        set_aside=frozenset(seen - drawn) if facts else frozenset(),
    )

"""What a turn comes to: its answer with the figures, the trace, and the documents between which the person may choose.

In: what was known, planned and found, and the last draft. Out: the `Answer`; a `Choice` of documents (a button for
each); the addresses that may be links; JSON for `baza ask --json` (issue 5), never logged. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from statistics import mean

from domain.locator import JsonValue
from rag.addresses import addresses, keys
from rag.answering.citations import still_read
from rag.answering.plain import Draft
from rag.execution.executor import Execution
from rag.metering import Pace, StepCounts, TurnMetrics, Usage
from rag.planning.mending import OF_DOCUMENTS, Known
from rag.planning.plan import SEARCH
from rag.planning.planner import Planned
from rag.progress import StepState
from rag.records import Answer, AnswerKind, AnswerText, DocumentChoice, DocumentMatch, Question
from rag.retrieval.alike import EQUAL, choices, equally_fitting

FEWEST = 3  # documents that fit equally: of so many one is asked for where no model judges; of two the best is quoted
# and the other offered. False alarms: none of 541 questions of XQuAD and VK Cloud (benchmarks/README.md)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Documents to choose between; none as a rule."""

    documents: tuple[DocumentChoice, ...] = ()
    is_needed: bool = False  # none of them is any likelier
    replies: tuple[str, ...] = ()  # choices of the plan's question back that are no documents

    def offered(self, draft: Draft) -> tuple[DocumentChoice, ...]:
        """Those that the answer does not speak of; none where it tells of several, or is not from the base."""
        cited = {citation.document_id for citation in draft.citations}
        is_told = sum(each.id in cited for each in self.documents) > 1
        if is_told or draft.kind in (AnswerKind.GENERAL, AnswerKind.NOTHING):
            return ()
        return tuple(each for each in self.documents if each.id not in cited)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the answer is written from."""

    planned: Planned
    execution: Execution
    known: Known
    pace: Pace
    by_words: str = ""  # as in `Answer`
    compares_meaning: bool = True  # False: passages are found by their words alone
    choice: Choice = field(default_factory=Choice)


def choice_between(planned: Planned, execution: Execution, listed: Sequence[DocumentMatch]) -> Choice:
    """Documents that the plan asks about; else, after a search that nothing narrows, those that fit equally."""
    plan, calls = planned.plan, execution.calls
    if planned.small_talk:
        return Choice()
    if asked := plan.clarification:
        named = tuple(each for each in choices(listed) if each.label in asked.choices)
        known = {each.label for each in named}
        return Choice(documents=named, replies=tuple(each for each in asked.choices if each not in known))
    if plan.steps or plan.limits.skip or any(each.call.tool != SEARCH for each in calls):
        return Choice()
    # the plan may narrow a search; one that code adds inside a found document narrows nothing
    narrowed = (each for each in calls if not each.is_added and any(map(each.call.args.get, OF_DOCUMENTS)))
    if any(narrowed) or any(each.is_second_hop and each.payload.found for each in calls):
        return Choice()  # it is known which one is meant
    passages = [fact.passage for fact in execution.payload.facts if fact.passage]
    equal = equally_fitting(passages, plan.question, share=EQUAL)
    if len(equal) >= FEWEST:
        return Choice(documents=equal, is_needed=True)
    return Choice(documents=equally_fitting(passages, plan.question))


def answer_of(draft: Draft, found: Found, *, seconds: float, first_s: float | None, usage: Usage) -> Answer:
    """`first_s`: until the first words that could be shown; `usage` of all models of the turn."""
    execution, payload = found.execution, found.execution.payload
    is_doubtful = bool(execution.calls) and (draft.is_weak or draft.kind is AnswerKind.NOTHING)
    run = sum(step.state not in (StepState.WAITING, StepState.SKIPPED) for step in execution.steps)
    return Answer(
        **{each.name: getattr(draft, each.name) for each in fields(AnswerText)},
        turn=TurnMetrics(
            kind=draft.kind.value,
            model=draft.model,
            plan=found.planned.origin.value,
            seconds=seconds,
            pace=replace(found.pace, first_s=first_s),
            facts=len(payload.facts),
            facts_used=len(draft.used),
            used_rank=mean(draft.used) if draft.used else None,
            check=draft.check,
            passages=len(draft.citations),
            steps=StepCounts(planned=len(found.planned.plan.steps), run=run, adapted=execution.adapted),
            each_step=execution.each_step,
            usage=usage,
        ),
        choices=found.choice.replies,
        alike=found.choice.offered(draft),
        still_read=still_read(payload, draft.citations),
        unread=payload.unread,
        by_words=found.by_words,
        misses_meaning=is_doubtful and not (found.compares_meaning or found.by_words),
        left_out=payload.left_out,
        trace=trace_of(found.planned, execution, remarks=draft.remarks),
        searched=bool(execution.calls),
        documents=payload.documents,
        table=payload.table,
        steps=execution.steps,
        spent=execution.spent.value if execution.spent else None,
    )


def addresses_of(asked: Question, draft: Draft, found: Found) -> frozenset[str]:
    """Keys of those that may be links in the draft: of its facts, of the question and of the dialogue."""
    if not any(True for text in (draft.text, draft.passages) for _ in addresses(text)):
        return frozenset()  # most answers
    texts = [asked.text, *found.known.dialogue.texts]
    for fact in draft.cited:
        texts.append(fact.text)
        if fact.passage:
            of = fact.passage.passage
            texts += filter(None, (of.text, of.title, of.source_identifier, of.url, of.locator.url))
    return keys(texts)


def trace_of(planned: Planned, execution: Execution, *, remarks: tuple[str, ...]) -> Mapping[str, JsonValue]:
    """For `baza ask --json`: seed 4's QueryPlan and FactsPayload, the calls, the steps, the limit, what was wrong."""
    calls: list[JsonValue] = [
        {
            "tool": each.call.tool,
            "args": each.call.model_dump(mode="json")["args"],
            "facts": len(each.payload.facts),
            "coverage": round(each.payload.coverage, 3),
            "seconds": round(each.seconds, 4),
            "problem": each.problem,
            "fallback": each.is_fallback,
            "early": each.was_early,
            "added": each.is_added,
            "hop": each.is_second_hop,
        }
        for each in execution.calls
    ]
    return {
        "plan": planned.plan.model_dump(mode="json"),
        "origin": planned.origin.value,
        "problems": list(planned.problems),
        "calls": calls,
        "steps": [step.to_json() for step in execution.steps],
        "each_step": [asdict(step) for step in execution.each_step],
        "adapted": execution.adapted,
        "spent": execution.spent.value if execution.spent else None,
        "facts": execution.payload.to_json(),
        "documents": asdict(read) if (read := execution.payload.documents) else None,
        "conflicts": [{"about": each.about, "told": each.told} for each in execution.payload.conflicts],
        "checks": list(remarks),
    }

"""What a turn comes to: its answer with the figures, the trace, and the documents between which the person may choose.

In: what was known, planned and found, and the last draft. Out: the `Answer`; a `Choice`: documents that fit the
question equally, or between which the plan asks (a button for each asks the same question of it alone); the keys of the
addresses that may be links; JSON for `baza ask --json` (issue 5) and for tests, which people never see, and which never
reaches the log: it holds texts. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from statistics import mean

from domain.locator import JsonValue
from rag.addresses import addresses, keys
from rag.answering.citations import still_read
from rag.answering.plain import Draft
from rag.execution.executor import CallResult, Execution
from rag.execution.facts import Fact
from rag.metering import Pace, StepCounts
from rag.planning.mending import OF_DOCUMENTS, Known
from rag.planning.plan import SEARCH
from rag.planning.planner import Planned
from rag.progress import StepState
from rag.records import Answer, AnswerKind, AnswerText, Conflict, DocumentChoice, DocumentMatch, Question
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
    """Of the `listed` documents those that the plan asks about; else, after a search that nothing narrows, those that
    fit equally."""
    plan, calls = planned.plan, execution.calls
    if planned.small_talk:
        return Choice()
    if asked := plan.clarification:
        named = tuple(each for each in choices(listed) if each.label in asked.choices)
        known = {each.label for each in named}
        return Choice(documents=named, replies=tuple(each for each in asked.choices if each not in known))
    if plan.steps or plan.limits.skip or any(each.call.tool != SEARCH or _is_narrowed(each) for each in calls):
        return Choice()
    if any(each.is_second_hop and each.payload.found for each in calls):
        return Choice()  # it is known which one is meant
    passages = [fact.passage for fact in execution.payload.facts if fact.passage]
    equal = equally_fitting(passages, plan.question, share=EQUAL)
    if len(equal) >= FEWEST:
        return Choice(documents=equal, is_needed=True)
    return Choice(documents=equally_fitting(passages, plan.question))


def _is_narrowed(result: CallResult) -> bool:
    """By the plan; a search that code adds inside a found document narrows nothing."""
    return not result.is_added and any(value for name, value in result.call.args.items() if name in OF_DOCUMENTS)


def answer_of(draft: Draft, found: Found) -> Answer:
    """The answer without the turn's `seconds`, `pace` and `usage`."""
    payload = found.execution.payload
    return Answer(
        **{each.name: getattr(draft, each.name) for each in fields(AnswerText)},
        seconds=0.0,
        choices=found.choice.replies,
        alike=found.choice.offered(draft),
        still_read=still_read(payload, draft.citations),
        unread=payload.unread,
        by_words=found.by_words,
        misses_meaning=not (found.compares_meaning or found.by_words) and _is_doubtful(draft, found),
        left_out=payload.left_out,
        trace=trace_of(found.planned, found.execution, remarks=draft.remarks),
        plan=found.planned.origin.value,
        searched=bool(found.execution.calls),
        facts=len(payload.facts),
        facts_used=len(draft.used),
        used_rank=mean(draft.used) if draft.used else None,
        documents=payload.documents,
        table=payload.table,
        steps=found.execution.steps,
        step_counts=_counted(found),
        each_step=found.execution.each_step,
        spent=found.execution.spent.value if found.execution.spent else None,
    )


def _is_doubtful(draft: Draft, found: Found) -> bool:
    """Whether the base was searched, and nothing that surely fits was found."""
    return bool(found.execution.calls) and (draft.is_weak or draft.kind is AnswerKind.NOTHING)


def _counted(found: Found) -> StepCounts:
    never_run = (StepState.WAITING, StepState.SKIPPED)
    return StepCounts(
        planned=len(found.planned.plan.steps),
        run=sum(step.state not in never_run for step in found.execution.steps),
        adapted=found.execution.adapted,
    )


def addresses_of(asked: Question, draft: Draft, found: Found) -> frozenset[str]:
    """Keys of the addresses that may be links in the draft: those of the facts that it uses, of the question and of the
    dialogue."""
    if not any(True for text in (draft.text, draft.passages) for _ in addresses(text)):
        return frozenset()  # most answers
    texts = (text for fact in draft.cited for text in _texts(fact))
    return keys((asked.text, *found.known.dialogue.texts, *texts))


def _texts(fact: Fact) -> Iterator[str]:
    yield fact.text
    if fact.passage:
        of = fact.passage.passage
        yield from filter(None, (of.text, of.title, of.source_identifier, of.url, of.locator.url))


def trace_of(planned: Planned, execution: Execution, *, remarks: tuple[str, ...]) -> Mapping[str, JsonValue]:
    """Keys: plan (seed 4's QueryPlan), origin, problems, calls, steps, each_step (what each took), adapted (how many
    steps were added, changed or skipped), spent (the limit that ended the work), facts (seed 4's FactsPayload),
    documents (how many were read), conflicts, checks."""
    plan: JsonValue = planned.plan.model_dump(mode="json")
    return {
        "plan": plan,
        "origin": planned.origin.value,
        "problems": list(planned.problems),
        "calls": [_call(result) for result in execution.calls],
        "steps": [step.to_json() for step in execution.steps],
        "each_step": [asdict(step) for step in execution.each_step],
        "adapted": execution.adapted,
        "spent": execution.spent.value if execution.spent else None,
        "facts": execution.payload.to_json(),
        "documents": asdict(read) if (read := execution.payload.documents) else None,
        "conflicts": [_conflict(conflict) for conflict in execution.payload.conflicts],
        "checks": list(remarks),
    }


def _conflict(conflict: Conflict) -> JsonValue:
    claims: list[JsonValue] = [
        {
            "value": each.value,
            "document": str(each.passage.passage.document_id),
            "dated": each.dated.isoformat() if each.dated else None,
        }
        for each in conflict.claims
    ]
    return {"about": conflict.about, "claims": claims}


def _call(result: CallResult) -> JsonValue:
    args: JsonValue = result.call.model_dump(mode="json")["args"]
    return {
        "tool": result.call.tool,
        "args": args,
        "facts": len(result.payload.facts),
        "coverage": round(result.payload.coverage, 3),
        "seconds": round(result.seconds, 4),
        "problem": result.problem,
        "fallback": result.is_fallback,
        "early": result.was_early,
        "added": result.is_added,
        "hop": result.is_second_hop,
    }

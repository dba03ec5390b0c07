"""Between which documents the person may, or has to, choose.

In: the plan of a turn and what it found. Out: a `Choice`: documents that fit the question equally, or between which the
plan asks. The bot shows a button for each; a press asks the same question of that document alone (`Question.only`).
Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.execution.executor import CallResult, Execution
from rag.planning.mending import OF_DOCUMENTS
from rag.planning.plan import SEARCH
from rag.planning.planner import Planned
from rag.quoting.plain import Draft
from rag.records import AnswerKind, DocumentChoice, DocumentMatch
from rag.retrieval.alike import EQUAL, choices, equally_fitting

FEWEST = 3  # documents that fit equally: of so many one is asked for where no model judges; of two the best is quoted
# and the other offered. False alarms: none of 541 questions of XQuAD and VK Cloud (docs/retrieval.md)


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

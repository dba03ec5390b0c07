"""What a step sees of the steps before it (seed 3, "Context Manager").

In: finished steps in the order in which they ended, and what the next one asks for. Out: its materials, within a
budget, and a summary of the rest. The summary gives the facts of the last steps, a few facts of older ones, and a count
of the oldest. Pure; where that leaves out too much, `step_summary` asks a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.merging import merge
from rag.execution.token_budget import StepBudget
from rag.planning.plan import ALL_PREVIOUS, Step
from rag.tokens import estimate_tokens

WINDOW = 2  # steps that are summarised with all facts (seed 3, "Sliding Window": "Последние 2")
SAMPLE_CHARS = 160  # of a fact in a summary
NOTE_TOKENS = 15  # reserved for the line about steps that are left out
SAMPLES = 3  # facts in the summary of an older step


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A step that has ended, and its result."""

    step: Step
    payload: FactsPayload
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class StepContext:
    """The input of a step."""

    materials: tuple[Fact, ...]
    others: tuple[Finished, ...]  # steps of which it gets a summary


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A summary of steps."""

    text: str
    bare: int  # steps that found something but have no fact in the text


def context_for(step: Step, finished: Sequence[Finished], budget: StepBudget) -> StepContext:
    """The facts of the steps in `context_requirements`, or in `depends_on` when that is empty; the rest as `others`."""
    wanted = set(step.context_requirements or step.depends_on)
    named = [each for each in finished if ALL_PREVIOUS in wanted or each.step.id in wanted]
    others = [each for each in finished if each not in named]
    facts = merge([each.payload for each in reversed(named)]).facts  # the latest come first
    return StepContext(materials=_fitting(facts, budget.rag), others=tuple(others))


def summary(finished: Sequence[Finished], *, tokens: int, window: int = WINDOW, chars: int = SAMPLE_CHARS) -> Summary:
    """The latest `window` steps with all their facts, each cut to `chars`; older steps with up to SAMPLES facts.

    A step whose facts do not fit is given by their number. A fact of several steps is given with the latest.
    """
    lines: list[str] = []
    bare = 0
    left = tokens - (NOTE_TOKENS if len(finished) > window else 0)
    told: set[str] = set()
    for age, each in enumerate(reversed(finished)):
        facts = [fact for fact in each.payload.facts if fact.text not in told][: None if age < window else SAMPLES]
        line = _told(each, facts, chars)
        if estimate_tokens(line) > left:
            facts, line = [], _told(each, [], chars)
            bare += each.payload.found
        if estimate_tokens(line) > left:
            lines.append(f"{len(finished) - age} earlier steps are left out here.")
            bare += sum(older.payload.found for older in finished[: len(finished) - age - 1])
            break
        left -= estimate_tokens(line)
        lines.append(line)
        told.update(fact.text for fact in facts)
    while lines and estimate_tokens("\n".join(lines)) > tokens:
        lines.pop()
    return Summary(text="\n".join(reversed(lines)), bare=bare)


def _told(finished: Finished, facts: Sequence[Fact], chars: int) -> str:
    step = finished.step
    params = ", ".join(str(value) for value in step.params.values())
    head = f"Step {step.id} ({step.action}: {params}): {finished.problem or f'{len(finished.payload.facts)} facts'}."
    return "\n".join((head, *(f"- {_short(fact, chars)}" for fact in facts)))


def _short(fact: Fact, chars: int) -> str:
    """A passage gets its document's title: without it, its text might seem to be about something else."""
    line = " ".join(fact.text.split())
    line = line if len(line) <= chars else f"{line[:chars].rstrip()}…"
    return f"{fact.title}: {line}" if fact.title and fact.kind is FactKind.PASSAGE else line


def _fitting(facts: Sequence[Fact], tokens: int) -> tuple[Fact, ...]:
    """As many facts as fit, conclusions before passages; one that is too long is skipped, not the ones after it."""
    kept: list[Fact] = []
    left = tokens
    for fact in sorted(facts, key=lambda fact: fact.kind is FactKind.PASSAGE):
        size = estimate_tokens(fact.text)
        if size <= left:
            kept.append(fact)
            left -= size
    return tuple(kept)

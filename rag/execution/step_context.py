"""What a step sees of the steps before it (seed 3, "Context Manager", "Динамический бюджет", "Hierarchical
Summarization").

In: finished steps in the order in which they ended, what the next one asks for, the plan's progress. Out: tokens for
history and materials; the materials, within them; a summary of the rest: the facts of the last steps, a few facts of
older ones, and a count of the oldest. Pure; no model is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.execution.facts import Fact, FactKind, FactsPayload, merge, weighed
from rag.planning.plan import ALL_PREVIOUS, Step
from rag.words import estimate_tokens

RESPONSE_TOKENS = 512
"""Seed 3's reserve for the reply; never given away."""


@dataclass(frozen=True, kw_only=True)
class StepBudget:
    """Tokens of one step; with the reply's, their sum is never over the whole budget."""

    history: int  # the summary of earlier steps
    rag: int  # the materials


@dataclass(frozen=True, kw_only=True)
class TokenBudget:
    """Seed 3's rule: early steps get more materials, late ones more history, half and half at the end."""

    total: int

    def allocate(self, *, step_number: int, total_steps: int, context_size: int) -> StepBudget:
        """`step_number` counts from 1; `context_size` is the rest of the prompt (rules, question), in tokens."""
        available = max(self.total - RESPONSE_TOKENS - context_size, 0)
        progress = min(max(step_number / max(total_steps, 1), 0.0), 1.0)
        history = int(available * progress * 0.5)
        rag = int(available * (1.0 - progress * 0.5))
        return StepBudget(history=history, rag=min(rag, available - history))


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


def context_for(step: Step, finished: Sequence[Finished], budget: StepBudget) -> StepContext:
    """The facts of the steps in `context_requirements`, or in `depends_on` when that is empty; the rest as `others`."""
    wanted = set(step.context_requirements or step.depends_on)
    named = [each for each in finished if ALL_PREVIOUS in wanted or each.step.id in wanted]
    others = [each for each in finished if each not in named]
    found = merge([each.payload for each in reversed(named)]).facts  # the latest come first
    facts = weighed(found, [each.payload for each in finished])
    return StepContext(materials=_fitting(facts, budget.rag), others=tuple(others))


def summary(finished: Sequence[Finished], *, tokens: int) -> str:
    """The latest WINDOW steps with all their facts, each cut to SAMPLE_CHARS; older steps with up to SAMPLES facts.

    A step whose facts do not fit is given by their number. A fact of several steps is given with the latest.
    """
    lines: list[str] = []
    left = tokens - (NOTE_TOKENS if len(finished) > WINDOW else 0)
    told: set[str] = set()
    for age, each in enumerate(reversed(finished)):
        facts = [fact for fact in each.payload.facts if fact.text not in told][: None if age < WINDOW else SAMPLES]
        line = _told(each, facts)
        if estimate_tokens(line) > left:
            facts, line = [], _told(each, [])
        if estimate_tokens(line) > left:
            lines.append(f"{len(finished) - age} earlier steps are left out here.")
            break
        left -= estimate_tokens(line)
        lines.append(line)
        told.update(fact.text for fact in facts)
    while lines and estimate_tokens("\n".join(lines)) > tokens:
        lines.pop()
    return "\n".join(reversed(lines))


def _told(finished: Finished, facts: Sequence[Fact]) -> str:
    step = finished.step
    params = ", ".join(str(value) for value in step.params.values())
    head = f"Step {step.id} ({step.action}: {params}): {finished.problem or f'{len(finished.payload.facts)} facts'}."
    return "\n".join((head, *(f"- {_short(fact)}" for fact in facts)))


def _short(fact: Fact) -> str:
    """A passage gets its document's title: without it, its text might seem to be about something else."""
    line = " ".join(fact.text.split())
    line = line if len(line) <= SAMPLE_CHARS else f"{line[:SAMPLE_CHARS].rstrip()}…"
    return f"{fact.title}: {line}" if fact.title and fact.kind is FactKind.PASSAGE else line


def _fitting(facts: Sequence[Fact], tokens: int) -> tuple[Fact, ...]:
    """As many facts as fit, conclusions before passages; one that is too long is skipped, not the ones after it."""
    kept: list[Fact] = []
    left = tokens
    for fact in sorted(facts, key=lambda fact: fact.kind is FactKind.PASSAGE):
        size = estimate_tokens(fact.text[: fact.shown])
        if size <= left:
            kept.append(fact)
            left -= size
    return tuple(kept)

"""What a step gets to see of the steps before it (seed 3, "Context Manager").

In: finished steps in the order in which they ended, and what the next one asks for. Out: its materials, within a
budget, and a summary of the rest. The last steps are summed up by what they found, older ones by a line, the oldest by
a count: the summary of a summary. Pure; where that leaves out too much, `step_summary` asks a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.merging import merge
from rag.execution.token_budget import StepBudget
from rag.planning.plan import Step
from rag.planning.steps import ALL_PREVIOUS
from rag.tokens import estimate_tokens

WINDOW = 2  # steps that are told of in full (seed 3, "Sliding Window": "Последние 2")
SAMPLE_CHARS = 160  # of a fact in a summary
NOTE_TOKENS = 15  # for saying that some were left out
SAMPLES = 3  # facts that a summary of an older step names


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A step that has ended, and what it brought."""

    step: Step
    payload: FactsPayload
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class StepContext:
    """What a step is given."""

    materials: tuple[Fact, ...]
    others: tuple[Finished, ...]  # which it is told of in short


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Steps in short."""

    text: str
    bare: int  # steps that found something, and of which no fact could be told


def context_for(step: Step, finished: Sequence[Finished], budget: StepBudget) -> StepContext:
    """The facts of the steps that it names (of all, when it names none but waits for some), the rest in short."""
    wanted = set(step.context_requirements or step.depends_on)
    named = [each for each in finished if ALL_PREVIOUS in wanted or each.step.id in wanted]
    others = [each for each in finished if each not in named]
    facts = merge([each.payload for each in reversed(named)]).facts  # the latest know most
    return StepContext(materials=_fitting(facts, budget.rag), others=tuple(others))


def summary(finished: Sequence[Finished], *, tokens: int, window: int = WINDOW, chars: int = SAMPLE_CHARS) -> Summary:
    """The latest `window` steps with all their facts, each cut to `chars`, older ones with a few of them.

    What does not fit is a number; what several steps found is told with the latest.
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
    """A passage with its document: what it says may be said of something else in another."""
    line = " ".join(fact.text.split())
    line = line if len(line) <= chars else f"{line[:chars].rstrip()}…"
    return f"{fact.title}: {line}" if fact.title and fact.kind is FactKind.PASSAGE else line


def _fitting(facts: Sequence[Fact], tokens: int) -> tuple[Fact, ...]:
    """As many as fit, conclusions before what they were drawn from; one that is too long hides none after it."""
    kept: list[Fact] = []
    left = tokens
    for fact in sorted(facts, key=lambda fact: fact.kind is FactKind.PASSAGE):
        size = estimate_tokens(fact.text)
        if size <= left:
            kept.append(fact)
            left -= size
    return tuple(kept)

"""What a step sees of the steps before it (seed 3, "Context Manager", "Динамический бюджет", "Hierarchical
Summarization").

In: finished steps in the order in which they ended, what the next one asks for, the plan's progress. Out: tokens for
history and materials; the materials, within them; a summary of the rest. The summary gives the facts of the last steps,
a few facts of older ones, and a count of the oldest. Where that leaves out too much, a model sums up the older ones;
its notes are used only when they hold no number that is in no fact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from prompts.loader import Prompts
from rag.execution.facts import Fact, FactKind, FactsPayload, merge, weighed
from rag.execution.tools import Allowance, Run, size_of
from rag.numbers import numbers
from rag.planning.plan import ALL_PREVIOUS, Step
from rag.ports import ChatModel, ModelError
from rag.records import ChatMessage, asking
from rag.words import estimate_tokens, fence

RESPONSE_TOKENS = 512
"""Seed 3's reserve for the reply; never given away."""


@dataclass(frozen=True, kw_only=True)
class StepBudget:
    """Tokens of one step; their sum is never over the whole budget, provided that the reply fits in it."""

    history: int  # the summary of earlier steps
    rag: int  # the materials
    response: int


@dataclass(frozen=True, kw_only=True)
class TokenBudget:
    """Seed 3's rule: early steps get more materials, late ones more history, half and half at the end."""

    total: int
    response: int = RESPONSE_TOKENS

    def allocate(self, *, step_number: int, total_steps: int, context_size: int) -> StepBudget:
        """`step_number` counts from 1; `context_size` is the rest of the prompt (rules, question), in tokens."""
        available = max(self.total - self.response - context_size, 0)
        progress = min(max(step_number / max(total_steps, 1), 0.0), 1.0)
        history = int(available * progress * 0.5)
        rag = int(available * (1.0 - progress * 0.5))
        return StepBudget(history=history, rag=min(rag, available - history), response=self.response)


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
    found = merge([each.payload for each in reversed(named)]).facts  # the latest come first
    facts = weighed(found, [each.payload for each in finished])
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
        size = estimate_tokens(fact.text[: fact.shown])
        if size <= left:
            kept.append(fact)
            left -= size
    return tuple(kept)


FEWEST_TOKENS = 80  # for notes; with fewer they would hold no more than code's one line per step
SOURCE_TOKENS = 6_000  # of the text to summarise, in one call
SOURCE_CHARS = (1_200, 600, 160)  # of each fact in it, the most that fits: the beginning alone seldom has the answer
REPLY_TOKENS = 1_000  # what a reply may take besides
SPARED_CALLS = 3  # reserved in the turn's limit for the step itself and the answer with its retry
MOST_CALLS = 2  # per turn
TOKENS_A_WORD = 4  # for Russian, with some margin

log = structlog.get_logger()


class StepSummariser:
    """Serves any number of turns concurrently; each turn's `Run` holds its limits."""

    def __init__(self, model: ChatModel, prompts: Prompts) -> None:
        self._model = model
        self._rules = prompts.steps_so_far
        self._task = prompts.steps_so_far_task

    async def tell(self, finished: Sequence[Finished], *, question: str, tokens: int, run: Run) -> str:
        """A summary of at most `tokens`. Never raises ModelError."""
        plain = summary(finished, tokens=tokens)
        older, latest = finished[:-WINDOW], finished[-WINDOW:]
        if not plain.bare or not any(each.payload.found for each in older):
            return plain.text
        recent = summary(latest, tokens=tokens // 2).text
        notes = await self._notes(older, question, tokens - estimate_tokens(recent) - 1, run)
        told = "\n".join(filter(None, (notes, recent)))
        return told if notes and estimate_tokens(told) <= tokens else plain.text

    async def _notes(self, older: Sequence[Finished], question: str, tokens: int, run: Run) -> str:
        """The model's notes; empty when there are none that can be used."""
        if tokens < FEWEST_TOKENS:
            return ""
        source = _source(older)
        messages = self._messages(source, question, words=tokens // TOKENS_A_WORD)
        allowance = Allowance(run=run, reply_tokens=REPLY_TOKENS, spared_calls=SPARED_CALLS)
        size = size_of(messages)
        if run.summaries >= MOST_CALLS or allowance.refusal(size):
            return ""  # not recorded as refused: code summarises the steps instead
        run.summaries += 1
        try:
            with allowance.calling(size):
                written = (await self._model.complete(messages)).strip()
        except ModelError as error:
            log.warning("steps.not_summed_up", reason=type(error).__name__)
            return ""
        is_sound = numbers(written) <= numbers(f"{source.text}\n{question}") and estimate_tokens(written) <= tokens
        log.info("steps.summed_up", steps=len(older), used=is_sound)
        return written if is_sound else ""

    def _messages(self, source: Summary, question: str, *, words: int) -> tuple[ChatMessage, ...]:
        filled = self._task.fill(fence=fence("steps", question, source.text), question=question, steps=source.text)
        return asking(self._rules.fill(words=words), filled)


def _source(steps: Sequence[Finished]) -> Summary:
    """All facts of all steps, each cut to the largest of SOURCE_CHARS with which all fit."""
    tellings = (summary(steps, tokens=SOURCE_TOKENS, window=len(steps), chars=chars) for chars in SOURCE_CHARS)
    told = next(tellings)
    while told.bare and (shorter := next(tellings, None)):
        told = shorter
    return told

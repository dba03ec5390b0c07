"""The state of a plan of several steps, and the rules that change it on the way (seed 3, "Execution Engine"); what each
step sees of those before it ("Context Manager").

In: the steps, and the result of each when it ended. Out: which steps may begin next, which are not needed any more,
which were added; the materials of each and a summary of the rest; in the end, what was looked for in vain or not at
all. Every rule that ends the work is here: the plan cannot loop, and cannot grow without bound. Pure.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from domain.locator import JsonValue
from rag.execution.facts import Advice, Fact, FactKind, FactsPayload, fact_keys, merge, weighed
from rag.execution.tools import Spent
from rag.metering import Usage
from rag.planning.plan import ALL_PREVIOUS, ANALYZE, ANYTHING, MAX_STEPS, READ_ONE, SEARCH, Step, in_order, needs
from rag.progress import StepShown, StepState
from rag.words import estimate_tokens

RESPONSE_TOKENS = 512  # seed 3's reserve for the reply; never given away
WINDOW = 2  # steps that are summarised with all facts (seed 3, "Sliding Window": "Последние 2")
SAMPLES = 3  # facts in the summary of an older step
SAMPLE_CHARS = 160  # of a fact in a summary
NOTE_TOKENS = 15  # reserved for the line about steps that are left out
FRUITLESS = 2
"""Consecutive steps that find nothing new (issue 6, loop detection); then added ones are skipped, and no more added."""
ROUNDS = 3  # times that steps are added on a model's advice

_UNTRIED = {
    StepState.FAILED: "Not done, because it failed or the limits of this turn forbade it",
    StepState.STOPPED: "Broken off, because the person wanted the answer at once",
}


def step_budget(total: int, *, step_number: int, total_steps: int, context_size: int) -> tuple[int, int]:
    """Tokens of a step's summary of earlier ones and of its materials by seed 3's rule (`TokenBudget`): early steps get
    more materials, late ones more history, half and half at the end; with the reply's never more than `total`.
    `step_number` counts from 1; `context_size` is the rest of the prompt (rules, question), in tokens."""
    available = max(total - RESPONSE_TOKENS - context_size, 0)
    progress = min(max(step_number / max(total_steps, 1), 0.0), 1.0)
    history = int(available * progress * 0.5)
    return history, min(int(available * (1.0 - progress * 0.5)), available - history)


@dataclass(frozen=True, kw_only=True)
class StepRun:
    """A step that runs or has ended, its result, and what it took."""

    step: Step
    payload: FactsPayload = field(default_factory=FactsPayload)
    problem: str = ""
    stopped: bool = False  # the person pressed stop before it was done
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    started: float = field(default_factory=time.monotonic)

    def ended(self, payload: FactsPayload, problem: str, *, stopped: bool) -> "StepRun":
        seconds = time.monotonic() - self.started
        return replace(self, payload=payload, problem=problem, stopped=stopped, seconds=seconds)

    @property
    def is_empty(self) -> bool:
        """Whether it found nothing, though nothing went wrong."""
        return not self.payload.found and not self.problem


def context_for(step: Step, finished: Sequence[StepRun], *, tokens: int) -> tuple[list[Fact], list[StepRun]]:
    """The materials of a step, at most `tokens`: facts of the steps in `context_requirements`, or in `depends_on` when
    that is empty, conclusions before passages; and the other steps, of which it gets a summary. A fact that is too long
    is skipped, not the ones after it."""
    wanted = set(step.context_requirements or step.depends_on)
    named = [each for each in finished if ALL_PREVIOUS in wanted or each.step.id in wanted]
    found = merge([each.payload for each in reversed(named)]).facts  # the latest come first
    facts = weighed(found, [each.payload for each in finished])
    kept: list[Fact] = []
    for fact in sorted(facts, key=lambda fact: fact.kind is FactKind.PASSAGE):
        size = estimate_tokens(fact.text[: fact.shown])
        if size <= tokens:
            kept.append(fact)
            tokens -= size
    return kept, [each for each in finished if each not in named]


def summary(finished: Sequence[StepRun], *, tokens: int) -> str:
    """The latest WINDOW steps with all their facts, each cut to SAMPLE_CHARS; older steps with up to SAMPLES facts. A
    step whose facts do not fit is given by their number. A fact of several steps is given with the latest."""
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


def _told(finished: StepRun, facts: Sequence[Fact]) -> str:
    """A passage gets its document's title: without it, its text might seem to be about something else."""
    step = finished.step
    params = ", ".join(str(value) for value in step.params.values())
    lines = [f"Step {step.id} ({step.action}: {params}): {finished.problem or f'{len(finished.payload.facts)} facts'}."]
    for fact in facts:
        line = " ".join(fact.text.split())
        line = line if len(line) <= SAMPLE_CHARS else f"{line[:SAMPLE_CHARS].rstrip()}…"
        lines.append(f"- {fact.title}: {line}" if fact.title and fact.kind is FactKind.PASSAGE else f"- {line}")
    return "\n".join(lines)


@dataclass(kw_only=True)
class Course:
    """One plan in execution. A search that finds too little falls back to `question`."""

    question: str
    left: int  # steps that may still begin
    steps: dict[str, Step]
    states: dict[str, StepState] = field(default_factory=dict)
    finished: list[StepRun] = field(default_factory=list)  # in the order in which they ended
    begun: int = 0
    adapted: int = 0  # steps added, changed or skipped
    progress: dict[str, tuple[int, int]] = field(default_factory=dict)  # step id -> documents read, of how many
    _signatures: set[str] = field(default_factory=set)
    _known: set[object] = field(default_factory=set)
    _added: set[str] = field(default_factory=set)
    _fruitless: int = 0
    _rounds: int = 0

    @classmethod
    def of(cls, steps: Sequence[Step], *, question: str, limit: int) -> "Course":
        """All steps wait. Of steps that do the same, the first in topological order is kept, so that no cycle arises;
        what depended on the others waits for that one."""
        course = cls(question=question, left=limit, steps={})
        first, same = dict[str, str](), dict[str, str]()  # id of each step -> id of the one that does the same

        def without_repeats(step: Step) -> Step:
            ids = {name: getattr(step, name) for name in ("depends_on", "context_requirements")}
            kept = {name: tuple(dict.fromkeys(same.get(each, each) for each in own)) for name, own in ids.items()}
            return step.model_copy(update=kept)

        for step in in_order(steps) or ():
            same[step.id] = first.setdefault(signature_of(without_repeats(step)), step.id)
        for step in steps:
            if same.get(step.id, step.id) == step.id:
                course._include(without_repeats(step))
        return course

    def ready(self) -> list[Step]:
        """Steps that may begin, in the plan's order: first those that wait for nothing, then searches that wait for
        others, since what these find changes no search."""
        waiting = sorted(self._waiting(), key=lambda step: not self._may_begin(step))
        return [step for step in waiting if step.action == SEARCH or self._may_begin(step)][: self.left]

    @property
    def is_cut_short(self) -> bool:
        """Whether a step could begin but for the limit on the number of steps."""
        return not self.left and any(map(self._may_begin, self._waiting()))

    def begin(self, step: Step) -> StepRun:
        self.begun += 1
        self.left -= 1
        self.states[step.id] = StepState.RUNNING
        return StepRun(step=step)

    def settle(self, ended: StepRun) -> None:
        """A step has ended: judge it by its success criterion, and adapt the plan."""
        step, payload, success = ended.step, ended.payload, ended.step.success
        fresh = {key for fact in payload.facts for key in fact_keys(fact)} - self._known
        self._known |= fresh
        self._fruitless = 0 if fresh else self._fruitless + 1
        self.finished.append(ended)
        is_enough = len(payload.facts) >= success.min_facts and payload.coverage >= success.min_coverage
        if ended.problem or ended.stopped:
            self.states[step.id] = StepState.STOPPED if ended.stopped else StepState.FAILED
        elif not is_enough and self._widen(ended):
            return
        else:
            self.states[step.id] = StepState.DONE if is_enough else StepState.SHORT
        if payload.advice:
            self._follow(step, payload.advice)
        if self._fruitless >= FRUITLESS:
            self._skip([each for each in self._waiting() if each.id in self._added])

    def close(self) -> None:
        self._skip(self._waiting())

    def shown(self) -> tuple[StepShown, ...]:
        """The steps for the person. A search that found nothing and was widened is listed as it was and as it is."""
        told: list[StepShown] = []
        for id_, step in self.steps.items():
            done, total = self.progress.get(id_, (0, 0))
            own = StepShown(id=id_, action=step.action, about=_about(step), state=self.states[id_])
            empty = [each.step for each in self.finished if each.step.id == id_ and each.is_empty]
            if empty and empty[0] != step:
                told.append(replace(own, id=f"{id_}~", about=_about(empty[0]), state=StepState.SHORT, is_empty=True))
            told.append(replace(own, done=done, total=total, is_empty=step in empty))
        return tuple(told)

    def _waiting(self) -> list[Step]:
        return [step for step in self.steps.values() if self.states[step.id] is StepState.WAITING]

    def _needs(self, step: Step) -> frozenset[str]:
        is_last = ALL_PREVIOUS in step.context_requirements
        return needs(step) | (frozenset(takewhile(step.id.__ne__, self.steps)) if is_last else frozenset())

    def _may_begin(self, step: Step) -> bool:
        """Whether all steps that it needs have ended. Failed ones count as ended: the step works with the rest."""
        is_open = (StepState.WAITING, StepState.RUNNING)
        return all(self.states.get(each) not in is_open for each in self._needs(step))

    def _include(self, step: Step) -> bool:
        """Add a step that waits; False when one with the same signature or id exists already."""
        signature = signature_of(step)
        if signature in self._signatures or step.id in self.steps:
            return False
        self._signatures.add(signature)
        self.steps[step.id], self.states[step.id] = step, StepState.WAITING
        return True

    def _widen(self, ended: StepRun) -> bool:
        """Repeat a search that found too little, once, with the plain question; True when it waits again. Where it
        found anything, its documents are the right ones."""
        step, kept = ended.step, () if ended.is_empty else ("documents",)
        within = {name: step.params[name] for name in kept if name in step.params}
        wider = step.model_copy(update={"params": {"query": self.question, **within}})
        if step.action != SEARCH or signature_of(wider) in self._signatures:
            return False
        self._signatures.add(signature_of(wider))
        self.steps[step.id], self.states[step.id] = wider, StepState.WAITING
        self.adapted += 1
        return True

    def _follow(self, step: Step, advice: Advice) -> None:
        """Where it is enough, skip what no other task needs. Else search for what is missing, and add another analysis
        with the same task: it sees the added searches and everything that `step` saw."""
        if advice.enough:
            others = set[str]()  # waiting analyses with another task, and all steps that they need
            unseen = [each for each in self._waiting() if each.action == ANALYZE and each.params != step.params]
            while unseen:
                each = unseen.pop()
                unseen += [self.steps[id_] for id_ in self._needs(each) - others if id_ in self.steps]
                others.add(each.id)
            self._skip([each for each in self._waiting() if each.id not in others])
            return
        if self._rounds >= ROUNDS or self._fruitless >= FRUITLESS:
            return
        within = self._documents()
        searches = [
            Step(id=f"{step.id}+{place}", action=SEARCH, params={"query": query, **within}, success=ANYTHING)
            for place, query in enumerate(advice.queries, start=1)
        ]
        added = [each.id for each in searches if self._include(each)]
        if not added:
            return
        self._rounds += 1
        # of what it sees beyond MAX_STEPS, the oldest are only summarised
        seen = tuple(dict.fromkeys((*added, step.id, *step.context_requirements, *step.depends_on)))[:MAX_STEPS]
        again = Step(
            id=f"{step.id.split('*')[0]}*{self._rounds}",
            action=ANALYZE,
            params=step.params,
            depends_on=tuple(added),
            context_requirements=seen,
            success=ANYTHING,
        )
        self.steps[again.id], self.states[again.id] = again, StepState.WAITING
        self._added |= {again.id, *added}
        self.adapted += len(added) + 1

    def _documents(self) -> dict[str, JsonValue]:
        """The documents that the searches and readings so far were limited to, as an argument; empty if one was not. A
        search that was widened counts as it was planned."""
        planned = {each.step.id: each.step for each in reversed(self.finished)}
        looked = [each for each in reversed(planned.values()) if each.action in (SEARCH, READ_ONE)]
        named = [each.params.get("documents") or [each.params.get("document") or ""] for each in looked]
        lists = [each for each in named if isinstance(each, list) and any(each)]
        if not lists or len(lists) < len(named):
            return {}
        return {"documents": list(dict.fromkeys(str(document) for each in lists for document in each))}

    def _skip(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.states[step.id] = StepState.SKIPPED
            self.adapted += 1


def signature_of(step: Step) -> str:
    """Steps with the same signature do the same: action and parameters, for an analysis also the steps it needs."""
    about = [sorted(needs(step))] if step.action == ANALYZE else []
    return json.dumps([step.action, step.params, *about], ensure_ascii=False, sort_keys=True)


def _about(step: Step) -> str:
    """The step's subject in the plan's words, for the person."""
    wanted = ("query", "question", "what", "document", "name_contains", "task")
    return next((str(step.params[name]) for name in wanted if step.params.get(name)), "")


def gaps_of(steps: Sequence[StepShown], spent: Spent | None, missing: Sequence[str] = ()) -> str:
    """One line for each kind of gap; empty when nothing is missing."""
    empty = [step for step in steps if step.is_empty and step.action != ANALYZE]
    kinds = [("Looked for in the base, and nothing was found", empty)]
    kinds += [(said, [step for step in steps if step.state is state]) for state, said in _UNTRIED.items()]
    named = [(said, [f"«{each.about}»" if each.about else each.action for each in missed]) for said, missed in kinds]
    named.append(("Not said by what was found, as far as it was looked at", list(missing)))
    lines = [f"{said}: {'; '.join(names)}." for said, names in named if names]
    if spent:
        early = spent.value.replace("_", " ")
        lines.append(f"The work ended early ({early}): the base may hold more than what stands here.")
    return "\n".join(lines)

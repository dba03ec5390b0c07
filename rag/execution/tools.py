"""Running tools: the base class of those that run, what all of one turn share, and calls of a model within its limits.

In: typed arguments (`planning/tool.py`). Out: a `FactsPayload`. What all tools of one turn share is its `Run`: the
limits, the stop signal, the listener for progress. Replies are cached by a hash of all that decides them; if any of it
differs, the part is read again, and a failure to write to the cache never fails the reading.
"""

import asyncio
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Self, TypeVar

import structlog
from pydantic import BaseModel, JsonValue, ValidationError

from domain.errors import DatabaseTrouble
from domain.ids import BaseId, DocumentId, UserId
from rag.execution.facts import Fact, FactsPayload
from rag.metering import Usage
from rag.planning.tool import Arguments, PlannedTool
from rag.ports import ChatModel, ModelMisfit, ReadingMemory, Schema
from rag.progress import StepShown
from rag.records import ChatMessage, KeptReading
from rag.words import digest, estimate_tokens, folded


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """Limits of one turn (issue 6); a question that one search answers comes near none of them."""

    steps: int = 8
    model_calls: int = 60
    tokens: int = 300_000  # of prompts and answers together
    seconds: float = 240.0
    cost: float = 0.5  # US dollars, where the server reports it


class Spent(StrEnum):
    """The limit that a turn has reached."""

    STOPPED = "stopped"  # by the person
    STEPS = "steps"
    MODEL_CALLS = "model_calls"
    TOKENS = "tokens"
    SECONDS = "seconds"
    COST = "cost"


@dataclass(kw_only=True)
class Run:
    """Created when the turn begins. `usage` is the turn's meter, which grows with each model call."""

    limits: RunLimits = field(default_factory=RunLimits)
    usage: Usage = field(default_factory=Usage)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    watch: Callable[[tuple[StepShown, ...]], None] = lambda steps: None  # whenever one of a plan's steps has changed
    report: Callable[[str, int, int], None] = lambda step, done, total: None  # documents read of a step
    started: float = field(default_factory=time.monotonic)
    kept: dict[str, FactsPayload] = field(default_factory=dict)  # step id -> partial result, if it is cut short
    calls_under_way: int = 0  # of all steps; the meter counts a call only when it has ended
    tokens_under_way: int = 0  # that those calls may take, replies included
    refused: Spent | None = None  # the first limit that kept a step from a call that it wanted

    @property
    def spent(self) -> Spent | None:
        """The limit that forbids another model call; None while there is none."""
        usage, limits = self.usage, self.limits
        reached = {
            Spent.STOPPED: self.stop.is_set(),
            Spent.MODEL_CALLS: usage.calls >= limits.model_calls,
            Spent.TOKENS: usage.prompt_tokens + usage.answer_tokens >= limits.tokens,
            Spent.SECONDS: time.monotonic() - self.started >= limits.seconds,
            Spent.COST: usage.cost >= limits.cost,
        }
        return next((spent for spent, is_reached in reached.items() if is_reached), None)

    def calls_left(self, *, spared: int = 0) -> int:
        """Besides those under way, and `spared` ones, which are kept for later stages."""
        return self.limits.model_calls - self.usage.calls - self.calls_under_way - spared

    def is_over(self, *, spared: int = 0) -> bool:
        """Whether a limit is reached. Call it only where work is left: the limit is recorded, and people are told."""
        spent = self.spent or (Spent.MODEL_CALLS if self.calls_left(spared=spared) <= 0 else None)
        self.refused = self.refused or spent
        return spent is not None

    def allows(self, tokens: int, *, spared: int = 0) -> bool:
        """Whether a call of so many tokens, its reply included, fits into what is left; the cost is estimated from the
        average price per token so far. If not, the limit is recorded, and people are told."""
        if self.is_over(spared=spared):
            return False
        usage, asked = self.usage, self.tokens_under_way + tokens
        price = usage.cost / usage.tokens if usage.tokens else 0.0
        exceeded = Spent.COST if usage.cost + price * asked > self.limits.cost else None
        exceeded = Spent.TOKENS if usage.tokens + asked > self.limits.tokens else exceeded
        self.refused = self.refused or exceeded
        return exceeded is None

    @contextmanager
    def calling(self, tokens: int) -> Iterator[None]:
        """A call is under way while this is open: the meter counts it when it has ended, and concurrent calls must not
        overshoot."""
        self.calls_under_way += 1
        self.tokens_under_way += tokens
        try:
            yield
        finally:
            self.calls_under_way -= 1
            self.tokens_under_way -= tokens


class StepFailed(Exception):
    """A step could not be done; the message says why, for the log and for later steps. The turn goes on without it."""


class StepStopped(StepFailed):
    """The step was not done because the person pressed stop: nothing went wrong."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What every tool knows about the turn. The base is not a tool argument, so no plan can reach another base."""

    base_id: BaseId
    user_id: UserId  # who asks; in a group, one of its members
    question: str  # as it was asked, normalised
    today: date
    only: tuple[DocumentId, ...] = ()  # the documents that the person asks of; none: all of the base
    step_id: str = ""  # of the running step, for progress reports
    materials: tuple[Fact, ...] = ()  # facts of the earlier steps that this one asks for
    background: str = ""  # a summary of the other steps
    dialogue: str = ""  # a summary of the dialogue; empty where the question does not hang on it
    own_words: str = ""  # the question as the person words it, or in full where it hangs on the dialogue
    early: asyncio.Task[FactsPayload] | None = None  # a search for `question` that began before the plan was made
    run: Run = field(default_factory=Run)


class Tool(PlannedTool[Arguments]):
    """A tool that can be run."""

    def within(self, arguments: Mapping[str, JsonValue], only: Sequence[DocumentId]) -> Mapping[str, JsonValue]:
        """The arguments with `only` as the documents, where the tool takes any: what the person has set goes before
        what a plan names."""
        if only and "documents" in self.arguments.model_fields:
            return {**arguments, "documents": list(only)}
        return {**arguments, "document": only[0]} if only and "document" in self.arguments.model_fields else arguments

    @abstractmethod
    async def run(self, arguments: Arguments, context: ToolContext) -> FactsPayload:
        """What the tool finds. Raises DatabaseAway, and StepFailed where the tool can do nothing without a model; other
        failures of models only make it find less."""


AnyTool = Tool[Any]  # tools of one set take different arguments; each reads its own

_MISFIT = "That answer does not fit the JSON Schema:\n{problems}\nAnswer again with the corrected JSON object alone."
log = structlog.get_logger()

Reply = TypeVar("Reply", bound=BaseModel)


def size_of(messages: Sequence[ChatMessage]) -> int:
    """Tokens of all messages."""
    return sum(estimate_tokens(message.content) for message in messages)


async def ask(
    model: ChatModel,
    messages: Sequence[ChatMessage],
    schema: type[Schema],
    run: Run,
    *,
    reply_tokens: int,
    spared: int = 0,
) -> Schema | None:
    """None when the limits forbid the call. `reply_tokens`: what a reply may take beside the prompt; `spared`: calls
    that are kept for later stages. Raises ModelError; ModelMisfit when the reply does not fit, and the retry does not
    fit either or is forbidden."""
    tokens = size_of(messages) + reply_tokens
    if not run.allows(tokens, spared=spared):
        return None
    try:
        with run.calling(tokens):
            return await model.structured(messages, schema, corrected=False)
    except ModelMisfit as misfit:
        said = ChatMessage(role="assistant", content=misfit.answer)
        again = (*messages, said, ChatMessage(role="user", content=_MISFIT.format(problems=misfit.problems)))
        tokens = size_of(again) + reply_tokens
        if not run.allows(tokens, spared=spared):
            log.info("reply.not_corrected", schema=schema.__name__)
            raise
    with run.calling(tokens):
        return await model.structured(again, schema, corrected=False)


@dataclass(frozen=True, kw_only=True)
class ReplyCache:
    """The cache of one request in one base."""

    base: BaseId
    request: str
    memory: ReadingMemory | None = None
    kept: dict[str, KeptReading] = field(default_factory=dict)  # by key, in order

    @classmethod
    async def open(cls, memory: ReadingMemory | None, base: BaseId, *request: str) -> Self:
        """`request`: the model, the rules, and what was asked for (`wording` normalises a person's or the planner's
        words). Without a memory nothing is cached. Raises DatabaseAway."""
        name = digest(*request)
        kept = await memory.recall(base, name) if memory else []
        return cls(base=base, request=name, memory=memory, kept={each.key: each for each in kept})

    def get(self, key: str, shape: type[Reply]) -> Reply | None:
        """The cached reply; None when there is none, or it no longer fits `shape`."""
        reading = self.kept.get(key)
        try:
            return shape.model_validate_json(reading.content) if reading else None
        except ValidationError:
            return None

    async def keep(self, key: str, reply: BaseModel, documents: Sequence[DocumentId]) -> None:
        """`documents`: all whose words may be in the reply, in reading order."""
        if self.memory is None:
            return
        reading = KeptReading(key=key, documents=tuple(dict.fromkeys(documents)), content=reply.model_dump_json())
        try:
            await self.memory.keep(self.base, self.request, reading)
        except DatabaseTrouble as trouble:
            log.warning("reading.not_kept", documents=len(reading.documents), reason=trouble.reason)

    def read_together(self, known: Sequence[DocumentId], *, most: int | None = None) -> list[tuple[DocumentId, ...]]:
        """Sequences of documents that were read together before and are all `known`: the `most` longest, disjoint,
        sorted by their first document. Reading a sequence again in this order hits the cache, whatever documents were
        added since."""
        places, used = {document: place for place, document in enumerate(known)}, set[DocumentId]()
        found: list[tuple[DocumentId, ...]] = []
        for reading in sorted(self.kept.values(), key=lambda each: -len(each.documents)):
            held = reading.documents
            if places.keys() >= set(held) and used.isdisjoint(held):
                found.append(held)
                used.update(held)
        return sorted(found[:most], key=lambda held: places[held[0]])


def wording(text: str) -> str:
    """A request normalised for comparison: case, ё, blanks and the final sign do not matter."""
    return " ".join(folded(text).split()).strip(" \t\n.?!…")

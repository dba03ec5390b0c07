"""The base class of tools: a name, a text for the planner, typed arguments, and facts as the result.

In: arguments as the plan gives them. Out: a `FactsPayload`. Each tool has its own module; a new tool is a module and
one line in the composition root. What all tools of one turn share is its `Run`: the limits, the stop signal, the
listener for progress, and whether another model call is allowed; it runs nothing itself.
"""

import asyncio
import time
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import reduce
from inspect import cleandoc
from typing import ClassVar, Generic, TypeVar

from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, model_validator
from pydantic.fields import FieldInfo

from domain.ids import BaseId, DocumentId, UserId
from rag.execution.facts import Fact, FactsPayload
from rag.metering import Usage

_ONE_OR_SEVERAL = ("document", "documents")  # a tool has one of them; plans confuse them


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


@dataclass(frozen=True, kw_only=True)
class StepProgress:
    """The progress of one step."""

    step_id: str
    done: int
    total: int


def _unheard(progress: StepProgress) -> None:
    """The default listener: does nothing."""


@dataclass(kw_only=True)
class Run:
    """Created when the turn begins. `usage` is the turn's meter, which grows with each model call."""

    limits: RunLimits = field(default_factory=RunLimits)
    usage: Usage = field(default_factory=Usage)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    report: Callable[[StepProgress], None] = _unheard
    started: float = field(default_factory=time.monotonic)
    kept: dict[str, FactsPayload] = field(default_factory=dict)  # step id -> partial result, if it is cut short
    summaries: int = 0  # calls of a model for summaries of older steps
    calls_under_way: int = 0  # of all steps; the meter counts a call only when it has ended
    tokens_under_way: int = 0  # that those calls may take, replies included
    refused: Spent | None = None  # the first limit that kept a step from a call that it wanted

    @property
    def spent(self) -> Spent | None:
        """The limit that forbids another model call; None while there is none."""
        usage, limits = self.usage, self.limits
        if self.stop.is_set():
            return Spent.STOPPED
        if usage.calls >= limits.model_calls:
            return Spent.MODEL_CALLS
        if usage.prompt_tokens + usage.answer_tokens >= limits.tokens:
            return Spent.TOKENS
        if time.monotonic() - self.started >= limits.seconds:
            return Spent.SECONDS
        return Spent.COST if usage.cost >= limits.cost else None


class ToolArguments(BaseModel):
    """Frozen. What is plain is put right: numbers out of bounds are clamped, texts cut, a single value where a list
    belongs becomes a list of one, and arguments that the tool does not have are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _put_right(cls, raw: object) -> object:
        if not isinstance(raw, Mapping):
            return raw
        raw = dict(raw)
        for name, other in (_ONE_OR_SEVERAL, _ONE_OR_SEVERAL[::-1]):
            if name in raw and name not in cls.model_fields:
                raw.setdefault(other, raw[name])
        known = {
            name: _fitted(value, cls.model_fields[name]) for name, value in raw.items() if name in cls.model_fields
        }
        return {name: value for name, value in known.items() if value is not None}


Arguments = TypeVar("Arguments", bound=ToolArguments)


def _fitted(value: object, field: FieldInfo) -> object:
    """The value as a list where a list belongs, within the field's bounds. Empty means not given."""
    holds_list = typing.get_origin(field.annotation) is tuple or any(
        typing.get_origin(each) is tuple for each in typing.get_args(field.annotation)
    )
    if isinstance(value, str | list | tuple) and not value:
        return None
    if isinstance(value, str) and holds_list:
        return (value,)
    if isinstance(value, list | tuple) and not holds_list:
        value = ", ".join(map(str, value))
    if isinstance(value, str) and value.isdecimal() and field.annotation is int:
        value = int(value)
    return reduce(_bounded, field.metadata, value)


def _bounded(value: object, bound: object) -> object:
    """The value within one bound of its field."""
    if isinstance(bound, MaxLen) and isinstance(value, str | list | tuple):
        return value[: bound.max_length]
    if isinstance(bound, Ge) and isinstance(value, int | float):
        return max(value, typing.cast("float", bound.ge))
    if isinstance(bound, Le) and isinstance(value, int | float):
        return min(value, typing.cast("float", bound.le))
    return value


class ToolMisused(Exception):
    """The arguments do not fit the tool; the message says why, for the planner's second try."""


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
    run: Run = field(default_factory=Run)


class Tool(ABC, Generic[Arguments]):
    """The docstring of a subclass is what the planner reads of it."""

    name: ClassVar[str]
    is_slow: ClassVar[bool] = False  # so slow that the person has to see its progress and be able to stop it
    is_offered: ClassVar[bool] = True  # to the planner; other tools are for emergency plans only
    arguments: type[Arguments]

    @property
    def about(self) -> str:
        """The tool's text for the planner."""
        return cleandoc(type(self).__doc__ or "")

    def read(self, raw: Mapping[str, JsonValue]) -> Arguments:
        """The validated arguments; null counts as not given. Raises ToolMisused."""
        given = {name: value for name, value in raw.items() if value is not None}
        try:
            return self.arguments.model_validate(given)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            lines = [f"{self.name}.{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems]
            raise ToolMisused("; ".join(lines)) from error

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

    async def begin(self, arguments: Arguments, context: ToolContext) -> Callable[[], FactsPayload]:
        """An early `run`, started before it is known whether the result is wanted. Awaits the slow part, and returns a
        function that computes the result from it. By default the whole `run` is the awaited part."""
        found = await self.run(arguments, context)
        return lambda: found

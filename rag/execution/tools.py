"""What a tool is: a name, a text for the planner, typed arguments, and facts as its result.

In: arguments as the plan gives them. Out: a `FactsPayload`. Each tool is a module of its own; a new one is that module
and one line in the composition root.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from inspect import cleandoc
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from domain.ids import BaseId, UserId
from rag.execution.facts import Fact, FactsPayload
from rag.execution.run import Run


class ToolArguments(BaseModel):
    """Frozen; an argument that the tool does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Arguments = TypeVar("Arguments", bound=ToolArguments)


class ToolMisused(Exception):
    """The arguments do not fit the tool; the message says why, for the planner's second try."""


class StepFailed(Exception):
    """A step could not be done; the message says why, for the log and for the next plan. The turn goes on without."""


class StepStopped(StepFailed):
    """It was not done because the person had enough: nothing went wrong."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What every tool knows of the turn. The base is never an argument: no plan can reach into another's."""

    base_id: BaseId
    user_id: UserId  # who asks: in a group one of its people
    question: str  # as it was asked, normalised
    today: date
    step_id: str = ""  # of the step that is being run, for its progress
    materials: tuple[Fact, ...] = ()  # what earlier steps found, as far as this one asked for it
    background: str = ""  # what other steps found, in short
    dialogue: str = ""  # what was said before, in short
    run: Run = field(default_factory=Run)


class Tool(ABC, Generic[Arguments]):
    """The docstring of a subclass is what the planner reads of it."""

    name: ClassVar[str]
    is_slow: ClassVar[bool] = False  # takes so long that the person has to see how far it is, and may stop it
    is_offered: ClassVar[bool] = True  # to the planner; the others serve plans that no model has made
    arguments: type[Arguments]

    @property
    def about(self) -> str:
        """For the planner."""
        return cleandoc(type(self).__doc__ or "")

    def read(self, raw: Mapping[str, JsonValue]) -> Arguments:
        """Raises ToolMisused."""
        given = {name: value for name, value in raw.items() if value is not None}
        try:
            return self.arguments.model_validate(given)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            lines = [f"{self.name}.{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems]
            raise ToolMisused("; ".join(lines)) from error

    @abstractmethod
    async def run(self, arguments: Arguments, context: ToolContext) -> FactsPayload:
        """What it finds. Raises DatabaseAway; models that are away make it find less, never fail."""

    async def begin(self, arguments: Arguments, context: ToolContext) -> Callable[[], FactsPayload]:
        """`run` before anybody knows whether it is wanted: what it waits for, and then, to be called when it is, what
        is made of it. Of a tool that does not part the two, `run` itself is what it waits for."""
        found = await self.run(arguments, context)
        return lambda: found

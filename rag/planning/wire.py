"""The schema that the planner model has to fill, with the tools and intents of this installation in it.

In: the tools and the names of intents. Out: a pydantic model whose JSON schema a server can enforce (every tool with
its own arguments, no free objects), and the conversion from it to a `QueryPlan`. The schema has no place for a tool or
intent that does not exist.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model

from rag.execution.tools import Tool
from rag.planning.plan import MAX_LISTED, MAX_STEPS, PlanPart, QueryPlan, Step, ToolCall

AnyTool = Tool[Any]
"""Tools of one set take different arguments; each reads its own."""


def wire_schema(tools: Sequence[AnyTool], intents: Iterable[str]) -> type[BaseModel]:
    """`QueryPlan` with `intents`, `tool_calls` and `steps` narrowed to what exists, under the same length limits, so
    that whatever fits is a `QueryPlan`. At least one tool is needed."""
    names = StrEnum("IntentName", {name: name for name in intents})  # type: ignore[misc]  # names are data
    calls: Any = _one_of([_call_schema(tool) for tool in tools], by="tool")
    steps: Any = _one_of([_step_schema(tool) for tool in tools], by="action")
    narrowed: dict[str, Any] = {
        "intents": (Annotated[tuple[names, ...], Field(min_length=1, max_length=MAX_LISTED)], ...),
        "tool_calls": (Annotated[tuple[calls, ...], Field(max_length=MAX_LISTED)], ()),
        "steps": (Annotated[tuple[steps, ...], Field(max_length=MAX_STEPS)], ()),
    }
    return create_model("QueryPlan", __base__=QueryPlan, **narrowed)


def from_wire(plan: BaseModel) -> QueryPlan:
    """The same as a plain `QueryPlan`; arguments that are null are left out."""
    content = plan.model_dump(mode="json")
    for call in content["tool_calls"]:
        call["args"] = _given(call["args"])
    for step in content["steps"]:
        step["params"] = _given(step["params"])
    return QueryPlan.model_validate(content)


def _one_of(schemas: Sequence[type[PlanPart]], *, by: str) -> Any:
    """A union discriminated by the tool's name: errors are then about the tool that was meant, not about every tool."""
    union: Any = reduce(or_, schemas)
    return Annotated[union, Field(discriminator=by)] if len(schemas) > 1 else union


def _call_schema(tool: AnyTool) -> type[PlanPart]:
    fields: dict[str, Any] = {"tool": (Literal[tool.name], ...), "args": (tool.arguments, ...)}
    return create_model(f"{ToolCall.__name__}_{tool.name}", __base__=PlanPart, **fields)


def _step_schema(tool: AnyTool) -> type[PlanPart]:
    fields: dict[str, Any] = {"action": (Literal[tool.name], ...), "params": (tool.arguments, ...)}
    return create_model(f"{Step.__name__}_{tool.name}", __base__=Step, **fields)


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments without those that are null."""
    return {name: value for name, value in arguments.items() if value is not None}

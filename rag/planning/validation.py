"""Checks whether a plan can be run.

In: a `QueryPlan`, and the intents, tools and entities of this installation (seed 4, section 6.4). Out: problems in
words that the planner model can act on; none when the plan is good. The plan's shape was checked when it was parsed.
"""

from collections.abc import Mapping, Sequence

from prompts.intents import Intent
from rag.execution.tools import ToolMisused
from rag.planning.plan import QueryPlan, ToolCall
from rag.planning.steps import step_problems
from rag.planning.wire import AnyTool


def plan_problems(
    plan: QueryPlan,
    *,
    intents: Mapping[str, Intent],
    tools: Mapping[str, AnyTool],
    entity_ids: Sequence[str],
    threshold: float,
) -> tuple[str, ...]:
    """`entity_ids` are those that the question was resolved to; `threshold` is PLAN_CONFIDENCE_THRESHOLD."""
    unknown_intents = [f"unknown intent {name}" for name in plan.intents if name not in intents]
    unknown_entities = [
        f"unknown entity {entity.id}: leave it out" for entity in plan.entities if entity.id not in entity_ids
    ]
    calls = [problem for call in plan.tool_calls for problem in _call_problems(call, tools)]
    fallback = [] if plan.fallback.tool in tools else [f"unknown fallback tool {plan.fallback.tool}"]
    doubt = [f"confidence {plan.confidence:g} is below {threshold:g}"] if plan.confidence < threshold else []
    contradiction = (
        ["a plan that asks back calls no tools"] if plan.clarification and (plan.tool_calls or plan.steps) else []
    )
    steps = step_problems(plan.steps, tools)
    shown = _shown_ids(plan, entity_ids)
    return (*unknown_intents, *unknown_entities, *calls, *steps, *fallback, *doubt, *contradiction, *shown)


def _shown_ids(plan: QueryPlan, entity_ids: Sequence[str]) -> list[str]:
    """Ids in a clarification: it is shown to the person as it is, without a post-check."""
    if plan.clarification is None:
        return []
    said = "\n".join((plan.clarification.question, *plan.clarification.choices))
    return [f"the clarification shows the id {each}: use the name" for each in entity_ids if each in said]


def _call_problems(call: ToolCall, tools: Mapping[str, AnyTool]) -> list[str]:
    tool = tools.get(call.tool)
    if tool is None:
        return [f"unknown tool {call.tool}"]
    try:
        tool.read(call.args)
    except ToolMisused as error:
        return [str(error)]
    return []

"""A turn laid open: its plan, what each call brought, what the check found.

In: the stages' records. Out: JSON for `baza ask --json` (issue 5) and for tests. People never see it, and it never
reaches the log: it holds texts.
"""

from collections.abc import Mapping

from domain.locator import JsonValue
from rag.execution.executor import CallResult, Execution
from rag.planning.planner import Planned
from rag.records import StepShown


def trace_of(planned: Planned, execution: Execution, *, remarks: tuple[str, ...]) -> Mapping[str, JsonValue]:
    """Keys: plan (seed 4's QueryPlan), origin, problems, calls, steps, facts (seed 4's FactsPayload), checks."""
    plan: JsonValue = planned.plan.model_dump(mode="json")
    return {
        "plan": plan,
        "origin": planned.origin.value,
        "problems": list(planned.problems),
        "calls": [_call(result) for result in execution.calls],
        "steps": [_step(step) for step in execution.steps],
        "adapted": execution.adapted,
        "spent": execution.spent.value if execution.spent else None,
        "facts": execution.payload.to_json(),
        "checks": list(remarks),
    }


def _step(step: StepShown) -> JsonValue:
    return {"id": step.id, "action": step.action, "about": step.about, "state": step.state.value}


def _call(result: CallResult) -> JsonValue:
    args: JsonValue = result.call.model_dump(mode="json")["args"]
    return {
        "tool": result.call.tool,
        "args": args,
        "facts": len(result.payload.facts),
        "coverage": round(result.payload.coverage, 3),
        "seconds": round(result.seconds, 4),
        "problem": result.problem,
        "fallback": result.is_fallback,
        "early": result.was_early,
    }

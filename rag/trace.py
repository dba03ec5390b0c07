"""The trace of a turn: its plan, what each call returned, what the check found.

In: the stages' records. Out: JSON for `baza ask --json` (issue 5) and for tests. People never see it, and it never
reaches the log: it holds texts.
"""

from collections.abc import Mapping
from dataclasses import asdict

from domain.locator import JsonValue
from rag.execution.executor import CallResult, Execution
from rag.planning.planner import Planned
from rag.records import Conflict


def trace_of(planned: Planned, execution: Execution, *, remarks: tuple[str, ...]) -> Mapping[str, JsonValue]:
    """Keys: plan (seed 4's QueryPlan), origin, problems, calls, steps, each_step (what each took), adapted (how many
    steps were added, changed or skipped), spent (the limit that ended the work), facts (seed 4's FactsPayload),
    documents (how many were read), conflicts, checks."""
    plan: JsonValue = planned.plan.model_dump(mode="json")
    return {
        "plan": plan,
        "origin": planned.origin.value,
        "problems": list(planned.problems),
        "calls": [_call(result) for result in execution.calls],
        "steps": [step.to_json() for step in execution.steps],
        "each_step": [asdict(step) for step in execution.each_step],
        "adapted": execution.adapted,
        "spent": execution.spent.value if execution.spent else None,
        "facts": execution.payload.to_json(),
        "documents": asdict(read) if (read := execution.payload.documents) else None,
        "conflicts": [_conflict(conflict) for conflict in execution.payload.conflicts],
        "checks": list(remarks),
    }


def _conflict(conflict: Conflict) -> JsonValue:
    claims: list[JsonValue] = [
        {
            "value": each.value,
            "document": str(each.passage.passage.document_id),
            "dated": each.dated.isoformat() if each.dated else None,
        }
        for each in conflict.claims
    ]
    return {"about": conflict.about, "claims": claims}


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
        "added": result.is_added,
        "hop": result.is_second_hop,
    }

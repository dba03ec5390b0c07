"""Corrects entity ids that a plan names but its prompt did not list: models make some up.

In: a plan, and the ids that its prompt listed. Out: the plan with each such id replaced by the base's id for the same
name, in any spelling; and a problem for each id with no match or several (the model is then shown the near ones; after
that the default plan searches).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog
from pydantic import JsonValue

from domain.ids import BaseId
from rag.planning.plan import PlannedEntity, QueryPlan
from rag.ports import EntityResolver
from rag.records import KnownEntity

ARGUMENT = "entity_id"  # name of the argument of tools that look something up by an id

Arguments = Mapping[str, JsonValue]

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Mended:
    """A plan all of whose ids the base has, except those that `problems` name."""

    plan: QueryPlan
    ids: tuple[str, ...] = ()  # valid ids that the prompt did not list
    problems: tuple[str, ...] = ()


class EntityIds:
    """Looks up the ids that a plan names."""

    def __init__(self, resolver: EntityResolver) -> None:
        self._resolver = resolver

    async def mend(self, plan: QueryPlan, base: BaseId, *, listed: Sequence[str]) -> Mended:
        """One call of the database for each id that was not `listed`; usually none. Raises DatabaseAway."""
        found: dict[str, KnownEntity] = {}
        problems: list[str] = []
        called = _called(plan)
        for strange in dict.fromkeys(id_ for id_ in (*_named(plan), *called) if id_ not in listed):
            likely = await self._resolver.resolve(base, _as_question(strange))
            meant = _meant(strange, likely)
            if meant is not None:
                found[strange] = meant
            elif strange in called:
                problems.append(_problem(strange, likely))
        if found:
            log.info("planner.ids_mended", ids=len(found))
        return Mended(
            plan=_replaced(plan, found), ids=tuple(each.id for each in found.values()), problems=tuple(problems)
        )


def _named(plan: QueryPlan) -> list[str]:
    return [entity.id for entity in plan.entities]


def _called(plan: QueryPlan) -> list[str]:
    arguments = [*(call.args for call in plan.tool_calls), *(step.params for step in plan.steps)]
    return [value for each in arguments if isinstance(value := each.get(ARGUMENT), str) and value]


def _as_question(id_: str) -> str:
    """ "project:alor-broker" -> «alor-broker»: quotation marks make an ordinary word count as a name."""
    return f"«{id_.partition(':')[2] or id_}»"


def _meant(id_: str, likely: Sequence[KnownEntity]) -> KnownEntity | None:
    """The entity with exactly this id, else the only one of its type, else the only one; None when ambiguous."""
    of_type = [each for each in likely if each.type == id_.partition(":")[0]]
    exact = [each for each in likely if each.id == id_]
    only = exact or of_type or likely
    return only[0] if len(only) == 1 else None


def _problem(id_: str, likely: Sequence[KnownEntity]) -> str:
    near = ", ".join(f"{each.id} ({each.name})" for each in likely)
    advice = f"near ones are {near}; take one or ask back" if near else "nothing like it is known; search instead"
    return f"unknown {ARGUMENT} {id_}: {advice}"


def _replaced(plan: QueryPlan, found: Mapping[str, KnownEntity]) -> QueryPlan:
    if not found:
        return plan
    entities = tuple(
        PlannedEntity(type=meant.type, id=meant.id, name=meant.name) if (meant := found.get(each.id)) else each
        for each in plan.entities
    )
    calls = tuple(each.model_copy(update={"args": _with_ids(each.args, found)}) for each in plan.tool_calls)
    steps = tuple(each.model_copy(update={"params": _with_ids(each.params, found)}) for each in plan.steps)
    return plan.model_copy(update={"entities": entities, "tool_calls": calls, "steps": steps})


def _with_ids(arguments: Arguments, found: Mapping[str, KnownEntity]) -> dict[str, JsonValue]:
    named = arguments.get(ARGUMENT)
    meant = found.get(named) if isinstance(named, str) else None
    return {**arguments, ARGUMENT: meant.id} if meant else dict(arguments)

"""What the steps of a plan looked for and did not find, in words for the model that answers.

In: the steps and their states, the limit that ended the work, what an analysis misses. Out: what was looked for and not
found, what failed, and what was not tried; without it the answer would not mention these. It is not a fact, and people
do not see it. Pure.
"""

from collections.abc import Sequence

from rag.execution.run import Spent
from rag.planning.steps import ANALYZE
from rag.progress import StepShown, StepState

_NOTHING = "Looked for in the base, and nothing was found"
_UNTRIED = {
    StepState.FAILED: "Not done, because it failed or the limits of this turn forbade it",
    StepState.STOPPED: "Broken off, because the person wanted the answer at once",
    StepState.IN_VAIN: "Not searched for any more, because the searches before it brought nothing new",
}
_MISSING = "Not said by what was found, as far as it was looked at"
_EARLY = "The work ended early ({spent}): the base may hold more than what stands here."


def gaps_of(steps: Sequence[StepShown], spent: Spent | None, missing: Sequence[str] = ()) -> str:
    """One line for each kind of gap; empty when nothing is missing."""
    empty = [step for step in steps if step.is_empty and step.action != ANALYZE]
    kinds = [(_NOTHING, empty)]
    kinds += [(said, [step for step in steps if step.state is state]) for state, said in _UNTRIED.items()]
    lines = [f"{said}: {'; '.join(map(_name, missed))}." for said, missed in kinds if missed]
    if missing:
        lines.append(f"{_MISSING}: {'; '.join(missing)}.")
    if spent:
        lines.append(_EARLY.format(spent=spent.value.replace("_", " ")))
    return "\n".join(lines)


def _name(step: StepShown) -> str:
    return f"«{step.about}»" if step.about else step.action

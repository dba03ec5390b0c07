"""Whether an answer says that its documents disagree (issue 6, "Conflicts").

In: an answer and the conflicts among its facts. Out: remarks that the model can act on. Pure.
"""

import re
from collections.abc import Sequence

from rag.records import Conflict

MAX_CHECKED = 5  # conflicts; an answer that tells five tells the rest, or is a table
_WORDS = re.compile(r"\w+")


def unspoken(answer: str, conflicts: Sequence[Conflict]) -> tuple[str, ...]:
    """A remark for each conflict of which the answer tells one side alone. One that it does not touch is no matter."""
    said = _plain(answer)
    return tuple(_remark(conflict) for conflict in conflicts[:MAX_CHECKED] if _is_one_sided(conflict, said))


def _is_one_sided(conflict: Conflict, said: str) -> bool:
    told = {_plain(claim.value) in said for claim in conflict.claims}
    return told == {True, False}


def _remark(conflict: Conflict) -> str:
    sides = "; ".join(f"{claim.passage.passage.title}: {claim.value}" for claim in conflict.claims)
    return f"Documents disagree on «{conflict.about}» ({sides}). Say what each says, the newest first."


def _plain(text: str) -> str:
    """Words alone, with a space on either side, so that 14 does not stand in 140."""
    return f" {' '.join(_WORDS.findall(text.casefold().replace('ё', 'е')))} "

"""Whether an answer says that its documents disagree (issue 6, "Conflicts").

In: an answer and the conflicts among its facts. Out: remarks that the model can act on. Pure.
"""

import re
from collections.abc import Sequence

from rag.records import Conflict
from rag.words import held, share, stems

MAX_CHECKED = 5  # conflicts; an answer that tells five tells the rest, or is a table
HALF = 0.5
_WORDS = re.compile(r"\w+")


def unspoken(answer: str, conflicts: Sequence[Conflict]) -> tuple[str, ...]:
    """A remark for each conflict of which the answer tells one side alone. One that it does not touch is no matter."""
    said = _plain(answer)
    return tuple(_remark(conflict) for conflict in conflicts[:MAX_CHECKED] if _is_one_sided(conflict, said))


def _is_one_sided(conflict: Conflict, said: str) -> bool:
    sides = [_plain(claim.value) for claim in conflict.claims]
    told = {side in said or _is_reworded(side, sides, said) for side in sides}
    return told == {True, False}


def _is_reworded(side: str, sides: Sequence[str], said: str) -> bool:
    """Whether the answer tells what this side alone says: one of its own numbers or, where it has none, half of its own
    words. A side may be a whole sentence, which nobody repeats word for word."""
    others = {word for other in sides if other != side for word in other.split()}
    own = [word for word in side.split() if word not in others]
    numbers = {word for word in own if word[0].isdigit()}
    if numbers:
        return not numbers.isdisjoint(said.split())
    wanted = stems(" ".join(own)) - stems(" ".join(others))
    return bool(wanted) and share(wanted, held(wanted, said)) >= HALF


def _remark(conflict: Conflict) -> str:
    sides = "; ".join(f"{claim.passage.passage.title}: {claim.value}" for claim in conflict.claims)
    return f"Documents disagree on «{conflict.about}» ({sides}). Say what each says, the newest first."


def _plain(text: str) -> str:
    """Words alone, with a space on either side, so that 14 does not stand in 140."""
    return f" {' '.join(_WORDS.findall(text.casefold().replace('ё', 'е')))} "

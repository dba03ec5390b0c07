"""What an earlier answer has left out, when nothing more is asked for than that.

In: a question, the exchanges before it. Out: the question whose answer was a list that had to stop, and how much of it
was shown. That answer has offered the rest in words of code («ещё 8 из 20 (по запросу могу вывести)»); only what takes
the offer up and says nothing else counts. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.answering.counts import left_and_total
from rag.planning.breadth import Breadth
from rag.records import Exchange


@dataclass(frozen=True, kw_only=True)
class Rest:
    """A list that goes on."""

    question: str  # that it answers
    shown: int  # items so far


def rest_of(question: str, window: Sequence[Exchange], breadth: Breadth) -> Rest | None:
    """None where the last answer has left out nothing, or something else is asked."""
    left, total = (left_and_total(window[-1].answer) if window else None) or (0, 0)
    if left >= total or not breadth.takes_up(re.sub(rf"\b{left}\b", "", question)):  # «выведи ещё 18», as was offered
        return None
    asked = (each.question for each in reversed(window) if not breadth.takes_up(each.question))
    first = next(asked, None)
    return Rest(question=first, shown=total - left) if first else None

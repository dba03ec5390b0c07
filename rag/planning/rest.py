"""Recognises a request for the rest of a list that an earlier answer has cut.

In: a question, the exchanges before it. Out: the question that the list answers, and how many items were shown. The
answer ends with an offer that code has written («ещё 8 из 20 (по запросу могу вывести)»); only a message that accepts
the offer and says nothing else counts. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.answering.counts import left_and_total
from rag.planning.breadth import Breadth
from rag.records import Exchange


@dataclass(frozen=True, kw_only=True)
class Rest:
    """A list that is to be continued."""

    question: str  # the question that it answers
    shown: int  # items so far


def rest_of(question: str, window: Sequence[Exchange], breadth: Breadth) -> Rest | None:
    """None where the last answer left out nothing, or the message asks for something else."""
    left, total = (left_and_total(window[-1].answer) if window else None) or (0, 0)
    if left >= total or not breadth.takes_up(re.sub(rf"\b{left}\b", "", question)):  # «выведи ещё 18», as was offered
        return None
    asked = (each.question for each in reversed(window) if not breadth.takes_up(each.question))
    first = next(asked, None)
    return Rest(question=first, shown=total - left) if first else None

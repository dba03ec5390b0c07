"""A double of the model that reads documents one by one: what a pass costs, sentence by sentence.

In: seed 0's request. Out: its reply; another sum than the one that is known contradicts it.
"""

import re

from rag.execution.wire import CONTRADICTS, Certainty, IterationReply, IterationRequest, NewFact, UpdatedFact

_PRICE = re.compile(r"[^.\n]*стоит (\d+) рубл[^.\n]*\.")


def read_price(request: IterationRequest) -> IterationReply:
    """A fact for each sentence with a price."""
    found = [
        (chunk.chunk_id, match[0].strip(), match[1])
        for chunk in request.document_context
        for match in _PRICE.finditer(chunk.chunk_text)
    ]
    facts = tuple(
        NewFact(fact=said, certainty=Certainty.HIGH, reasoning=f"{chunk}: «{said}»") for chunk, said, _ in found
    )
    updates = tuple(
        UpdatedFact(id=known.id, fact=said, certainty=CONTRADICTS, reasoning=f"{chunk}: «{said}»")
        for chunk, said, price in found
        for known in request.previous_facts
        if f"стоит {price} " not in known.fact
    )
    answer = found[-1][1] if found else request.previous_answer
    return IterationReply(answer=answer, reasoning="", new_facts=facts, updated_facts=updates, can_answer=bool(found))

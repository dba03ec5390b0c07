"""Asks a model for a record within the turn's limits, and retries once when the reply has the wrong shape.

In: messages, the schema of the reply, an allowance. Out: the record, or None where the limits forbid the call. Both
tries are counted before they are made. It builds no prompt except the remark on a reply that does not fit.
"""

from collections.abc import Sequence

import structlog

from rag.errors import ModelMisfit
from rag.iterative.allowance import Allowance
from rag.iterative.request import size_of
from rag.ports import ChatModel, Schema
from rag.records import ChatMessage

_MISFIT = "That answer does not fit the JSON Schema:\n{problems}\nAnswer again with the corrected JSON object alone."

log = structlog.get_logger()


async def ask(
    model: ChatModel, messages: Sequence[ChatMessage], schema: type[Schema], allowance: Allowance
) -> Schema | None:
    """None when the limits forbid the call. Raises ModelError; ModelMisfit when the reply does not fit, and the retry
    does not fit either or is forbidden."""
    tokens = size_of(messages)
    if not allowance.allows(tokens):
        return None
    try:
        with allowance.calling(tokens):
            return await model.structured(messages, schema, corrected=False)
    except ModelMisfit as misfit:
        again = corrected(messages, misfit)
        if not allowance.allows(size_of(again)):
            log.info("reply.not_corrected", schema=schema.__name__)
            raise
    with allowance.calling(size_of(again)):
        return await model.structured(again, schema, corrected=False)


def corrected(messages: Sequence[ChatMessage], misfit: ModelMisfit) -> tuple[ChatMessage, ...]:
    """The messages, the model's reply, and what is wrong with it."""
    said = ChatMessage(role="assistant", content=misfit.answer)
    return (*messages, said, ChatMessage(role="user", content=_MISFIT.format(problems=misfit.problems)))

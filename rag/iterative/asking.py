"""Asks a model for a record within the turn's limits, and once more when the reply has another shape.

In: messages, the shape of the reply, an allowance. Out: the record, or None where the limits forbid the question. Both
tries are counted before they are made; it builds no prompt but the remark on a reply that does not fit.
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
    """None when it may not be asked. Raises ModelError; ModelMisfit when the reply does not fit, and its second try
    does not either or may not be made."""
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
    """The question with the reply that it got and what is wrong with that."""
    said = ChatMessage(role="assistant", content=misfit.answer)
    return (*messages, said, ChatMessage(role="user", content=_MISFIT.format(problems=misfit.problems)))

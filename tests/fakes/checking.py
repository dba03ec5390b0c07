"""A ChatModel that judges answers by script.

In: the request of a support check. Out: the reply of `tests.servers.judging`, or one that a test has set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag.ports import Schema
from rag.records import ChatMessage
from tests.fakes.rag import ScriptedModel
from tests.servers.judging import judge


@dataclass
class Checker(ScriptedModel):
    """`replies` are given first, then `judge` with `refused` answers; `error` is raised if there is one."""

    refused: Mapping[str, str] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        self.asked.append(tuple(messages))
        if self.error:
            raise self.error
        reply = self.replies.pop(0) if self.replies else judge(messages[-1].content, self.refused)
        return schema.model_validate_json(reply)

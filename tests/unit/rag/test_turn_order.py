"""What of a turn runs beside what."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag.ports import Schema
from rag.records import ChatMessage, SearchQuery
from tests.fakes.rag import ScriptedModel
from tests.fakes.turns import RIGHT, Turn, planner

PATIENCE_S = 60.0


@dataclass
class WaitingPlanner(ScriptedModel):
    """Has its plan only once something was searched."""

    searched: list[SearchQuery] = field(default_factory=list)

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        async with asyncio.timeout(PATIENCE_S):
            while not self.searched:
                await asyncio.sleep(0.01)
        return await super().structured(messages, schema, corrected=corrected)


async def test_the_raw_question_is_searched_while_the_model_plans() -> None:
    waiting = WaitingPlanner(planner().reply)
    turn = Turn(ScriptedModel(RIGHT), planner=waiting)
    waiting.searched = turn.search.queries
    assert (await turn.answer()).turn.plan == "model"

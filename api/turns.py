"""One turn over HTTP: the events of the conversation, within the bounds of a person, and its figures.

In: a caller and a question. Out: `TurnEvent`s; the last one is `Answered`. Turns of one dialogue run one after the
other, so that each knows the answer before it (within one process; over several, the store keeps whole exchanges).
"""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Annotated
from weakref import WeakValueDictionary

import structlog
from fastapi import Depends, Request

from api.services import ApiServices
from domain.errors import DatabaseTrouble
from domain.ids import SessionId, UserId
from domain.people import Caller
from rag.addresses import defanged
from rag.records import Answer, Answered, Question, TextGrew, TurnEvent

_LAST_WORD = re.compile(r"\s*\S*\Z")

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Turns:
    """Runs the turns of all callers."""

    services: ApiServices
    _locks: WeakValueDictionary[tuple[UserId, SessionId], asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def events(self, caller: Caller, question: Question) -> AsyncGenerator[TurnEvent, None]:
        """Raises DatabaseTrouble."""
        services = self.services
        async with self._locks.setdefault((caller.token, question.session_id), asyncio.Lock()):
            is_spent = await services.spent_until(caller) is not None
            conversation = services.frugal_conversation if is_spent else services.conversation
            async with aclosing(conversation.answer(question)) as events:
                async for event in events:
                    yield await self._noted(caller, event)

    async def answer(self, caller: Caller, question: Question) -> Answer:
        """The finished answer alone. Raises DatabaseTrouble."""
        events = self.events(caller, question)
        answers = [event.answer async for event in events if isinstance(event, Answered)]
        return answers[-1]

    async def message_id(self, caller: Caller, session: SessionId, answer: Answer) -> int | None:
        """The number under which the answer is stored; None for one that is not, as for small talk, or while the
        database is away: the answer is there nevertheless."""
        if not answer.text:
            return None
        try:
            last = await self.services.dialogues.messages(caller.token, session, base=caller.base, limit=1)
        except DatabaseTrouble as trouble:
            log.warning("query.not_numbered", user=caller.token, reason=trouble.reason)
            return None
        return last[-1].id if last else None

    async def _noted(self, caller: Caller, event: TurnEvent) -> TurnEvent:
        """The event; what a finished turn cost is noted. The answer is there, so a failure is only logged."""
        if not isinstance(event, Answered):
            return event
        turn = event.answer.metrics()
        self.services.turn_ended(turn)
        try:
            await self.services.library.save_turn(caller.token, caller.base, turn)
        except DatabaseTrouble as trouble:
            log.warning("query.not_saved", user=caller.token, reason=trouble.reason)
        log.info("query.completed", user=caller.token, kind=turn.kind, execution_time_ms=round(turn.seconds * 1000))
        return event


def showable(event: TextGrew) -> str:
    """What may be shown of an answer that is being written: whole words, so that an address is judged as a whole, and
    no address that was made up."""
    return defanged(_LAST_WORD.sub("", event.text), event.addresses)


def turns_of(request: Request) -> Turns:
    """The turns of the app."""
    turns = request.app.state.turns
    if not isinstance(turns, Turns):
        raise TypeError("the app was built without turns")
    return turns


TurnsOfApp = Annotated[Turns, Depends(turns_of)]

"""One turn over HTTP: the events of the conversation, within the bounds of a person, and its figures.

In: a caller, a question and what it may spend. Out: `TurnEvent`s; the last one is `Answered`. Turns of one dialogue run
one after the other, so that each knows the answer before it (within one process; over several, the store keeps whole
exchanges).
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Annotated
from weakref import WeakValueDictionary

import structlog
from fastapi import Depends, Request

from api.services import ApiServices
from domain.errors import DatabaseTrouble
from domain.ids import SessionId, UserId
from domain.people import Caller, acting_for
from rag.addresses import defanged
from rag.metering import Pace, TurnMetrics, Usage
from rag.records import Answer, Answered, AnswerKind, Question, TextGrew, TurnEvent
from rag.reservations import Reservation, holding

BROKEN_OFF = "broken off"  # instead of where a plan came from: such a turn counts as a question
_LAST_WORD = re.compile(r"\s*\S*\Z")

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Turns:
    """Runs the turns of all callers."""

    services: ApiServices
    _locks: WeakValueDictionary[tuple[UserId, SessionId], asyncio.Lock] = field(default_factory=WeakValueDictionary)
    _noting: set[asyncio.Task[None]] = field(default_factory=set)  # the loop itself holds tasks only weakly

    async def events(
        self, caller: Caller, question: Question, reservation: Reservation
    ) -> AsyncGenerator[TurnEvent, None]:
        """Raises DatabaseTrouble. A turn that is broken off counts, too, with what it has cost by then."""
        services, usage, started, is_noted = self.services, Usage(), time.monotonic(), False
        conversation = services.frugal_conversation if reservation.is_spent else services.conversation
        try:
            async with (
                holding(services.library, reservation),
                self._locks.setdefault((caller.token, question.session_id), asyncio.Lock()),
                aclosing(conversation.answer(question, usage=usage)) as events,
            ):
                async for event in events:
                    is_noted = isinstance(event, Answered)
                    yield await self._noted(caller, event, reservation)
        except BaseException as broken:
            if not is_noted:
                has_left = not isinstance(broken, Exception)
                self._note_later(
                    caller, _broken_off(usage, time.monotonic() - started, reservation, has_left), reservation
                )
            raise

    async def answer(self, caller: Caller, question: Question, reservation: Reservation) -> Answer:
        """The finished answer alone. Raises DatabaseTrouble."""
        events = self.events(caller, question, reservation)
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

    async def _noted(self, caller: Caller, event: TurnEvent, reservation: Reservation) -> TurnEvent:
        """The event; what a finished turn has cost is noted."""
        if isinstance(event, Answered):
            turn = event.answer.metrics()
            self.services.turn_ended(turn)
            await self._note(caller, turn, reservation)
        return event

    async def _note(self, caller: Caller, turn: TurnMetrics, reservation: Reservation) -> None:
        """What a turn has cost. The answer is there, so a failure is only logged."""
        try:
            await self.services.library.save_turn(caller.token, caller.base, turn, reservation=reservation.id)
        except DatabaseTrouble as trouble:
            log.warning("query.not_saved", user=caller.token, reason=trouble.reason)
        log.info("query.completed", user=caller.token, kind=turn.kind, execution_time_ms=round(turn.seconds * 1000))

    def _note_later(self, caller: Caller, turn: TurnMetrics, reservation: Reservation) -> None:
        """In a task of its own: whoever was cancelled cannot wait, and need not act for the caller any more."""
        with acting_for(caller.token):
            noting = asyncio.create_task(self._note(caller, turn, reservation))
        self._noting.add(noting)
        noting.add_done_callback(self._noting.discard)


def _broken_off(usage: Usage, seconds: float, reservation: Reservation, has_left: bool) -> TurnMetrics:
    """A turn without an answer. Where the client has left, the call that was under way has cost what no server tells
    any more: what was held for the turn stays spent."""
    cost = max(usage.cost, reservation.cost) if has_left else usage.cost
    return TurnMetrics(
        kind=AnswerKind.NOTHING.value,
        model=None,
        plan=BROKEN_OFF,
        seconds=seconds,
        pace=Pace(),
        facts=0,
        passages=0,
        usage=replace(usage, cost=cost),
    )


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

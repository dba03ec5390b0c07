"""Asking a base, and what was said before.

In: a question of a caller, and what it may spend. Out: the answer with its sources, whole or as server-sent events:
`steps`, `delta`, `done`. The exchange is stored as in the chat; each token has dialogues of its own. Turns of one
dialogue run one after the other, so that each knows the answer before it (within one process; over several, the store
keeps whole exchanges).
"""

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, cast
from weakref import WeakValueDictionary

import structlog
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, JsonValue

from api.access import Language, Reader, Services, reservation_for
from api.bases import Strict, Text
from api.problems import problem_json, problem_of
from api.services import ApiServices
from domain.errors import DatabaseTrouble
from domain.ids import SessionId, UserId
from domain.people import Caller, acting_for
from rag.addresses import defanged
from rag.metering import Pace, TurnMetrics
from rag.metering import Usage as ModelUsage
from rag.records import Answer, Answered, AnswerKind, Question, StepsChanged, TextGrew, TurnEvent
from rag.reservations import Reservation, holding

MOST_MESSAGES = 200
EVENT_STREAM = "text/event-stream"
BROKEN_OFF = "broken off"  # instead of where a plan came from: such a turn counts as a question
_LAST_WORD = re.compile(r"\s*\S*\Z")

router = APIRouter(prefix="/rags/{base}/chat", tags=["chat"])

_EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
EVENTS: dict[int | str, dict[str, Any]] = {200: {"content": {EVENT_STREAM: {"schema": _EVENT}}}}

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
        services, usage, started, is_noted = self.services, ModelUsage(), time.monotonic(), False
        conversation = services.frugal_conversation if reservation.is_spent else services.conversation
        try:
            async with (
                holding(services.stores.library, reservation),
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
            last = await self.services.stores.dialogue.messages(caller.token, session, base=caller.base, limit=1)
        except DatabaseTrouble as trouble:
            log.warning("query.not_numbered", user=caller.token, reason=trouble.reason)
            return None
        return last[-1].id if last else None

    async def _noted(self, caller: Caller, event: TurnEvent, reservation: Reservation) -> TurnEvent:
        """The event; what a finished turn has cost is noted."""
        if isinstance(event, Answered):
            turn = event.answer.turn
            self.services.turn_ended(turn)
            await self._note(caller, turn, reservation)
        return event

    async def _note(self, caller: Caller, turn: TurnMetrics, reservation: Reservation) -> None:
        """What a turn has cost. The answer is there, so a failure is only logged."""
        try:
            await self.services.stores.library.save_turn(caller.token, caller.base, turn, reservation=reservation.id)
        except DatabaseTrouble as trouble:
            log.warning("query.not_saved", user=caller.token, reason=trouble.reason)
        log.info("query.completed", user=caller.token, kind=turn.kind, execution_time_ms=round(turn.seconds * 1000))

    def _note_later(self, caller: Caller, turn: TurnMetrics, reservation: Reservation) -> None:
        """In a task of its own: whoever was cancelled cannot wait, and need not act for the caller any more."""
        with acting_for(caller.token):
            noting = asyncio.create_task(self._note(caller, turn, reservation))
        self._noting.add(noting)
        noting.add_done_callback(self._noting.discard)


def _broken_off(usage: ModelUsage, seconds: float, reservation: Reservation, has_left: bool) -> TurnMetrics:
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
    return cast("Turns", request.app.state.turns)


TurnsOfApp = Annotated[Turns, Depends(turns_of)]


class Asked(Strict):
    """A question; without `session_id` it begins a new dialogue."""

    question: Text
    session_id: uuid.UUID | None = None
    stream: bool = False


class Source(BaseModel):
    """A source that the answer really used."""

    number: int  # from 1
    document_id: str
    title: str
    type: str
    locator: dict[str, JsonValue]
    quote: str
    url: str | None


class Usage(BaseModel):
    """Of all models of the turn."""

    model_calls: int
    prompt_tokens: int
    answer_tokens: int
    cost: float  # US dollars, as far as the server tells


class Reply(BaseModel):
    """A finished turn."""

    answer: str  # Markdown
    kind: AnswerKind
    sources: list[Source]
    session_id: uuid.UUID
    message_id: int | None  # None: it is not stored, as small talk and an empty answer
    usage: Usage


class Message(BaseModel):
    """A message of a dialogue."""

    id: int
    role: str
    content: str
    sources: list[JsonValue]
    context_used: list[JsonValue]  # which facts an answer was made from
    created_at: datetime


class Session(BaseModel):
    """A dialogue."""

    id: str
    title: str  # its first question
    exchanges: int


@router.post("", response_model=Reply, responses=EVENTS)
async def ask(asked: Asked, caller: Reader, services: Services, turns: TurnsOfApp, language: Language) -> object:
    """Ask the base. With `stream` the reply comes as server-sent events."""
    reservation = await reservation_for(caller, services)
    question = Question(
        text=asked.question,
        user_id=caller.token,
        session_id=SessionId(str(asked.session_id or uuid.uuid4())),
        base_id=caller.base,
        language=language,
    )
    if asked.stream:
        events = _server_sent(turns, caller, question, reservation)
        return StreamingResponse(events, media_type=EVENT_STREAM, headers={"Cache-Control": "no-store"})
    answer = await turns.answer(caller, question, reservation)
    return reply(services, answer, question, await turns.message_id(caller, question.session_id, answer))


@router.get("/messages")
async def messages(
    caller: Reader,
    services: Services,
    session_id: uuid.UUID,
    limit: Annotated[int, Query(ge=1, le=MOST_MESSAGES)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
) -> list[Message]:
    """The last messages of a dialogue of this token, or the last ones before the message `before`; oldest first."""
    said = await services.stores.dialogue.messages(
        caller.token, SessionId(str(session_id)), base=caller.base, limit=limit, before=before
    )
    return [Message.model_validate(each, from_attributes=True) for each in said]


@router.get("/sessions")
async def sessions(
    caller: Reader, services: Services, limit: Annotated[int, Query(ge=1, le=MOST_MESSAGES)] = 50
) -> list[Session]:
    """The dialogues of this token, the latest first."""
    found = await services.stores.dialogue.sessions(caller.token, base=caller.base, limit=limit)
    return [Session.model_validate(each, from_attributes=True) for each in found]


def reply(services: ApiServices, answer: Answer, question: Question, message_id: int | None) -> Reply:
    """The finished turn as JSON."""
    usage = answer.turn.usage
    return Reply(
        answer=services.worded(answer, question.language),
        kind=answer.kind,
        sources=sources_of(answer),
        session_id=uuid.UUID(question.session_id),
        message_id=message_id,
        usage=Usage(
            model_calls=usage.calls,
            prompt_tokens=usage.prompt_tokens,
            answer_tokens=usage.answer_tokens,
            cost=usage.cost,
        ),
    )


def sources_of(answer: Answer) -> list[Source]:
    """The sources of an answer, numbered."""
    return [
        Source(
            number=number,
            document_id=citation.document_id,
            title=citation.title,
            type=citation.source_type.value,
            locator=citation.locator.to_json(),
            quote=citation.quote,
            url=citation.locator.url or (address if address.startswith(("http://", "https://")) else None),
        )
        for number, citation in enumerate(answer.citations, start=1)
        for address in [citation.source_identifier]
    ]


async def _server_sent(
    turns: Turns, caller: Caller, question: Question, reservation: Reservation
) -> AsyncIterator[bytes]:
    """The turn as events. A `delta` holds the new words; where the answer was written anew, all of them in `text`."""
    services, shown = turns.services, ""
    try:
        async for event in turns.events(caller, question, reservation):
            if isinstance(event, TextGrew):
                yield _event("delta", growth(shown, showable(event)))
                shown = showable(event)
            elif isinstance(event, StepsChanged):
                yield _event("steps", {"steps": [step.to_json() for step in event.steps]})
            elif isinstance(event, Answered):
                answer = event.answer
        yield _event("delta", growth(shown, services.worded(answer, question.language)))
        number = await turns.message_id(caller, question.session_id, answer)
        yield _event("done", reply(services, answer, question, number).model_dump(mode="json"))
    except Exception as error:  # no handler of the app can answer once the stream has begun
        yield _event("error", problem_json(services, problem_of(error), question.language))


def growth(shown: str, text: str) -> dict[str, JsonValue]:
    """What a `delta` says: the words that were added, or the whole text where it is not a continuation."""
    return {"delta": text[len(shown) :]} if text.startswith(shown) else {"text": text}


def _event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()

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
from http import HTTPStatus
from typing import Annotated, Any, cast
from weakref import WeakValueDictionary

import structlog
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, JsonValue

from api.access import ApiServices, Language, Reader, Services, spent
from api.bases import Strict, Text
from api.problems import Problem, problem_json, problem_of
from domain.errors import DatabaseTrouble
from domain.ids import SessionId, UserId
from domain.people import Caller, acting_for
from rag.addresses import defanged
from rag.metering import Pace, TurnMetrics
from rag.metering import Usage as ModelUsage
from rag.records import Answer, Answered, AnswerKind, Exchange, Question, StepsChanged, TextGrew, TurnEvent
from rag.reservations import LEASE_S, Refused, Reservation, holding

MOST_MESSAGES = 200
BUSY_S = 5  # most answers are there by then
EVENT_STREAM = "text/event-stream"
BROKEN_OFF = "broken off"  # instead of where a plan came from: such a turn counts as a question
_LAST_WORD = re.compile(r"\s*\S*\Z")

router = APIRouter(prefix="/rags/{base}/chat", tags=["chat"])

_EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
EVENTS: dict[int | str, dict[str, Any]] = {200: {"content": {EVENT_STREAM: {"schema": _EVENT}}}}

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Turns:
    """Begins the turns of all callers."""

    services: ApiServices
    locks: WeakValueDictionary[tuple[UserId, SessionId], asyncio.Lock] = field(default_factory=WeakValueDictionary)
    noting: set[asyncio.Task[None]] = field(default_factory=set)  # the loop itself holds tasks only weakly

    async def begin(
        self,
        caller: Caller,
        text: str,
        language: str,
        *,
        session: uuid.UUID | None = None,
        dialogue: tuple[Exchange, ...] | None = None,
    ) -> "Turn":
        """A question, with what it may spend; without a `session` it begins a new dialogue, with a `dialogue` nothing
        is stored. Raises Problem 429 while the token has used up API_DAILY_COST, or answers that are being written may
        take what is left of a bound."""
        services, reservation = self.services, Reservation()
        if bounds := services.bounds_of(caller):
            library, lease = services.stores.library, LEASE_S
            reservation = await library.reserve_question(caller.token, caller.payer, bounds=bounds, lease_s=lease)
        if reservation.refused is Refused.TOKEN_SPENT and reservation.until:
            raise spent(reservation.until)
        if reservation.refused is Refused.BUSY:
            raise Problem(HTTPStatus.TOO_MANY_REQUESTS, reason="busy", retry_s=BUSY_S)
        question = Question(
            text=text,
            user_id=caller.token,
            session_id=SessionId(str(session or uuid.uuid4())),
            base_id=caller.base,
            language=language,
            dialogue=dialogue,
        )
        return Turn(turns=self, caller=caller, question=question, reservation=reservation)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A question of a caller that is about to be answered."""

    turns: Turns
    caller: Caller
    question: Question
    reservation: Reservation

    async def events(self) -> AsyncGenerator[TurnEvent, None]:
        """Raises DatabaseTrouble. A turn that is broken off counts, too, with what it has cost by then."""
        services, usage, started, is_noted = self.turns.services, ModelUsage(), time.monotonic(), False
        is_spent = self.reservation.refused is Refused.SPENT
        conversation = services.frugal_conversation if is_spent else services.conversation
        dialogue = (self.caller.token, self.question.session_id)
        try:
            async with (
                holding(services.stores.library, self.reservation),
                self.turns.locks.setdefault(dialogue, asyncio.Lock()),
                aclosing(conversation.answer(self.question, usage=usage)) as events,
            ):
                async for event in events:
                    is_noted = isinstance(event, Answered)
                    yield await self._noted(event)
        except BaseException as broken:
            if not is_noted:  # in a task of its own: whoever was cancelled cannot wait, and need not act for the caller
                has_left = not isinstance(broken, Exception)
                cut_off = _broken_off(usage, time.monotonic() - started, self.reservation, has_left)
                with acting_for(self.caller.token):
                    noting = asyncio.create_task(self._note(cut_off))
                self.turns.noting.add(noting)
                noting.add_done_callback(self.turns.noting.discard)
            raise

    async def answer(self) -> Answer:
        """The finished answer alone. Raises DatabaseTrouble."""
        answers = [event.answer async for event in self.events() if isinstance(event, Answered)]
        return answers[-1]

    def worded(self, answer: Answer) -> str:
        """The text of the answer."""
        return self.turns.services.worded(answer, self.question.language)

    def problem(self, error: Exception) -> dict[str, JsonValue]:
        """What ended it, for a stream that has begun."""
        return problem_json(self.turns.services, problem_of(error), self.question.language)

    async def reply(self, answer: Answer) -> "Reply":
        """The finished turn as JSON. While the database is away it has no number: the answer is there nevertheless."""
        number, caller, dialogue = None, self.caller, self.turns.services.stores.dialogue
        try:
            if answer.text:
                last = await dialogue.messages(caller.token, self.question.session_id, base=caller.base, limit=1)
                number = last[-1].id if last else None
        except DatabaseTrouble as trouble:
            log.warning("query.not_numbered", user=caller.token, reason=trouble.reason)
        return Reply(
            answer=self.worded(answer),
            kind=answer.kind,
            sources=sources_of(answer),
            session_id=uuid.UUID(self.question.session_id),
            message_id=number,
            usage=Usage.model_validate(answer.turn.usage, from_attributes=True),
        )

    async def _noted(self, event: TurnEvent) -> TurnEvent:
        """The event; what a finished turn has cost is noted."""
        if isinstance(event, Answered):
            self.turns.services.turn_ended(event.answer.turn)
            await self._note(event.answer.turn)
        return event

    async def _note(self, turn: TurnMetrics) -> None:
        """What a turn has cost. The answer is there, so a failure is only logged."""
        token, library = self.caller.token, self.turns.services.stores.library
        try:
            await library.save_turn(token, self.caller.base, turn, reservation=self.reservation.id)
        except DatabaseTrouble as trouble:
            log.warning("query.not_saved", user=token, reason=trouble.reason)
        log.info("query.completed", user=token, kind=turn.kind, execution_time_ms=round(turn.seconds * 1000))


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

    model_calls: int = Field(validation_alias="calls")
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
async def ask(asked: Asked, caller: Reader, turns: TurnsOfApp, language: Language) -> object:
    """Ask the base. With `stream` the reply comes as server-sent events."""
    turn = await turns.begin(caller, asked.question, language, session=asked.session_id)
    if asked.stream:
        return streamed(_server_sent(turn))
    return await turn.reply(await turn.answer())


def streamed(events: AsyncIterator[bytes]) -> StreamingResponse:
    """Server-sent events as they come."""
    return StreamingResponse(events, media_type=EVENT_STREAM, headers={"Cache-Control": "no-store"})


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


def sources_of(answer: Answer) -> list[Source]:
    """The sources of an answer, numbered."""
    return [
        Source.model_validate(
            {
                **citation.to_json(),
                "number": number,
                "url": citation.locator.url or (address if address.startswith(("http://", "https://")) else None),
            }
        )
        for number, citation in enumerate(answer.citations, start=1)
        for address in [citation.source_identifier]
    ]


async def _server_sent(turn: Turn) -> AsyncIterator[bytes]:
    """The turn as events. A `delta` holds the new words; where the answer was written anew, all of them in `text`."""
    shown = ""
    try:
        async for event in turn.events():
            if isinstance(event, TextGrew):
                yield _event("delta", growth(shown, showable(event)))
                shown = showable(event)
            elif isinstance(event, StepsChanged):
                yield _event("steps", {"steps": [step.to_json() for step in event.steps]})
            elif isinstance(event, Answered):
                answer = event.answer
        yield _event("delta", growth(shown, turn.worded(answer)))
        yield _event("done", (await turn.reply(answer)).model_dump(mode="json"))
    except Exception as error:  # no handler of the app can answer once the stream has begun
        yield _event("error", turn.problem(error))


def growth(shown: str, text: str) -> dict[str, JsonValue]:
    """What a `delta` says: the words that were added, or the whole text where it is not a continuation."""
    return {"delta": text[len(shown) :]} if text.startswith(shown) else {"text": text}


def _event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()

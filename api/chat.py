"""Asking a base, and what was said before.

In: a question. Out: the answer with its sources, whole or as server-sent events: `steps`, `delta`, `done`. The exchange
is stored as in the chat; each token has dialogues of its own.
"""

import json
import uuid
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, JsonValue

from api.access import Language, Reader, Services, reservation_for
from api.bases import Strict, Text
from api.problems import problem_json, problem_of
from api.services import ApiServices
from api.turns import Turns, TurnsOfApp, showable
from domain.ids import SessionId
from domain.people import Caller
from rag.progress import StepShown
from rag.records import Answer, Answered, AnswerKind, Citation, Question, StepsChanged, TextGrew
from rag.reservations import Reservation

MOST_MESSAGES = 200
EVENT_STREAM = "text/event-stream"

router = APIRouter(prefix="/rags/{base}/chat", tags=["chat"])

_EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
EVENTS: dict[int | str, dict[str, Any]] = {200: {"content": {EVENT_STREAM: {"schema": _EVENT}}}}


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
    said = await services.dialogues.messages(
        caller.token, SessionId(str(session_id)), base=caller.base, limit=limit, before=before
    )
    return [Message.model_validate(each, from_attributes=True) for each in said]


@router.get("/sessions")
async def sessions(
    caller: Reader, services: Services, limit: Annotated[int, Query(ge=1, le=MOST_MESSAGES)] = 50
) -> list[Session]:
    """The dialogues of this token, the latest first."""
    found = await services.dialogues.sessions(caller.token, base=caller.base, limit=limit)
    return [Session.model_validate(each, from_attributes=True) for each in found]


def reply(services: ApiServices, answer: Answer, question: Question, message_id: int | None) -> Reply:
    """The finished turn as JSON."""
    usage = answer.usage
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
    return [_source(number, citation) for number, citation in enumerate(answer.citations, start=1)]


def _source(number: int, citation: Citation) -> Source:
    identifier = citation.source_identifier
    is_address = identifier.startswith(("http://", "https://"))
    return Source(
        number=number,
        document_id=citation.document_id,
        title=citation.title,
        type=citation.source_type.value,
        locator=citation.locator.to_json(),
        quote=citation.quote,
        url=citation.locator.url or (identifier if is_address else None),
    )


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
                yield _event("steps", {"steps": [_step(step) for step in event.steps]})
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


def _step(step: StepShown) -> JsonValue:
    return {"id": step.id, "action": step.action, "about": step.about, "state": step.state.value}


def _event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()

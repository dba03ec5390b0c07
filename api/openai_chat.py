"""The chat completions of OpenAI's API, so that programs that speak it can ask a base: each base is a model.

In: a request as OpenAI's clients send it. Out: a completion, or its chunks, with the sources as annotations and in a
field of their own, `sources`. The client keeps the dialogue: its messages are the ones before the question, and nothing
is stored. Its system messages and sampling settings are not used: how Baza answers is Baza's own.
"""

import json
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from http import HTTPStatus
from itertools import pairwise
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from api.access import AnyCaller, Language, Services
from api.bases import QUERY_CHARACTERS, callers, names_of, of_base
from api.chat import EVENTS, Source, Turn, TurnsOfApp, showable, sources_of, streamed
from api.problems import Problem
from rag.metering import Usage
from rag.records import Answer, Answered, Exchange, TextGrew

MOST_MESSAGES = 200

router = APIRouter(prefix="/v1", tags=["OpenAI"])


class Part(BaseModel):
    """A part of a message; only its text is read."""

    text: str = ""


class ChatMessage(BaseModel):
    """A message; other fields of OpenAI's are ignored."""

    role: str
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Its words."""
        parts = self.content or ""
        return parts if isinstance(parts, str) else "\n".join(part.text for part in parts)


class Completion(BaseModel):
    """A request; what else OpenAI's has is ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool = False
    stream_options: dict[str, JsonValue] | None = None  # include_usage: what the answer cost follows it


@router.get("/models")
async def list_models(caller: AnyCaller, services: Services) -> dict[str, JsonValue]:
    """The bases that the token opens."""
    return {"object": "list", "data": [_model(each) for each in names_of(await callers(caller, services))]}


@router.get("/models/{name}")
async def show_model(name: str, caller: AnyCaller, services: Services) -> dict[str, JsonValue]:
    """One of them."""
    await of_base(caller, services, name)
    return _model(name)


@router.post("/chat/completions", response_model=None, responses=EVENTS)
async def complete(
    asked: Completion, caller: AnyCaller, services: Services, turns: TurnsOfApp, language: Language
) -> dict[str, JsonValue] | StreamingResponse:
    """Answers the last message, which must be the person's."""
    caller = await of_base(caller, services, asked.model)
    before, last = asked.messages[:-1], asked.messages[-1]
    if last.role != "user" or not 0 < len(last.text.strip()) <= QUERY_CHARACTERS:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY)
    turn = await turns.begin(caller, last.text, language, dialogue=tuple(_exchanges(before)))
    head: dict[str, JsonValue] = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion.chunk" if asked.stream else "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
    }
    if asked.stream:
        tells_usage = (asked.stream_options or {}).get("include_usage")
        return streamed(_chunks(turn, head, tells_usage=bool(tells_usage)))
    answer = await turn.answer()
    text, sources = turn.worded(answer), sources_of(answer)
    message: dict[str, JsonValue] = {"role": "assistant", "content": text, "annotations": _annotations(text, sources)}
    return {
        **head,
        "choices": [{"index": 0, "message": message, "finish_reason": _end(answer)}],
        "usage": _usage(answer.turn.usage),
        "sources": [source.model_dump(mode="json") for source in sources],
    }


async def _chunks(turn: Turn, head: dict[str, JsonValue], *, tells_usage: bool) -> AsyncIterator[bytes]:
    """The turn as chunks; in the end what it cost, where that was asked. Words that were sent cannot be taken back: an
    answer that was written anew follows them as a whole."""
    shown = ""

    def chunk(delta: dict[str, JsonValue], end: str | None = None, **more: JsonValue) -> bytes:
        return _data({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}], **more})

    yield chunk({"role": "assistant", "content": ""})
    try:
        async for event in turn.events():
            if isinstance(event, TextGrew) and (text := showable(event)).startswith(shown):
                yield chunk({"content": text[len(shown) :]})
                shown = text
            elif isinstance(event, Answered):
                answer = event.answer
        text, sources = turn.worded(answer), sources_of(answer)
        if rest := text[len(shown) :] if text.startswith(shown) else f"\n\n{text}":
            yield chunk({"content": rest})
        told: list[JsonValue] = [source.model_dump(mode="json") for source in sources]
        yield chunk({"annotations": _annotations(text, sources)}, _end(answer), sources=told)
        if tells_usage:
            yield _data({**head, "choices": [], "usage": _usage(answer.turn.usage)})
    except Exception as error:  # no handler of the app can answer once the stream has begun
        problem = turn.problem(error)
        yield _data({"error": {**problem, "message": problem["detail"], "code": problem["status"]}})
    yield b"data: [DONE]\n\n"


def _exchanges(messages: Sequence[ChatMessage]) -> Iterator[Exchange]:
    """Questions with the answers that follow them."""
    for said, answered in pairwise(message for message in messages if message.role in ("user", "assistant")):
        if (said.role, answered.role) == ("user", "assistant") and said.text and answered.text:
            yield Exchange(question=said.text, answer=answered.text)


def _model(name: str) -> dict[str, JsonValue]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "baza"}


def _annotations(text: str, sources: Sequence[Source]) -> JsonValue:
    """A file has no address: it goes by its id, as a URN. All annotations are about the whole text."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "url": source.url or f"urn:uuid:{source.document_id}",
                "title": source.title,
                "start_index": 0,
                "end_index": len(text),
            },
        }
        for source in sources
    ]


def _usage(usage: Usage) -> JsonValue:
    prompt, answered = usage.prompt_tokens, usage.answer_tokens
    return {"prompt_tokens": prompt, "completion_tokens": answered, "total_tokens": prompt + answered}


def _end(answer: Answer) -> str:
    return "length" if answer.cut else "stop"


def _data(value: dict[str, JsonValue]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()

"""A loopback stand-in for an OpenAI-compatible chat server, streaming and not.

In: `async with serve_llm(reply=...) as llm`: a function of the request, or a list of answers; `llm.script(...)` puts
errors and odd streams before them. Out: `llm.url`, `llm.requests`. Alone: `python -m tests.servers.llm --port 8092`.
"""

import argparse
import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from tests.servers.judging import judge
from tests.servers.scripted import Scripted, listen, play, refusal

MODEL = "test-model"
FORMATS = frozenset({"json_schema", "json_object"})
_PLANNER = "You plan how Baza"  # how prompts/planner.md begins
_CHECK = "You check the statements"  # how prompts/support.md begins
_ENTITIES = "You read one part of a document"  # how prompts/entities.md begins
_ASKED = re.compile(r"<(?P<fence>said-\w+) question>\n(?P<question>.*)\n</(?P=fence)>", re.DOTALL)
_PIECE = re.compile(r"\s*\S+|\s+$")

UNAUTHORIZED = refusal(401, {"error": {"message": "Incorrect API key provided: sk-1***9.", "code": "invalid_api_key"}})
PAYMENT_REQUIRED = refusal(402, {"error": {"message": "Insufficient credits", "code": 402}})
FORBIDDEN = refusal(403, {"error": {"message": "Your account is suspended", "code": 403}})
NO_SUCH_MODEL = refusal(404, {"error": {"message": "No such model", "code": "model_not_found"}})


class ImageAddress(BaseModel):
    """A picture, as a data: address."""

    model_config = ConfigDict(extra="forbid", strict=True)

    url: str = Field(pattern=r"^data:image/(jpeg|png);base64,")


class ImagePart(BaseModel):
    """A picture in a message."""

    model_config = ConfigDict(extra="forbid", strict=True)

    type: Literal["image_url"]
    image_url: ImageAddress


class Message(BaseModel):
    """A message as it was sent: words, or pictures."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: str = Field(pattern=r"^(system|user|assistant)$")
    content: str = ""
    images: list[ImagePart] = []

    @model_validator(mode="before")
    @classmethod
    def _divide(cls, message: dict[str, object]) -> dict[str, object]:
        content = message.get("content")
        return {**message, "content": "", "images": content} if isinstance(content, list) else message


class ChatRequest(BaseModel):
    """The fields that we may send; any other is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str
    messages: list[Message] = Field(min_length=1)
    temperature: float = 1
    max_tokens: int | None = None
    stream: bool = False
    stream_options: dict[str, bool] | None = None
    response_format: dict[str, object] | None = None  # any JSON: `JsonValue` looks at each piece of it in Python
    provider: dict[str, JsonValue] | None = None  # OpenRouter's

    @property
    def format(self) -> str | None:
        """The kind of `response_format`."""
        return str(self.response_format["type"]) if self.response_format else None

    @property
    def wants_plan(self) -> bool:
        """Whether it is the planner that asks, at whatever rung."""
        return any(message.role == "system" and message.content.startswith(_PLANNER) for message in self.messages)

    @property
    def wants_entities(self) -> bool:
        """Whether it is a document that entities are read from, at whatever rung."""
        return any(message.role == "system" and message.content.startswith(_ENTITIES) for message in self.messages)

    @property
    def wants_check(self) -> bool:
        """Whether it is an answer that is to be judged, at whatever rung."""
        return any(message.role == "system" and message.content.startswith(_CHECK) for message in self.messages)

    @property
    def last(self) -> str:
        """The last message's words."""
        return self.messages[-1].content


class Ending(StrEnum):
    """How a stream ends."""

    DONE = "done"
    CUT = "cut"  # the connection breaks
    STOPPED = "stopped"  # the body ends in order, but without a finish_reason and [DONE]
    STALL = "stall"  # nothing more comes, but comments that keep the connection alive
    ERROR = "error"  # an error object among the pieces, as OpenRouter sends it
    BROKEN = "broken"  # a piece that is not JSON


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """An answer given with the manners of one server or another."""

    text: str
    thoughts: str = ""  # sent before the text as `reasoning`
    ending: Ending = Ending.DONE
    usage: bool = True
    cost: float = 0.0  # US dollars, told with the usage as OpenRouter does
    usage_with_each: bool = False  # of all pieces so far, as Gemini and vLLM may tell it
    pause_s: float = 0.0  # before each piece, or before the whole


Answer = str | Scripted | Streamed
Reply = Callable[[ChatRequest], Answer]


def plan_search(request: ChatRequest) -> str:
    """The plan that most questions get: one search for the question as it stands."""
    asked = _ASKED.search(request.last)
    question = asked["question"] if asked else request.last
    return json.dumps(
        {
            "question": question[:1000],
            "intents": ["GENERAL_UNSTRUCTURED"],
            "tool_calls": [{"tool": "rag_db_query", "args": {"query": question}}],
            "confidence": 0.9,
        }
    )


def read_nothing(_: ChatRequest) -> str:
    """A part of a document that names nobody."""
    return '{"entities": [], "facts": []}'


def believe(request: ChatRequest) -> str:
    """A check that finds every statement of an answer supported."""
    task = next(each.content for each in request.messages if "# Statements" in each.content)
    return judge(task)


@dataclass(kw_only=True)
class LlmServer:
    """The running server. Requests for a plan are answered by `planner` and kept apart, in `plans`; those for a check
    of an answer by `checker`, in `checks`; those for the entities of a part of a document by `reader`, in `parts`: they
    come behind everybody's back."""

    reply: Reply
    planner: Reply = plan_search
    checker: Reply = believe
    reader: Reply = read_nothing
    key: str | None
    formats: frozenset[str]
    url: str = ""
    requests: list[ChatRequest] = field(default_factory=list)
    plans: list[ChatRequest] = field(default_factory=list)
    parts: list[ChatRequest] = field(default_factory=list)
    checks: list[ChatRequest] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # what was wrong with requests that the server could not read
    connections: set[object] = field(default_factory=set)  # by the client's address
    left_early: int = 0  # streams that the client did not hear to their end
    _script: deque[Answer] = field(default_factory=deque)

    def script(self, *answers: Answer) -> None:
        """What the next requests get, one each, before `reply` is asked again."""
        self._script.extend(answers)

    async def models(self, request: web.Request) -> web.Response:
        """GET /v1/models."""
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/chat/completions."""
        self.headers.append(dict(request.headers))
        self.connections.add(request.get_extra_info("peername"))
        try:
            body = ChatRequest.model_validate_json(await request.read())
        except ValidationError as error:
            self.refused.append(str(error))
            return await play(refusal(400, {"error": {"message": "Unrecognized request", "code": "invalid_request"}}))
        self._kept(body).append(body)
        answer = self._answer(request, body)
        if isinstance(answer, Scripted):
            return await play(answer)
        if body.stream:
            return await self._stream(request, body, answer)
        await asyncio.sleep(answer.pause_s)
        return _whole(body, answer)

    def _kept(self, body: ChatRequest) -> list[ChatRequest]:
        if body.wants_check:
            return self.checks
        return self.plans if body.wants_plan else self.parts if body.wants_entities else self.requests

    def _answer(self, request: web.Request, body: ChatRequest) -> Scripted | Streamed:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return UNAUTHORIZED
        if body.format and body.format not in self.formats:
            message = f"response_format type '{body.format}' is not supported by this model"
            return refusal(400, {"error": {"message": message, "type": "invalid_request_error"}})
        if body.wants_plan:
            return self._as_streamed(self.planner(body))
        if body.wants_check:
            return self._as_streamed(self.checker(body))
        if body.wants_entities:
            return self._as_streamed(self.reader(body))
        return self._as_streamed(self._script.popleft() if self._script else self.reply(body))

    @staticmethod
    def _as_streamed(answer: Answer) -> Scripted | Streamed:
        return Streamed(text=answer) if isinstance(answer, str) else answer

    async def _stream(self, request: web.Request, body: ChatRequest, answer: Streamed) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            for event in _events(body, answer):
                await asyncio.sleep(answer.pause_s)
                await response.write(event.encode())
            await _end(request, response, answer.ending)
        except (ConnectionError, asyncio.CancelledError):
            self.left_early += 1
            raise
        return response


def _events(body: ChatRequest, answer: Streamed) -> list[str]:
    """Role first, then thoughts, then the text word by word, then the end as scripted."""
    events = [_delta(body, {"role": "assistant", "content": ""})]
    events += [_delta(body, {"content": "", "reasoning": piece}) for piece in _PIECE.findall(answer.thoughts)]
    events += _pieces(body, answer)
    if answer.ending is not Ending.DONE:
        return events + _BAD_ENDS.get(answer.ending, [])
    events.append(_delta(body, {}, finish_reason="stop"))
    if answer.usage and (body.stream_options or {}).get("include_usage"):
        events.append(_event(body, {"choices": [], "usage": _usage(body, answer.text) | {"cost": answer.cost}}))
    return [*events, "data: [DONE]\n\n"]


def _pieces(body: ChatRequest, answer: Streamed) -> list[str]:
    events, said = [], ""
    for piece in _PIECE.findall(answer.text):
        said += piece
        choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
        usage = {"usage": _usage(body, said)} if answer.usage_with_each else {}
        events.append(_event(body, {"choices": [choice], **usage}))
    return events


_BAD_ENDS = {
    Ending.STALL: [": KEEP-ALIVE\n\n"] * 2,
    Ending.ERROR: ['data: {"error": {"code": 502, "message": "Provider disconnected"}, "choices": []}\n\n'],
    Ending.BROKEN: ['data: {"choices": [{"delta": {"cont\n\n'],
}


async def _end(request: web.Request, response: web.StreamResponse, ending: Ending) -> None:
    if ending is Ending.CUT and request.transport is not None:
        request.transport.abort()
    while ending is Ending.STALL:
        await asyncio.sleep(0.02)
        await response.write(b": KEEP-ALIVE\n\n")


def _delta(body: ChatRequest, delta: dict[str, str], *, finish_reason: str | None = None) -> str:
    return _event(body, {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


def _event(body: ChatRequest, fields: dict[str, object]) -> str:
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body.model, **fields}
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"


def _whole(body: ChatRequest, answer: Streamed) -> web.Response:
    message = {"role": "assistant", "content": answer.text or None}
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body.model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    return web.json_response(completion | ({"usage": _usage(body, answer.text)} if answer.usage else {}))


def _usage(body: ChatRequest, text: str) -> dict[str, int]:
    asked = sum(_words(message.content) for message in body.messages)
    answered = _words(text)
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}


@lru_cache
def _words(text: str) -> int:
    """Rules of a thousand words come with each request."""
    return len(text.split())


def in_order(answers: Sequence[Answer]) -> Reply:
    """Answers one after the other; a request more than there are answers gets a 500."""
    left = deque(answers)
    return lambda _: left.popleft() if left else refusal(500, {"error": {"message": "the script is at its end"}})


@asynccontextmanager
async def serve_llm(
    *,
    reply: Reply | Sequence[Answer] = (),
    key: str | None = None,
    formats: frozenset[str] = FORMATS,
    port: int = 0,
) -> AsyncIterator[LlmServer]:
    """A running server; `url` is what LLM_BASE_URL takes. `key`: demand this bearer. `formats`: those it supports."""
    answers = reply if callable(reply) else in_order(reply)
    server = LlmServer(reply=answers, key=key, formats=formats)
    application = web.Application(client_max_size=2**26)
    application.add_routes([web.get("/v1/models", server.models), web.post("/v1/chat/completions", server.chat)])
    async with listen(application, port=port) as address:
        server.url = f"{address}/v1"
        yield server


async def _serve_for_ever(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8092)
    port = parser.parse_args(arguments).port
    async with serve_llm(reply=lambda request: f"Вы спросили: {request.last}", port=port) as server:
        print(f"LLM_BASE_URL={server.url} ANSWER_MODEL={MODEL}", flush=True)  # noqa: T201 - a command line
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve_for_ever())

"""Asks a chat model: a whole answer, an answer piece by piece, or an answer in a given shape.

In: messages. Out: text, or a pydantic record. Errors of the SDK and its HTTP library become `rag.ports.ModelError`. It
keeps no dialogue and holds no prompt but the one that asks for JSON; it remembers which way of asking for JSON this
server and model understand.
"""

import asyncio
import json
import math
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import aiohttp
import httpx2
import openai
import orjson
import structlog

from adapters.llm.structured import RE_ASK, Rung, Schema, describe_problems, instruction, read_record, response_format
from rag.metering import ModelCall, asking, note_usage, unheard
from rag.ports import ModelAway, ModelMisfit, ModelNonsense, ModelRefused
from rag.records import ChatMessage
from rag.words import estimate_tokens

_AWAY = frozenset({408, 409, 425, 429})  # and every 5xx
UNSUPPORTED = frozenset({400, 404, 422, 501})
"""Statuses of a server that does not know a `response_format` (OpenRouter: 404, no provider takes it)."""
_OPENROUTER = "openrouter.ai"
Json = Mapping[str, object]
_HALVES = re.compile("[\ud800-\udfff]")
_FIRST_HALF = re.compile("[\ud800-\udbff]")
PATH = "/chat/completions"
LONGEST_TOKEN = 32  # characters, far above any average
ANSWERS = 2  # of a structured question: the first, and one corrected
STRICT_AGAIN = 20  # structured questions after which a schema that the model ignored is sent to the server again


class RequestRejected(ModelRefused):
    """The server does not take this request: a parameter it does not know, too long a prompt, an unknown model."""


@contextmanager
def model_errors() -> Iterator[None]:
    """Whatever goes wrong inside leaves as a ModelError."""
    try:
        yield
    except openai.APIStatusError as error:
        said = f"HTTP {error.status_code} {error.code or error.type or ''}".strip()
        if error.status_code in UNSUPPORTED:
            raise RequestRejected(said) from error
        is_away = error.status_code in _AWAY or error.status_code >= 500
        raise (ModelAway(said) if is_away else ModelRefused(said)) from error
    except (TimeoutError, openai.APIConnectionError, httpx2.HTTPError, aiohttp.ClientError) as error:
        raise ModelAway(type(error).__name__) from error
    except openai.APIError as error:  # an error object inside a stream: the provider broke off
        raise ModelAway(f"in mid-stream: {error.code or error.type or type(error).__name__}") from error
    except ValueError as error:  # a body or a piece of the stream that is not JSON, or has another shape
        raise ModelNonsense(type(error).__name__) from error


def is_openrouter(base_url: str) -> bool:
    """OpenRouter names the program in its statistics, and chooses among providers, some of which ignore a schema."""
    host = urlsplit(base_url).hostname or ""
    return host == _OPENROUTER or host.endswith(f".{_OPENROUTER}")


def as_reply(body: object) -> Json:
    """A whole answer or a piece. The SDK passes on whatever came: JSON under another content type is a `str`, as is
    a page of HTML, which raises ValueError."""
    parsed = json.loads(body) if isinstance(body, str) else body
    return parsed if isinstance(parsed, dict) else {}


def text_of(reply: Json) -> str:
    """The answer's text. Raises ModelNonsense where there is none."""
    first = next(_choices(reply), {})
    text = _mapping(first.get("message")).get("content")
    if isinstance(text, str) and (whole := without_half(text)[0]).strip():
        return whole
    raise ModelNonsense("an empty answer")


def piece_of(chunk: Json) -> str:
    """What a chunk adds to the answer; the one that carries the usage has no choices."""
    pieces = (_mapping(choice.get("delta")).get("content") for choice in _choices(chunk))
    return "".join(piece for piece in pieces if isinstance(piece, str))


def without_half(text: str) -> tuple[str, str]:
    """The text in whole characters, and the half of a surrogate pair at its end: some servers split an emoji between
    two pieces, as JSON may. A half can neither be sent to people nor stored."""
    half = text[-1:] if _FIRST_HALF.match(text[-1:]) else ""
    whole = text[: len(text) - len(half)]
    if _HALVES.search(whole):
        whole = whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole, half


def has_ended(chunk: Json) -> bool:
    return any(choice.get("finish_reason") is not None for choice in _choices(chunk))


def call_of(reply: Json, model: str) -> ModelCall | None:
    """What a call took, as far as the server tells; None where it does not report tokens."""
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return None
    return ModelCall(
        model=model,
        prompt_tokens=int(_number(usage.get("prompt_tokens"))),
        answer_tokens=int(_number(usage.get("completion_tokens"))),
        cost=_number(usage.get("cost")),
    )


def _choices(reply: Json) -> Iterator[Json]:
    choices = reply.get("choices")
    return (choice for choice in choices if isinstance(choice, dict)) if isinstance(choices, list) else iter(())


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float:
    """0 for what is no number, or none that can be added up (`1e999`)."""
    try:
        number = float(value) if isinstance(value, int | float) else 0.0
    except OverflowError:
        return 0.0
    return number if math.isfinite(number) else 0.0


class OpenAIChatModel:
    """One model at one address; meets `rag.ports.ChatModel`. Make it with `open_chat_model`."""

    def __init__(
        self,
        sdk: openai.AsyncOpenAI,
        name: str,
        *,
        temperature: float,
        max_tokens: int,
        timeout_s: float,
        heard: Callable[[ModelCall], None] = unheard,
    ) -> None:
        """`heard` receives each answer whose usage the server reports; the turn's meter also gets an estimate for an
        answer that was broken off."""
        self.name = name
        self._sdk = sdk
        self._fields = {"model": name, "temperature": temperature, "max_tokens": max_tokens}
        self._longest = max_tokens * LONGEST_TOKEN
        self._timeout_s = timeout_s
        self.heard = heard
        self._refused: frozenset[Rung] = frozenset()  # by this server for this model
        self._in_words = 0  # questions that still state the schema in words, because the model ignored the server's

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        return await self._complete(messages, {})

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str, None]:
        started, written, half, ended, told = time.monotonic(), "", "", False, None
        chunks = self._chunks(messages)
        try:
            async for chunk in chunks:
                told = call_of(chunk, self.name) or told  # some servers tell of all pieces so far with each piece
                ended = ended or has_ended(chunk)
                piece, half = without_half(half + piece_of(chunk))
                written += piece
                if len(written) > self._longest:  # it must not fill our memory
                    raise ModelAway("the stream goes on beyond max_tokens")
                if piece:
                    yield piece
        finally:
            self._log_usage(told, started)
            if told is None and written and not ended:  # it has read the prompt and written this much
                prompt = sum(estimate_tokens(message.content) for message in messages)
                note_usage(prompt_tokens=prompt, answer_tokens=estimate_tokens(written))
            await chunks.aclose()  # at once, also when the reader leaves early: the server stops writing
        if not ended:
            raise ModelAway("the stream broke off")
        if not written:
            raise ModelNonsense("an empty answer")

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        answers, refused = ANSWERS if corrected else 1, self._refused
        rungs = self._rungs()
        for rung in rungs:
            try:
                record = await self._structured_at(rung, messages, schema, answers)
            except RequestRejected:
                if rung is rungs[-1]:
                    raise
                structlog.get_logger().info("llm.rung_refused", model=self.name, rung=rung.name)
                refused |= {rung}
            except ModelMisfit:
                self._refused = refused  # the server took the request; what the model made of it is another matter
                raise
            else:
                self._refused = refused
                return record
        raise ModelNonsense("not asked")

    def _rungs(self) -> list[Rung]:
        """The ways to ask, best first. The schema goes to the server or into the prompt, never into both."""
        in_words, self._in_words = self._in_words > 0, max(self._in_words - 1, 0)
        passed_over = self._refused | ({Rung.JSON_SCHEMA} if in_words else frozenset())
        return [rung for rung in Rung if rung not in passed_over]

    async def _structured_at(
        self, rung: Rung, messages: Sequence[ChatMessage], schema: type[Schema], answers: int
    ) -> Schema:
        """Raises ModelMisfit when none of so many answers fits. A model that ignores the server's schema is told it in
        words, by a lower rung, from its second answer on."""
        misfit: ModelMisfit | None = None
        shown: list[ChatMessage] = []
        for _ in range(answers):
            words = [] if rung is Rung.JSON_SCHEMA else [instruction(schema)]
            text = await self._complete([*messages, *words, *shown], self._schema_fields(rung, schema))
            try:
                return read_record(text, schema)
            except ValueError as error:
                structlog.get_logger().info("llm.misfit", model=self.name, rung=rung.name, schema=schema.__name__)
                message = f"no {schema.__name__} in {answers} answers"
                misfit = ModelMisfit(message, answer=text, problems=describe_problems(error))
                corrections = RE_ASK.format(problems=misfit.problems)
                shown = [ChatMessage(role="assistant", content=text), ChatMessage(role="user", content=corrections)]
            if rung is Rung.JSON_SCHEMA:
                self._in_words = STRICT_AGAIN
                rung = self._rungs()[0]
        raise misfit or ModelNonsense("not asked")

    def _schema_fields(self, rung: Rung, schema: type[Schema]) -> Mapping[str, object]:
        wanted = response_format(rung, schema)
        if rung is Rung.JSON_SCHEMA and is_openrouter(str(self._sdk.base_url)):
            return {"response_format": wanted, "provider": {"require_parameters": True}}
        return {} if wanted is None else {"response_format": wanted}

    async def _complete(self, messages: Sequence[ChatMessage], fields: Mapping[str, object]) -> str:
        started = time.monotonic()
        with asking(), model_errors():
            async with asyncio.timeout(self._timeout_s):  # the SDK's is for each try, and between bytes
                body = self._request(messages, {"stream": False, **fields})
                reply = as_reply(await self._sdk.post(PATH, cast_to=object, content=body))
        self._log_usage(call_of(reply, self.name), started)
        return text_of(reply)

    async def _chunks(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[Json, None]:
        """The stream's chunks. Raises when the wait for one exceeds the timeout."""
        limit_s = self._timeout_s
        with asking(), model_errors():
            body = self._request(messages, {"stream": True, "stream_options": {"include_usage": True}})
            async with asyncio.timeout(limit_s):
                stream = await self._sdk.post(
                    PATH, cast_to=object, content=body, stream=True, stream_cls=openai.AsyncStream[object]
                )
            async with stream:
                while (chunk := await _next_chunk(stream, limit_s)) is not None:
                    yield as_reply(chunk)

    def _request(self, messages: Sequence[ChatMessage], fields: Mapping[str, object]) -> bytes:
        """The whole body. The SDK's own `create` walks through each parameter and message, which takes milliseconds;
        its JSON takes half of one. Raises ValueError for half of a surrogate pair."""
        body = {
            "messages": [
                {
                    "role": each.role,
                    "content": [{"type": "image_url", "image_url": {"url": each.picture}}]
                    if each.picture
                    else each.content,
                }
                for each in messages
            ],
            **self._fields,
            **fields,
        }
        try:
            return orjson.dumps(body)
        except orjson.JSONEncodeError as error:
            raise ValueError("the prompt is not valid Unicode") from error

    def _log_usage(self, call: ModelCall | None, started: float) -> None:
        if call is None:
            return
        note_usage(prompt_tokens=call.prompt_tokens, answer_tokens=call.answer_tokens, cost=call.cost)
        call = replace(call, seconds=time.monotonic() - started)
        self.heard(call)
        structlog.get_logger().debug("llm.answered", **vars(call))


async def _next_chunk(stream: openai.AsyncStream[object], limit_s: float) -> object | None:
    """Bounds the wait: a server's keep-alive comments are no chunks, and the SDK's timeout would not see such a
    stall."""
    async with asyncio.timeout(limit_s):
        return await anext(stream, None)

"""Asks a chat model: a whole answer, an answer piece by piece, or an answer in a given shape.

In: messages. Out: text, or a pydantic record. Errors are `rag.errors.ModelError`. It keeps no dialogue and holds no
prompt but the one that asks for JSON; it remembers which way of asking for JSON this server and model understand.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass

import openai
import orjson
import structlog

from adapters.llm.errors import RequestRejected, model_errors
from adapters.llm.providers import extra_schema_fields
from adapters.llm.replies import Json, Tokens, as_reply, has_ended, piece_of, text_of, tokens_of, without_half
from adapters.llm.structured import (
    Rung,
    Schema,
    describe_problems,
    instruction,
    re_ask,
    read_record,
    response_format,
)
from rag.errors import ModelAway, ModelMisfit, ModelNonsense
from rag.metering import ModelCall, asking, note_usage, unheard
from rag.records import ChatMessage
from rag.tokens import estimate_tokens

PATH = "/chat/completions"
LONGEST_TOKEN = 32  # characters, far above any average
ANSWERS = 2  # of a structured question: the first, and one corrected
STRICT_AGAIN = 20  # structured questions after which a schema that the model ignored is sent to the server again


@dataclass(frozen=True, kw_only=True)
class CallSettings:
    """What goes with every request."""

    model: str
    temperature: float
    max_tokens: int
    timeout_s: float


class OpenAIChatModel:
    """One model at one address; meets `rag.ports.ChatModel`. Make it with `open_chat_model`."""

    def __init__(
        self, sdk: openai.AsyncOpenAI, settings: CallSettings, *, heard: Callable[[ModelCall], None] = unheard
    ) -> None:
        """`heard` receives each answer whose usage the server reports; the turn's meter also gets an estimate for an
        answer that was broken off."""
        self._sdk = sdk
        self._settings = settings
        self._heard = heard
        self._refused: frozenset[Rung] = frozenset()  # by this server for this model
        self._in_words = 0  # questions that still state the schema in words, because the model ignored the server's

    @property
    def name(self) -> str:
        """The model's name, for records and logs."""
        return self._settings.model

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        """The whole answer. Raises ModelError."""
        return await self._complete(messages, {})

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str, None]:
        """Pieces of the answer as they come. Raises ModelError; ModelAway when it breaks off before its end."""
        started, written, half, ended, told = time.monotonic(), "", "", False, None
        chunks = self._chunks(messages)
        try:
            async for chunk in chunks:
                told = tokens_of(chunk) or told  # some servers report it with each piece, for all pieces so far
                ended = ended or has_ended(chunk)
                piece, half = without_half(half + piece_of(chunk))
                if piece:
                    written += piece
                    self._refuse_endless(len(written))
                    yield piece
        finally:
            self._log_usage(told, started)
            if told is None and written and not ended:
                _estimate_usage(messages, written)
            await chunks.aclose()  # at once, also when the reader leaves early: the server stops writing
        if not ended:
            raise ModelAway("the stream broke off")
        if not written:
            raise ModelNonsense("an empty answer")

    def _refuse_endless(self, characters: int) -> None:
        """A server that does not keep to `max_tokens` must not fill our memory."""
        if characters > self._settings.max_tokens * LONGEST_TOKEN:
            raise ModelAway("the stream goes on beyond max_tokens")

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        """An answer that fits `schema`, a model with fields. Raises ModelError."""
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
        for _ in range(answers):
            fields = self._schema_fields(rung, schema)
            text = await self._complete(self._dialogue(rung, messages, schema, misfit), fields)
            try:
                return read_record(text, schema)
            except ValueError as error:
                structlog.get_logger().info("llm.misfit", model=self.name, rung=rung.name, schema=schema.__name__)
                message = f"no {schema.__name__} in {answers} answers"
                misfit = ModelMisfit(message, answer=text, problems=describe_problems(error))
            if rung is Rung.JSON_SCHEMA:
                self._in_words = STRICT_AGAIN
                rung = self._rungs()[0]
        raise misfit or ModelNonsense("not asked")

    def _dialogue(
        self, rung: Rung, messages: Sequence[ChatMessage], schema: type[Schema], misfit: ModelMisfit | None
    ) -> list[ChatMessage]:
        words = [] if rung is Rung.JSON_SCHEMA else [instruction(schema)]
        shown = [ChatMessage(role="assistant", content=misfit.answer), re_ask(misfit.problems)] if misfit else []
        return [*messages, *words, *shown]

    def _schema_fields(self, rung: Rung, schema: type[Schema]) -> Mapping[str, object]:
        wanted = response_format(rung, schema)
        extra = extra_schema_fields(str(self._sdk.base_url)) if rung is Rung.JSON_SCHEMA else {}
        return {} if wanted is None else {"response_format": wanted, **extra}

    async def _complete(self, messages: Sequence[ChatMessage], fields: Mapping[str, object]) -> str:
        started = time.monotonic()
        with asking(), model_errors():
            async with asyncio.timeout(self._settings.timeout_s):  # the SDK's is for each try, and between bytes
                body = self._request(messages, {"stream": False, **fields})
                reply = as_reply(await self._sdk.post(PATH, cast_to=object, content=body))
        self._log_usage(tokens_of(reply), started)
        return text_of(reply)

    async def _chunks(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[Json, None]:
        """The stream's chunks. Raises when the wait for one exceeds the timeout."""
        limit_s = self._settings.timeout_s
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
            "model": self._settings.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "temperature": self._settings.temperature,
            "max_tokens": self._settings.max_tokens,
            **fields,
        }
        try:
            return orjson.dumps(body)
        except orjson.JSONEncodeError as error:
            raise ValueError("the prompt is not valid Unicode") from error

    def _log_usage(self, tokens: Tokens | None, started: float) -> None:
        if tokens is None:
            return
        note_usage(prompt_tokens=tokens.prompt, answer_tokens=tokens.answer, cost=tokens.cost)
        call = tokens.as_call(self.name, seconds=time.monotonic() - started)
        self._heard(call)
        structlog.get_logger().debug(
            "llm.answered",
            model=self.name,
            prompt_tokens=tokens.prompt,
            answer_tokens=tokens.answer,
            seconds=round(call.seconds, 3),
        )


def _estimate_usage(messages: Sequence[ChatMessage], written: str) -> None:
    """For an answer that was broken off before the server reported: it has read the prompt and written this much."""
    prompt = sum(estimate_tokens(message.content) for message in messages)
    note_usage(prompt_tokens=prompt, answer_tokens=estimate_tokens(written))


async def _next_chunk(stream: openai.AsyncStream[object], limit_s: float) -> object | None:
    """Bounds the wait: a server's keep-alive comments are no chunks, and the SDK's timeout would not see such a
    stall."""
    async with asyncio.timeout(limit_s):
        return await anext(stream, None)

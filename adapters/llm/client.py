"""Asks a chat model: a whole answer, an answer piece by piece, or an answer in a given shape.

In: messages. Out: text, or a pydantic record. Errors are `rag.errors.ModelError`. It keeps no dialogue and holds no
prompt but the one that asks for JSON; it remembers which way of asking for JSON this server and model understand.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import openai
import structlog
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from adapters.llm.errors import RequestRejected, model_errors
from adapters.llm.providers import extra_schema_fields
from adapters.llm.structured import (
    Rung,
    Schema,
    describe_problems,
    instruction,
    re_ask,
    read_record,
    response_format,
)
from rag.errors import ModelAway, ModelNonsense
from rag.metering import ModelCall, asking, note_usage, unheard
from rag.records import ChatMessage

LONGEST_TOKEN = 32  # characters, far above any average
ANSWERS = 2  # of a structured question: the first, and one corrected


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
        """`heard` is told of each answer whose usage the server tells."""
        self._sdk = sdk
        self._settings = settings
        self._heard = heard
        self._rung = Rung.JSON_SCHEMA  # the highest that is not known to be refused by this server for this model

    @property
    def name(self) -> str:
        """The model's name, for records and logs."""
        return self._settings.model

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        """The whole answer. Raises ModelError."""
        return await self._complete(messages, {})

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str, None]:
        """Pieces of the answer as they come. Raises ModelError; ModelAway when it breaks off before its end."""
        started, written, ended = time.monotonic(), 0, False
        chunks = self._chunks(messages)
        try:
            async for chunk in chunks:
                self._log_usage(chunk.usage, started)
                ended = ended or any(choice.finish_reason is not None for choice in chunk.choices or ())
                if piece := _piece_of(chunk):
                    written += len(piece)
                    self._refuse_endless(written)
                    yield piece
        finally:
            await chunks.aclose()  # at once, also when the reader leaves early: the server stops writing
        if not ended:
            raise ModelAway("the stream broke off")
        if not written:
            raise ModelNonsense("an empty answer")

    def _refuse_endless(self, characters: int) -> None:
        """A server that does not keep to `max_tokens` must not fill our memory."""
        if characters > self._settings.max_tokens * LONGEST_TOKEN:
            raise ModelAway("the stream goes on beyond max_tokens")

    async def structured(self, messages: Sequence[ChatMessage], schema: type[Schema]) -> Schema:
        """An answer that fits `schema`, a model with fields. Raises ModelError."""
        rung = self._rung
        while True:
            try:
                record = await self._structured_at(rung, messages, schema)
            except RequestRejected:
                lower = rung.next
                if lower is None:
                    raise
                structlog.get_logger().info("llm.rung_refused", model=self.name, rung=rung.name)
                rung = lower
            else:
                self._rung = rung
                return record

    async def _structured_at(self, rung: Rung, messages: Sequence[ChatMessage], schema: type[Schema]) -> Schema:
        dialogue = list(messages) if rung is Rung.JSON_SCHEMA else [*messages, instruction(schema)]
        fields = self._schema_fields(rung, schema)
        for _ in range(ANSWERS):
            text = await self._complete(dialogue, fields)
            try:
                return read_record(text, schema)
            except ValueError as error:
                problems = describe_problems(error)
                structlog.get_logger().info("llm.misfit", model=self.name, rung=rung.name, schema=schema.__name__)
                dialogue = [*dialogue, ChatMessage(role="assistant", content=text), re_ask(problems)]
        raise ModelNonsense(f"no {schema.__name__} in {ANSWERS} answers")

    def _schema_fields(self, rung: Rung, schema: type[Schema]) -> Mapping[str, Any]:
        """As extra fields of the body: what is a parameter of the SDK it walks through, which takes milliseconds."""
        wanted = response_format(rung, schema)
        extra = extra_schema_fields(str(self._sdk.base_url)) if rung is Rung.JSON_SCHEMA else {}
        return {} if wanted is None else {"extra_body": {"response_format": wanted, **extra}}

    async def _complete(self, messages: Sequence[ChatMessage], fields: Mapping[str, Any]) -> str:
        started = time.monotonic()
        with asking(), model_errors():
            async with asyncio.timeout(self._settings.timeout_s):  # the SDK's counts each try, and from byte to byte
                completion = await self._sdk.chat.completions.create(**self._request(messages), **fields)
        self._log_usage(getattr(completion, "usage", None), started)
        return _text_of(completion)

    async def _chunks(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[ChatCompletionChunk, None]:
        """The stream's chunks, none of which may keep us waiting for longer than the timeout."""
        limit_s = self._settings.timeout_s
        with asking(), model_errors():
            async with asyncio.timeout(limit_s):
                stream = await self._sdk.chat.completions.create(
                    **self._request(messages), stream=True, stream_options={"include_usage": True}
                )
            async with stream:
                # A server's keep-alive comments are no chunks: httpx2's timeout would never see such a stall.
                while (chunk := await asyncio.wait_for(anext(stream, None), limit_s)) is not None:
                    yield chunk

    def _request(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        """What every request says. The SDK's parameters are typed dicts by role, ours are records: hence Any."""
        return {
            "model": self._settings.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "temperature": self._settings.temperature,
            "max_tokens": self._settings.max_tokens,
        }

    def _log_usage(self, usage: CompletionUsage | None, started: float) -> None:
        if usage is None:
            return
        told = (usage.model_extra or {}).get("cost")
        cost = float(told) if isinstance(told, int | float) else 0.0
        note_usage(prompt_tokens=usage.prompt_tokens, answer_tokens=usage.completion_tokens, cost=cost)
        call = ModelCall(
            model=self.name,
            seconds=time.monotonic() - started,
            prompt_tokens=usage.prompt_tokens,
            answer_tokens=usage.completion_tokens,
            cost=cost,
        )
        self._heard(call)
        structlog.get_logger().debug(
            "llm.answered",
            model=self.name,
            prompt_tokens=usage.prompt_tokens,
            answer_tokens=usage.completion_tokens,
            seconds=round(call.seconds, 3),
        )


def _piece_of(chunk: ChatCompletionChunk) -> str:
    """What a chunk adds to the answer; the one that carries the usage has no choices."""
    return "".join(choice.delta.content or "" for choice in chunk.choices or () if choice.delta)


def _text_of(completion: object) -> str:
    """The answer's text. The SDK hands through whatever came: a page of HTML is a `str`, missing fields are None."""
    choices = completion.choices if isinstance(completion, ChatCompletion) else None
    message = choices[0].message if choices else None
    if message is None or not message.content or not message.content.strip():
        raise ModelNonsense("an empty answer")
    return message.content

"""Several models as one: when the first is away or refuses, the next one answers.

In: models in order of preference. Out: a `ChatModel`. One that does not answer is left alone for a while, so that
people need not wait for its timeout again and again. A stream that has begun is never begun anew by another model: two
halves of different answers would read as one.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic
from typing import TypeVar

import httpx2
import openai
import structlog

from adapters.llm.client import OpenAIChatModel, is_openrouter
from adapters.llm.structured import Schema
from rag.metering import ModelCall, unheard
from rag.ports import ModelAway, ModelError, ModelMisfit
from rag.records import ChatMessage

CONNECT_S = 10.0
RETRIES = 2  # the SDK's own: 408, 409, 429, 5xx and broken connections, 0.5-8 s apart or as Retry-After says
FAILURES = 3  # in a row; one timeout may be bad luck
REST_S = 30.0  # then one call is let through to see
Result = TypeVar("Result")
log = structlog.get_logger()


class CircuitBreaker:
    """Closed while a model answers; open for REST_S after FAILURES in a row; then half open."""

    def __init__(self, *, tries_alone: bool = True, clock: Callable[[], float] = monotonic) -> None:
        """`tries_alone`: half open, the first to ask gets the only trial call, and the others wait for its end."""
        self._tries_alone = tries_alone
        self._clock = clock
        self._failed = 0
        self._opened_at = 0.0

    @property
    def is_open(self) -> bool:
        """Open, and not yet to be tried again. Reading this changes nothing."""
        return self._failed >= FAILURES and self._clock() - self._opened_at < REST_S

    def allows_call(self) -> bool:
        """Whether a call may be made now. Half open, asking may use up the one trial."""
        if self.is_open:
            return False
        if self._tries_alone and self._failed >= FAILURES:
            self._opened_at = self._clock()
        return True

    def succeeded(self) -> None:
        """It answered, if only with nonsense or a refusal: it is up."""
        self._failed = 0

    def failed(self) -> None:
        self._failed += 1
        if self._failed >= FAILURES:  # also when it was tried again after its rest
            self._opened_at = self._clock()


class FallbackModel:
    """Meets `rag.ports.ChatModel`."""

    def __init__(
        self, models: Iterable[OpenAIChatModel], *, tries_alone: bool = True, clock: Callable[[], float] = monotonic
    ) -> None:
        """At least one; the first is the one to be preferred. `tries_alone` see `CircuitBreaker`."""
        self._models = [(model, CircuitBreaker(tries_alone=tries_alone, clock=clock)) for model in models]

    @property
    def name(self) -> str:
        return self._models[0][0].name

    @property
    def resting(self) -> Mapping[str, bool]:
        return {model.name: breaker.is_open for model, breaker in self._models}

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        return await self._first(lambda model: model.complete(messages))

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        """An answer that fits `schema`. Raises ModelError when no model gives one; with `corrected` False ModelMisfit
        of the first that answers: whoever asked corrects that answer, and wants no other model's instead."""
        final = () if corrected else (ModelMisfit,)
        return await self._first(lambda model: model.structured(messages, schema, corrected=corrected), final)

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str, None]:
        trouble: ModelError = ModelAway("every model rests")
        for model, breaker in self._awake():
            pieces, begun = model.stream(messages), False
            try:
                async for piece in pieces:
                    begun = True
                    yield piece
            except ModelError as error:
                trouble = _note(model, breaker, error)
                if begun:
                    raise
            except (GeneratorExit, asyncio.CancelledError):
                if begun:  # the reader stopped it, but the model has answered
                    breaker.succeeded()
                raise
            else:
                breaker.succeeded()
                return
            finally:
                await pieces.aclose()
        raise trouble

    async def _first(
        self, ask: Callable[[OpenAIChatModel], Awaitable[Result]], final: tuple[type[ModelError], ...] = ()
    ) -> Result:
        trouble: ModelError = ModelAway("every model rests")
        for model, breaker in self._awake():
            try:
                answer = await ask(model)
            except ModelError as error:
                trouble = _note(model, breaker, error)
                if isinstance(error, final):
                    raise
            else:
                breaker.succeeded()
                return answer
        raise trouble

    def _awake(self) -> Iterator[tuple[OpenAIChatModel, CircuitBreaker]]:
        """Lazily: asking `allows_call` of a half-open breaker uses up the one call that it allows."""
        return ((model, breaker) for model, breaker in self._models if breaker.allows_call())


@asynccontextmanager
async def open_chat_model(
    *,
    base_url: str,
    api_key: str | None,
    models: Sequence[str],
    temperature: float,
    max_tokens: int,
    timeout_s: float,
    tries_alone: bool = True,
    heard: Callable[[ModelCall], None] = unheard,
) -> AsyncIterator[FallbackModel]:
    """`timeout_s` bounds a whole answer with its retries (`complete`), and each wait for a piece (`stream`). `heard`
    receives each call that was answered or failed; `tries_alone` see `CircuitBreaker`."""
    async with openai.AsyncOpenAI(
        base_url=base_url,
        api_key=api_key or "none",  # the SDK insists on a key; Ollama and llama.cpp ignore it
        max_retries=RETRIES,
        timeout=httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),  # from byte to byte
        default_headers={"X-OpenRouter-Title": "Baza"} if is_openrouter(base_url) else {},
        http_client=openai.DefaultAioHttpClient(),  # a fifth less processor time for each call
    ) as sdk:
        asked = partial(
            OpenAIChatModel, sdk, temperature=temperature, max_tokens=max_tokens, timeout_s=timeout_s, heard=heard
        )
        yield FallbackModel(map(asked, models), tries_alone=tries_alone)


def _note(model: OpenAIChatModel, breaker: CircuitBreaker, error: ModelError) -> ModelError:
    """Only silence opens the breaker: a refusal and nonsense come at once and cost nobody's time."""
    if isinstance(error, ModelAway):
        breaker.failed()
    else:
        breaker.succeeded()
    model.heard(ModelCall(model=model.name, problem=type(error).__name__))
    log.info("llm.passed_on", model=model.name, reason=type(error).__name__)
    return error

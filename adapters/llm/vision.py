"""Reads pictures with a chat model that can see; meets `ingestion.ports.Recognizer`.

In: a JPEG or PNG. Out: blocks of what the model transcribes as Markdown. What stands in the picture is data: the
answer is stored as the document's text and never acted upon. A model that does not answer is left alone for a while.
"""

import asyncio
import base64
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from adapters.llm.client import as_reply, text_of, tokens_of
from adapters.llm.fallback import CircuitBreaker
from ingestion.errors import FailureCode, ServiceError
from ingestion.records import Block
from rag.metering import ModelCall, ask_leave, note_usage, unheard
from rag.ports import ModelAway, ModelError, ModelNonsense

if TYPE_CHECKING:
    import openai

SERVICE = "vision"
PNG_MAGIC = b"\x89PNG"
MAX_TOKENS = 4_000  # a page of small print in Russian has 3,000
FENCE = re.compile(r"\A```\w*\n(?P<inside>.*?)\n?```\s*\Z", re.DOTALL)
TRIES = 2  # an answer that is cut off or empty is asked for once more

ToBlocks = Callable[[str], Sequence[Block]]


@dataclass(frozen=True, kw_only=True)
class VisionSettings:
    """What goes with every request."""

    model: str
    prompt: str
    no_text: str  # what the prompt has the model answer when there is nothing to read
    timeout_s: float


class VisionRecognizer:
    """One model at one address. Make it with `open_vision`."""

    def __init__(
        self,
        sdk: "openai.AsyncOpenAI",
        settings: VisionSettings,
        to_blocks: ToBlocks,
        *,
        heard: Callable[[ModelCall], None] = unheard,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        """`heard` receives each call whose usage the server reports, and each that failed."""
        self._sdk = sdk
        self._settings = settings
        self._to_blocks = to_blocks
        self._heard = heard
        self._breaker = breaker or CircuitBreaker()

    @property
    def resting(self) -> Mapping[str, bool]:
        """Whether the model is left alone for a while, by its name."""
        return {self._settings.model: self._breaker.is_open}

    async def recognise(self, picture: bytes) -> list[Block]:
        """The blocks; none when the model says nothing of use twice. Raises ServiceError when it is away or refuses."""
        await ask_leave()
        for _ in range(TRIES):
            try:
                return self._read(await self._guarded(picture))
            except ModelNonsense as nonsense:
                trouble = nonsense
            except ModelError as error:
                raise _service_error(error) from error
        structlog.get_logger().warning("vision.nonsense", model=self._settings.model, reason=str(trouble))
        return []

    def _read(self, answer: str) -> list[Block]:
        fenced = FENCE.match(answer.strip())
        text = (fenced["inside"] if fenced else answer).strip()
        return [] if text == self._settings.no_text else list(self._to_blocks(text))

    async def _guarded(self, picture: bytes) -> str:
        """After a rest every page that is being read may ask, not only the first: they are few, and a page that is
        refused ends the reading of its document. Raises ModelError."""
        if self._breaker.is_open:
            raise ModelAway("it rests")
        try:
            answer = await self._ask(picture)
        except ModelError as error:
            if isinstance(error, ModelAway):
                self._breaker.failed()
            else:
                self._breaker.succeeded()
            self._heard(ModelCall(model=self._settings.model, problem=type(error).__name__))
            raise
        self._breaker.succeeded()
        return answer

    async def _ask(self, picture: bytes) -> str:
        from adapters.llm.client import (
            PATH,  # with the SDK, which takes seconds to import
            model_errors,
        )

        started = time.monotonic()
        kind = "png" if picture.startswith(PNG_MAGIC) else "jpeg"
        address = f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"
        with model_errors():
            async with asyncio.timeout(self._settings.timeout_s):
                reply = as_reply(await self._sdk.post(PATH, cast_to=object, body=self._body(address)))
        if tokens := tokens_of(reply):
            note_usage(prompt_tokens=tokens.prompt, answer_tokens=tokens.answer, cost=tokens.cost)
            self._heard(tokens.as_call(self._settings.model, seconds=time.monotonic() - started))
        return text_of(reply)

    def _body(self, address: str) -> Mapping[str, object]:
        return {
            "model": self._settings.model,
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
            "messages": [
                {"role": "system", "content": self._settings.prompt},
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": address}}]},
            ],
        }


def _service_error(error: ModelError) -> ServiceError:
    code = FailureCode.SERVICE_AWAY if isinstance(error, ModelAway) else FailureCode.SERVICE_REFUSED
    return ServiceError(code, service=SERVICE, detail=str(error))


@asynccontextmanager
async def open_vision(
    *,
    base_url: str,
    api_key: str | None,
    settings: VisionSettings,
    to_blocks: ToBlocks,
    heard: Callable[[ModelCall], None] = unheard,
) -> AsyncIterator[VisionRecognizer]:
    """A recogniser for the time of the block; nothing is sent until a picture comes."""
    from adapters.llm import open_sdk  # with the SDK, which takes seconds to import

    async with open_sdk(base_url=base_url, api_key=api_key, timeout_s=settings.timeout_s) as sdk:
        yield VisionRecognizer(sdk, settings, to_blocks, heard=heard)

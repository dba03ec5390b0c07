"""Reads pictures with a chat model that can see; meets `ingestion.ports.Recognizer`.

In: a JPEG or PNG. Out: blocks of what the model transcribes as Markdown. What stands in the picture is data: the
answer is stored as the document's text and never acted upon.
"""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from ingestion.errors import FailureCode, ServiceError
from ingestion.records import Block
from rag.errors import ModelAway, ModelError, ModelNonsense

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

    def __init__(self, sdk: "openai.AsyncOpenAI", settings: VisionSettings, to_blocks: ToBlocks) -> None:
        self._sdk = sdk
        self._settings = settings
        self._to_blocks = to_blocks

    async def recognise(self, picture: bytes) -> list[Block]:
        """Raises ServiceError when the model is away, refuses, or says nothing of use twice."""
        for _ in range(TRIES):
            try:
                return self._read(await self._ask(picture))
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

    async def _ask(self, picture: bytes) -> str:
        from adapters.llm.errors import model_errors  # with the SDK, which takes seconds to import

        kind = "png" if picture.startswith(PNG_MAGIC) else "jpeg"
        address = f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"
        with model_errors():
            async with asyncio.timeout(self._settings.timeout_s):
                completion = await self._sdk.chat.completions.create(
                    model=self._settings.model,
                    temperature=0,
                    max_tokens=MAX_TOKENS,
                    messages=[
                        {"role": "system", "content": self._settings.prompt},
                        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": address}}]},
                    ],
                )
        choices = getattr(completion, "choices", None)  # the SDK hands through whatever came
        if not choices or not choices[0].message or not choices[0].message.content:
            raise ModelNonsense("an empty answer")
        return str(choices[0].message.content)


def _service_error(error: ModelError) -> ServiceError:
    code = FailureCode.SERVICE_AWAY if isinstance(error, ModelAway) else FailureCode.SERVICE_REFUSED
    return ServiceError(code, service=SERVICE, detail=str(error))


@asynccontextmanager
async def open_vision(
    *, base_url: str, api_key: str | None, settings: VisionSettings, to_blocks: ToBlocks
) -> AsyncIterator[VisionRecognizer]:
    """A recogniser for the time of the block; nothing is sent until a picture comes."""
    from adapters.llm.opening import open_sdk  # with the SDK, which takes seconds to import

    async with open_sdk(base_url=base_url, api_key=api_key, timeout_s=settings.timeout_s) as sdk:
        yield VisionRecognizer(sdk, settings, to_blocks)

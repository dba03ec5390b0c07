"""Reads pictures with a chat model that can see; meets `ingestion.ports.Recognizer`.

In: a JPEG or PNG. Out: blocks of what the model transcribes as Markdown. What stands in the picture is data: the
answer is stored as the document's text and never acted upon. A model that does not answer is left alone for a while.
"""

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from adapters.llm.fallback import FallbackModel
from ingestion.errors import FailureCode, ServiceError
from ingestion.records import Block
from rag.metering import ask_leave
from rag.ports import ModelAway, ModelError, ModelNonsense
from rag.records import ChatMessage

SERVICE = "vision"
MAX_TOKENS = 4_000  # a page of small print in Russian has 3,000
FENCE = re.compile(r"\A```\w*\n(?P<inside>.*?)\n?```\s*\Z", re.DOTALL)
TRIES = 2  # an answer that is cut off or empty is asked for once more


@dataclass(frozen=True, kw_only=True)
class VisionRecognizer:
    """One model that can see. Pages are read side by side, and one that is refused ends the reading of its document: so
    after a rest all of them may ask (`tries_alone=False` of `open_chat_model`)."""

    model: FallbackModel
    prompt: str
    no_text: str  # what the prompt has the model answer when there is nothing to read
    to_blocks: Callable[[str], Sequence[Block]]

    async def recognise(self, picture: bytes) -> list[Block]:
        """The blocks; none when the model says nothing of use twice. Raises ServiceError when it is away or refuses."""
        await ask_leave()
        kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
        address = f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"
        rules = ChatMessage(role="system", content=self.prompt)
        for _ in range(TRIES):
            try:
                answer = await self.model.complete([rules, ChatMessage(role="user", picture=address)])
                fenced = FENCE.match(answer.strip())
                text = (fenced["inside"] if fenced else answer).strip()
                return [] if text == self.no_text else list(self.to_blocks(text))
            except ModelNonsense as nonsense:
                trouble = nonsense
            except ModelError as error:
                code = FailureCode.SERVICE_AWAY if isinstance(error, ModelAway) else FailureCode.SERVICE_REFUSED
                raise ServiceError(code, service=SERVICE, detail=str(error)) from error
        structlog.get_logger().warning("vision.nonsense", model=self.model.name, reason=str(trouble))
        return []

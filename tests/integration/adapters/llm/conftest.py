"""Chat models over HTTP against a scripted server."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from adapters.llm.fallback import FallbackModel, open_chat_model
from rag.metering import ModelCall, unheard
from rag.records import ChatMessage
from tests.servers.llm import MODEL, LlmServer

TIMEOUT_S = 60.0  # no test waits for so long, and no answer is given up because the machine is busy
IMPATIENT_S = 1.0  # for answers that never come
MESSAGES = [ChatMessage(role="system", content="Отвечай."), ChatMessage(role="user", content="Где диск?")]


@asynccontextmanager
async def model_of(
    server: LlmServer,
    *names: str,
    api_key: str | None = None,
    timeout_s: float = TIMEOUT_S,
    heard: Callable[[ModelCall], None] = unheard,
) -> AsyncIterator[FallbackModel]:
    """A model of this server, or several as one."""
    async with open_chat_model(
        base_url=server.url,
        api_key=api_key,
        models=names or (MODEL,),
        temperature=0.3,
        max_tokens=100,
        timeout_s=timeout_s,
        heard=heard,
    ) as model:
        yield model

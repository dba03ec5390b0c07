"""A chat model behind any OpenAI-compatible server: OpenRouter, OpenAI, Ollama, vLLM, llama.cpp.

In: calls of `rag.ports.ChatModel`. Out: text, pieces of it, or a pydantic record; `rag.ports.ModelError`. Open it with
`adapters.llm.open_chat_model`, which imports the SDK only then: that takes a second or two.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from rag.metering import ModelCall, unheard

if TYPE_CHECKING:
    from adapters.llm.fallback import FallbackModel

PLACEHOLDER_KEY = "none"  # the SDK insists on a key; Ollama and llama.cpp ignore it
CONNECT_S = 10.0
RETRIES = 2  # the SDK's own: 408, 409, 429, 5xx and broken connections, 0.5-8 s apart or as Retry-After says


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
) -> AsyncIterator["FallbackModel"]:
    """`timeout_s` bounds a whole answer with its retries (`complete`), and each wait for a piece (`stream`). `heard`
    receives each call that was answered or failed; `tries_alone` see `CircuitBreaker`."""
    # The SDK takes 1-3 s to import, and `baza` without a chat model never needs it.
    import httpx2
    import openai

    from adapters.llm.client import OpenAIChatModel, is_openrouter
    from adapters.llm.fallback import FallbackModel

    async with openai.AsyncOpenAI(
        base_url=base_url,
        api_key=api_key or PLACEHOLDER_KEY,
        max_retries=RETRIES,
        timeout=httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),  # from byte to byte
        default_headers={"X-OpenRouter-Title": "Baza"} if is_openrouter(base_url) else {},
        http_client=openai.DefaultAioHttpClient(),  # a fifth less processor time for each call
    ) as sdk:
        asked = partial(
            OpenAIChatModel, sdk, temperature=temperature, max_tokens=max_tokens, timeout_s=timeout_s, heard=heard
        )
        yield FallbackModel(map(asked, models), tries_alone=tries_alone)

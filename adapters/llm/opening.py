"""Opens a chat model for the time of a block.

In: an address, a key, a model and its settings. Out: an `OpenAIChatModel`. Nothing is sent until something is asked.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.llm.client import OpenAIChatModel

PLACEHOLDER_KEY = "none"  # the SDK insists on a key; Ollama and llama.cpp ignore it
CONNECT_S = 10.0
RETRIES = 2  # the SDK's own: 408, 409, 429, 5xx and broken connections, 0.5-8 s apart or as Retry-After says


@asynccontextmanager
async def open_chat_model(
    *, base_url: str, api_key: str | None, model: str, temperature: float, max_tokens: int, timeout_s: float
) -> AsyncIterator["OpenAIChatModel"]:
    """`timeout_s` bounds a whole answer with its retries (`complete`), and each wait for a piece (`stream`)."""
    # The SDK takes 1-3 s to import, and `baza` without a chat model never needs it.
    import httpx2
    import openai

    from adapters.llm.client import CallSettings, OpenAIChatModel
    from adapters.llm.providers import extra_headers

    async with openai.AsyncOpenAI(
        base_url=base_url,
        api_key=api_key or PLACEHOLDER_KEY,
        max_retries=RETRIES,
        timeout=httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
        default_headers=extra_headers(base_url),
    ) as sdk:
        settings = CallSettings(model=model, temperature=temperature, max_tokens=max_tokens, timeout_s=timeout_s)
        yield OpenAIChatModel(sdk, settings)

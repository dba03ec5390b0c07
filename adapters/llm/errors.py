"""Translates what the SDK and its HTTP library raise into `rag.errors`.

In: a block that calls the SDK. Out: ModelAway, ModelRefused or ModelNonsense with the status and the provider's code.
Providers' sentences are left out: they quote prompts and parts of keys.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import httpx2
import openai

from rag.errors import ModelAway, ModelError, ModelNonsense, ModelRefused

_AWAY = frozenset({408, 409, 425, 429})  # and every 5xx
UNSUPPORTED = frozenset({400, 404, 422, 501})
"""Statuses of a server that does not know a `response_format` (OpenRouter: 404, no provider takes it)."""


class RequestRejected(ModelRefused):
    """The server does not take this request: a parameter it does not know, too long a prompt, an unknown model."""


@contextmanager
def model_errors() -> Iterator[None]:
    """Whatever goes wrong inside leaves as a ModelError."""
    try:
        yield
    except openai.APIStatusError as error:
        raise _of_status(error) from error
    except (TimeoutError, openai.APIConnectionError, httpx2.HTTPError, aiohttp.ClientError) as error:
        raise ModelAway(type(error).__name__) from error
    except openai.APIError as error:  # an error object inside a stream: the provider broke off
        raise ModelAway(f"in mid-stream: {error.code or error.type or type(error).__name__}") from error
    except ValueError as error:  # a body or a piece of the stream that is not JSON, or has another shape
        raise ModelNonsense(type(error).__name__) from error


def _of_status(error: openai.APIStatusError) -> ModelError:
    said = f"HTTP {error.status_code} {error.code or error.type or ''}".strip()
    if error.status_code in UNSUPPORTED:
        return RequestRejected(said)
    return ModelAway(said) if error.status_code in _AWAY or error.status_code >= 500 else ModelRefused(said)

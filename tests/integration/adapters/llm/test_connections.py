"""The way to a chat server: connections that are kept, the proxy of the environment."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from tests.integration.adapters.llm.conftest import MESSAGES, model_of
from tests.servers.llm import LlmServer, serve_llm
from tests.servers.scripted import listen

TEXT = "Диск создаётся за 5 минут."


@asynccontextmanager
async def _proxy(seen: list[str]) -> AsyncIterator[str]:
    """Answers in place of whatever it is asked for."""

    async def answer(request: web.Request) -> web.Response:
        seen.append(f"{request.headers['Host']}{request.path}")
        return web.json_response({"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]})

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with listen(application) as address:
        yield address


async def test_calls_one_after_the_other_share_a_connection() -> None:
    async with serve_llm(reply=lambda _: TEXT) as server, model_of(server) as model:
        for _ in range(3):
            await model.complete(MESSAGES)
            assert "".join([piece async for piece in model.stream(MESSAGES)]) == TEXT
    assert len(server.connections) == 1


async def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "")
    seen: list[str] = []
    async with _proxy(seen) as address:
        monkeypatch.setenv("http_proxy", address)
        elsewhere = LlmServer(reply=lambda _: TEXT, key=None, formats=frozenset(), url="http://llm.invalid/v1")
        async with model_of(elsewhere) as model:
            assert await model.complete(MESSAGES) == TEXT
    assert seen == ["llm.invalid/v1/chat/completions"]

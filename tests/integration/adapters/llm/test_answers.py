"""Whole and streamed answers of a chat model over HTTP."""

from contextlib import aclosing

import pytest

from rag.ports import ChatModel, ModelAway
from tests.integration.adapters.llm.conftest import MESSAGES, model_of
from tests.servers.llm import MODEL, Streamed, serve_llm
from tests.waiting import until

TEXT = "Диск создаётся в разделе «Хранилища», за 5 минут.\n\nГотово."


async def test_it_meets_the_port() -> None:
    async with serve_llm() as server, model_of(server) as model:
        port: ChatModel = model
        assert port.name == MODEL


async def test_a_whole_answer_comes_as_it_is() -> None:
    async with serve_llm(reply=[TEXT]) as server, model_of(server) as model:
        assert await model.complete(MESSAGES) == TEXT


async def test_the_request_says_what_was_set() -> None:
    async with serve_llm(reply=[TEXT]) as server, model_of(server) as model:
        await model.complete(MESSAGES)
    request = server.requests[0]
    assert (request.model, request.temperature, request.max_tokens, request.stream) == (MODEL, 0.3, 100, False)
    assert [(message.role, message.content) for message in request.messages] == [
        ("system", "Отвечай."),
        ("user", "Где диск?"),
    ]
    assert request.provider is None
    assert "X-OpenRouter-Title" not in server.headers[0]


async def test_a_key_is_sent() -> None:
    async with serve_llm(reply=[TEXT], key="llm_key") as server, model_of(server, api_key="llm_key") as model:
        assert await model.complete(MESSAGES) == TEXT


async def test_a_server_without_keys_is_asked_without_one() -> None:
    async with serve_llm(reply=[TEXT]) as server, model_of(server, api_key=None) as model:
        assert await model.complete(MESSAGES) == TEXT


@pytest.mark.parametrize(
    "answer",
    [
        TEXT,
        Streamed(text=TEXT, usage=False),  # no usage at the end
        Streamed(text=TEXT, thoughts="Хм, пусть подумаю."),  # reasoning before the text
    ],
)
async def test_a_streamed_answer_comes_in_pieces(answer: str | Streamed) -> None:
    async with serve_llm(reply=[answer]) as server, model_of(server) as model:
        pieces = [piece async for piece in model.stream(MESSAGES)]
    assert "".join(pieces) == TEXT
    assert len(pieces) > 5
    assert server.requests[0].stream_options == {"include_usage": True}


async def test_a_slow_stream_may_take_longer_than_the_timeout_in_all() -> None:
    slow = Streamed(text=TEXT, pause_s=0.3)
    async with serve_llm(reply=[slow]) as server, model_of(server, timeout_s=2) as model:
        assert "".join([piece async for piece in model.stream(MESSAGES)]) == TEXT


async def test_a_reader_who_leaves_early_stops_the_server() -> None:
    endless = Streamed(text="слово " * 200, pause_s=0.02)
    async with serve_llm(reply=[endless]) as server, model_of(server) as model:
        async with aclosing(model.stream(MESSAGES)) as pieces:
            assert (await anext(pieces)).strip() == "слово"
        await until(lambda: server.left_early == 1)


async def test_a_server_that_ignores_the_length_is_left() -> None:
    endless = Streamed(text="слово " * 1000)
    async with serve_llm(reply=[endless]) as server, model_of(server) as model:
        with pytest.raises(ModelAway, match="max_tokens"):
            _ = [piece async for piece in model.stream(MESSAGES)]

"""Every way in which a chat model fails, over HTTP."""

import asyncio

import pytest

from rag.ports import ChatModel, ModelAway, ModelError, ModelNonsense, ModelRefused
from rag.records import ChatMessage
from tests.integration.adapters.llm.conftest import IMPATIENT_S, MESSAGES, TIMEOUT_S, model_of
from tests.servers.llm import (
    FORBIDDEN,
    NO_SUCH_MODEL,
    PAYMENT_REQUIRED,
    UNAUTHORIZED,
    Answer,
    Ending,
    Streamed,
    serve_llm,
)
from tests.servers.scripted import BROKEN_JSON, HANG, HTML_PAGE, Scripted, refusal

AT_ONCE = ("retry-after-ms", "5")  # the SDK keeps to it, so that tests need not wait
BOOM = refusal(500, {"error": {"message": "boom"}}, AT_ONCE)
LIMITED = refusal(429, {"error": {"message": "Rate limit", "code": "rate_limited"}}, AT_ONCE)
GONE = Scripted(status=503, headers=(AT_ONCE,))


async def ask(model: ChatModel, *, streamed: bool) -> str:
    if streamed:
        return "".join([piece async for piece in model.stream(MESSAGES)])
    return await model.complete(MESSAGES)


async def listen_to(model: ChatModel) -> tuple[list[str], ModelError | None]:
    """The pieces that came, and how it ended."""
    pieces: list[str] = []
    try:
        async for piece in model.stream(MESSAGES):
            pieces.append(piece)  # noqa: PERF401 - a comprehension would lose them with the error
    except ModelError as error:
        return pieces, error
    return pieces, None


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("answer", [UNAUTHORIZED, PAYMENT_REQUIRED, FORBIDDEN, NO_SUCH_MODEL])
async def test_a_refusal_is_not_tried_again(answer: Scripted, streamed: bool) -> None:
    async with serve_llm(reply=[answer, "поздно"]) as server, model_of(server) as model:
        with pytest.raises(ModelRefused) as caught:
            await ask(model, streamed=streamed)
    assert len(server.requests) == 1
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("answer", [BOOM, LIMITED, GONE])
async def test_a_failure_that_passes_is_tried_again(answer: Scripted, streamed: bool) -> None:
    async with serve_llm(reply=[answer, answer, "готово"]) as server, model_of(server) as model:
        assert await ask(model, streamed=streamed) == "готово"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("answer", [BOOM, LIMITED, GONE])
async def test_a_failure_that_lasts_is_given_up(answer: Scripted, streamed: bool) -> None:
    async with serve_llm(reply=[answer] * 5) as server, model_of(server) as model:
        with pytest.raises(ModelAway):
            await ask(model, streamed=streamed)
    assert len(server.requests) == 3


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("answer", [HANG, refusal(429, {}, ("Retry-After", "100"))])
async def test_nobody_waits_for_longer_than_the_timeout(answer: Scripted, streamed: bool) -> None:
    async with serve_llm(reply=[answer] * 3) as server, model_of(server, timeout_s=IMPATIENT_S) as model:
        async with asyncio.timeout(50):  # half of what is asked for
            with pytest.raises(ModelAway):
                await ask(model, streamed=streamed)
    assert len(server.requests) <= 1  # none, where the SDK itself took so long to begin


async def test_a_server_that_is_not_there_is_away() -> None:
    async with serve_llm() as server:
        pass
    async with model_of(server, timeout_s=1) as model:
        with pytest.raises(ModelAway):
            await model.complete(MESSAGES)


async def test_half_a_character_is_sent_to_nobody() -> None:
    half = [ChatMessage(role="user", content="да \ud83d")]
    async with serve_llm(reply="никогда") as server, model_of(server) as model:
        with pytest.raises(ModelNonsense):
            await model.complete(half)
        with pytest.raises(ModelNonsense):
            await anext(aiter(model.stream(half)))
    assert server.requests == []


@pytest.mark.parametrize("answer", ["", "  \n", HTML_PAGE, BROKEN_JSON, Scripted(body="[]"), Scripted(body="{}")])
async def test_an_answer_without_text_is_nonsense(answer: Answer) -> None:
    async with serve_llm(reply=[answer]) as server, model_of(server) as model:
        with pytest.raises(ModelNonsense):
            await model.complete(MESSAGES)


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        (Ending.CUT, ModelAway),
        (Ending.STOPPED, ModelAway),
        (Ending.STALL, ModelAway),
        (Ending.ERROR, ModelAway),
        (Ending.BROKEN, ModelNonsense),
    ],
)
async def test_what_came_before_the_break_is_kept(ending: Ending, kind: type[ModelError]) -> None:
    broken = Streamed(text="Начало ответа", ending=ending)
    patience_s = IMPATIENT_S * 2 if ending is Ending.STALL else TIMEOUT_S
    async with serve_llm(reply=[broken]) as server, model_of(server, timeout_s=patience_s) as model:
        pieces, error = await listen_to(model)
    assert "".join(pieces) == "Начало ответа"
    assert type(error) is kind


@pytest.mark.parametrize("answer", [Streamed(text=""), Streamed(text="", thoughts="только мысли")])
async def test_a_stream_without_text_is_nonsense(answer: Streamed) -> None:
    async with serve_llm(reply=[answer]) as server, model_of(server) as model:
        with pytest.raises(ModelNonsense):
            await ask(model, streamed=True)


async def test_a_web_page_in_place_of_a_stream_is_no_answer() -> None:
    async with serve_llm(reply=[HTML_PAGE]) as server, model_of(server) as model:
        with pytest.raises(ModelError):
            await ask(model, streamed=True)

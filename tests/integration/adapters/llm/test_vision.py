"""A chat model that reads pictures, over HTTP against a scripted server."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from adapters.llm.fallback import FAILURES, REST_S, RETRIES, open_chat_model
from adapters.llm.vision import MAX_TOKENS, VisionRecognizer
from bot.models import NO_TEXT
from ingestion.errors import FailureCode, ServiceError
from ingestion.parsers.markdown import parse_markdown
from ingestion.records import Block, BlockKind
from prompts.loader import load_prompts
from rag.metering import ModelCall, unheard
from tests.servers.llm import NO_SUCH_MODEL, PAYMENT_REQUIRED, UNAUTHORIZED, LlmServer, serve_llm
from tests.servers.scripted import BROKEN_JSON, HANG, Scripted, refusal

JPEG = b"\xff\xd8\xff\xe0 a picture"
PROMPT = load_prompts().transcribe
LIMITED = refusal(429, {"error": {"message": "Rate limit"}}, ("retry-after-ms", "5"))
GONE = Scripted(status=503, headers=(("retry-after-ms", "5"),))


def _to_blocks(text: str) -> Sequence[Block]:
    return parse_markdown(text, name="").blocks


@asynccontextmanager
async def _vision(
    server: LlmServer, *, timeout_s: float = 60, heard: Callable[[ModelCall], None] = unheard
) -> AsyncIterator[VisionRecognizer]:
    async with open_chat_model(
        base_url=server.url,
        api_key=None,
        models=("seer",),
        temperature=0,
        max_tokens=MAX_TOKENS,
        timeout_s=timeout_s,
        tries_alone=False,
        heard=heard,
    ) as model:
        yield VisionRecognizer(model=model, prompt=PROMPT, no_text=NO_TEXT, to_blocks=_to_blocks)


async def test_the_picture_is_sent_and_the_answer_becomes_blocks() -> None:
    answer = "# Смета\n\n| Товар | Цена |\n| --- | --- |\n| Стол | 1 200 |\n\nИтого 1 200 ₽"
    async with serve_llm(reply=[answer]) as server, _vision(server) as vision:
        blocks = await vision.recognise(JPEG)
    assert [block.kind for block in blocks] == [BlockKind.HEADING, BlockKind.TABLE, BlockKind.PARAGRAPH]
    system, user = server.requests[0].messages
    address = user.images[0].image_url.url
    assert (server.requests[0].model, system.content) == ("seer", PROMPT)
    assert base64.b64decode(address.removeprefix("data:image/jpeg;base64,")) == JPEG


@pytest.mark.parametrize("answer", [NO_TEXT, f"```markdown\n{NO_TEXT}\n```"])
async def test_no_text_is_no_blocks(answer: str) -> None:
    async with serve_llm(reply=[answer]) as server, _vision(server) as vision:
        assert await vision.recognise(JPEG) == []


async def test_a_fence_around_the_answer_is_no_text() -> None:
    async with serve_llm(reply=["```\nПривет\n```"]) as server, _vision(server) as vision:
        assert [block.text for block in await vision.recognise(JPEG)] == ["Привет"]


async def test_the_prompt_names_the_answer_for_nothing() -> None:
    assert PROMPT.endswith(NO_TEXT)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (PAYMENT_REQUIRED, FailureCode.SERVICE_REFUSED),
        (UNAUTHORIZED, FailureCode.SERVICE_REFUSED),
        (NO_SUCH_MODEL, FailureCode.SERVICE_REFUSED),
        (LIMITED, FailureCode.SERVICE_AWAY),
        (GONE, FailureCode.SERVICE_AWAY),
    ],
)
async def test_a_service_in_trouble_is_said_so(answer: Scripted, code: FailureCode) -> None:
    async with serve_llm(reply=lambda _: answer) as server, _vision(server) as vision:
        with pytest.raises(ServiceError) as caught:
            await vision.recognise(JPEG)
    assert (caught.value.code, caught.value.params) == (code, {"service": "vision"})


async def test_a_service_that_says_nothing_is_away() -> None:
    async with serve_llm(reply=lambda _: HANG) as server, _vision(server, timeout_s=1) as vision:
        with pytest.raises(ServiceError) as caught:
            await vision.recognise(JPEG)
    assert caught.value.code is FailureCode.SERVICE_AWAY


async def test_an_answer_without_sense_is_asked_for_once_more() -> None:
    async with serve_llm(reply=[BROKEN_JSON, "Привет"]) as server, _vision(server) as vision:
        assert [block.text for block in await vision.recognise(JPEG)] == ["Привет"]


async def test_a_page_that_the_model_says_nothing_of_has_no_words() -> None:
    async with serve_llm(reply=["", ""]) as server, _vision(server) as vision:
        assert await vision.recognise(JPEG) == []


async def test_each_answer_is_told_with_its_tokens_and_seconds() -> None:
    heard: list[ModelCall] = []
    async with serve_llm(reply=["", "Привет"]) as server, _vision(server, heard=heard.append) as vision:
        await vision.recognise(JPEG)
    (empty, problem, read) = heard  # an answer without words has cost its tokens all the same
    assert [(call.model, call.problem) for call in heard] == [("seer", ""), ("seer", "ModelNonsense"), ("seer", "")]
    assert min(empty.prompt_tokens, read.prompt_tokens, read.answer_tokens) > 0
    assert min(empty.seconds, read.seconds) > 0
    assert problem.prompt_tokens == 0


async def test_a_model_that_is_away_is_left_alone_after_three_failures() -> None:
    heard: list[ModelCall] = []
    async with serve_llm(reply=lambda _: GONE) as server, _vision(server, heard=heard.append) as vision:
        for _ in range(5):
            with pytest.raises(ServiceError) as caught:
                await vision.recognise(JPEG)
            assert caught.value.code is FailureCode.SERVICE_AWAY
        assert vision.model.resting == {"seer": True}
    assert [call.problem for call in heard] == ["ModelAway"] * FAILURES


async def test_after_its_rest_all_pages_ask_again_and_one_answer_ends_it() -> None:
    async with serve_llm(reply=lambda _: "Привет") as server, _vision(server) as vision:
        server.script(*[GONE] * (RETRIES + 1) * FAILURES)
        for _ in range(FAILURES):
            with pytest.raises(ServiceError):
                await vision.recognise(JPEG)
        assert vision.model.resting == {"seer": True}
        vision.model._models[0][1]._opened_at -= REST_S
        pages = await asyncio.gather(vision.recognise(JPEG), vision.recognise(JPEG))
        assert [[block.text for block in page] for page in pages] == [["Привет"]] * 2
        assert vision.model.resting == {"seer": False}


async def test_a_refusal_is_no_silence() -> None:
    async with serve_llm(reply=lambda _: UNAUTHORIZED) as server, _vision(server) as vision:
        for _ in range(FAILURES + 1):
            with pytest.raises(ServiceError) as caught:
                await vision.recognise(JPEG)
            assert caught.value.code is FailureCode.SERVICE_REFUSED
        assert vision.model.resting == {"seer": False}

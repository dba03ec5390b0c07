"""Several models as one, over HTTP."""

import pytest
from pydantic import BaseModel

from rag.ports import ChatModel, ModelAway
from tests.integration.adapters.llm.conftest import MESSAGES, model_of
from tests.integration.adapters.llm.test_failures import listen_to
from tests.servers.llm import PAYMENT_REQUIRED, Answer, ChatRequest, Ending, Reply, Streamed, serve_llm
from tests.servers.scripted import Scripted

AT_ONCE = ("retry-after-ms", "5")
GONE = Scripted(status=503, headers=(AT_ONCE,))


class Verdict(BaseModel):
    """Something to ask for in a shape."""

    right: bool


def first_is(trouble: Answer, second: str = "ответ второй") -> Reply:
    def reply(request: ChatRequest) -> Answer:
        return trouble if request.model == "first" else second

    return reply


async def streamed(model: ChatModel) -> str:
    return "".join([piece async for piece in model.stream(MESSAGES)])


@pytest.mark.parametrize("trouble", [GONE, PAYMENT_REQUIRED, Streamed(text="")])
async def test_the_second_answers_when_the_first_does_not(trouble: Answer) -> None:
    async with serve_llm(reply=first_is(trouble)) as server, model_of(server, "first", "second") as model:
        assert await streamed(model) == "ответ второй"
        assert await model.complete(MESSAGES) == "ответ второй"


async def test_a_record_comes_from_the_second_too() -> None:
    reply = first_is(GONE, '{"right": true}')
    async with serve_llm(reply=reply) as server, model_of(server, "first", "second") as model:
        assert (await model.structured(MESSAGES, Verdict)).right


async def test_an_answer_that_has_begun_is_not_begun_by_another() -> None:
    cut = Streamed(text="Половина ответа", ending=Ending.CUT)
    async with serve_llm(reply=first_is(cut)) as server, model_of(server, "first", "second") as model:
        pieces, error = await listen_to(model)
        assert ("".join(pieces), type(error)) == ("Половина ответа", ModelAway)
        assert {request.model for request in server.requests} == {"first"}


async def test_a_model_that_is_away_is_left_alone_after_three_failures() -> None:
    async with serve_llm(reply=first_is(GONE)) as server, model_of(server, "first", "second") as model:
        for _ in range(5):
            await model.complete(MESSAGES)
        asked = [request.model for request in server.requests]
        assert asked.count("second") == 5
        assert asked.count("first") == 3 * 3  # the SDK tries three times each


async def test_when_all_rest_the_person_need_not_wait() -> None:
    async with serve_llm(reply=lambda _: GONE) as server, model_of(server) as model:
        for _ in range(4):
            with pytest.raises(ModelAway):
                await model.complete(MESSAGES)
        assert len(server.requests) == 3 * 3

"""What is told of calls of models: to those who watch over them, and to the turn that made them."""

from contextlib import aclosing

from rag.metering import ModelCall, Usage, begin_metering
from tests.integration.adapters.llm.conftest import MESSAGES, model_of
from tests.integration.adapters.llm.test_fallback import GONE, first_is, streamed
from tests.servers.llm import MODEL, Ending, Streamed, serve_llm

ANSWER = "Диск лежит в сейфе."


async def test_each_answer_is_told_with_its_tokens_and_seconds() -> None:
    heard: list[ModelCall] = []
    usage = begin_metering()
    async with serve_llm(reply=lambda _: ANSWER) as server, model_of(server, heard=heard.append) as model:
        await model.complete(MESSAGES)
        await streamed(model)
    assert [(call.model, call.problem) for call in heard] == [(MODEL, "")] * 2
    assert usage.tokens > 0
    assert sum(call.prompt_tokens + call.answer_tokens for call in heard) == usage.tokens
    assert all(call.seconds > 0 for call in heard)
    assert usage.models.seconds > 0


async def test_a_call_that_failed_is_told_and_the_model_rests_after_three() -> None:
    heard: list[ModelCall] = []
    async with (
        serve_llm(reply=first_is(GONE)) as server,
        model_of(server, "first", "second", heard=heard.append) as model,
    ):
        for _ in range(3):
            await model.complete(MESSAGES)
        assert model.resting == {"first": True, "second": False}
    assert [(call.model, call.problem) for call in heard] == [("first", "ModelAway"), ("second", "")] * 3


async def left_after_two_pieces(answer: Streamed) -> Usage:
    usage = begin_metering()
    async with (
        serve_llm(reply=lambda _: answer) as server,
        model_of(server) as model,
        aclosing(model.stream(MESSAGES)) as pieces,
    ):
        await anext(pieces)
        await anext(pieces)
    return usage


async def test_an_answer_that_was_left_early_is_counted_by_an_estimate() -> None:
    usage = await left_after_two_pieces(Streamed(text=ANSWER, ending=Ending.STALL))
    assert (usage.calls, usage.prompt_tokens, usage.answer_tokens) == (1, 6, 4)


async def test_an_answer_that_was_left_early_is_counted_as_far_as_the_server_told() -> None:
    usage = await left_after_two_pieces(Streamed(text=ANSWER, ending=Ending.STALL, usage_with_each=True))
    assert (usage.calls, usage.prompt_tokens, usage.answer_tokens) == (1, 3, 2)


async def test_usage_that_is_told_with_each_piece_is_counted_once() -> None:
    usage = begin_metering()
    answer = Streamed(text=ANSWER, usage_with_each=True)
    async with serve_llm(reply=lambda _: answer) as server, model_of(server) as model:
        await streamed(model)
    assert (usage.calls, usage.prompt_tokens, usage.answer_tokens) == (1, 3, 4)

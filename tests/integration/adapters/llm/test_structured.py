"""Records from chat models over HTTP: the ladder, and the one chance to correct."""

import pytest
from pydantic import BaseModel

from adapters.llm.client import STRICT_AGAIN
from rag.ports import ModelAway, ModelMisfit, ModelNonsense, ModelRefused
from tests.integration.adapters.llm.conftest import IMPATIENT_S, MESSAGES, model_of
from tests.servers.llm import FORMATS, Answer, LlmServer, serve_llm
from tests.servers.scripted import HANG, refusal


class Plan(BaseModel):
    query: str
    steps: int


GOOD = '{"query": "диск", "steps": 2}'
PLAN = Plan(query="диск", steps=2)
NO_ENDPOINTS = refusal(404, {"error": {"message": "No endpoints found that can handle the requested parameters"}})


def formats(server: LlmServer) -> list[str | None]:
    return [request.format for request in server.requests]


async def test_a_server_with_schemas_is_given_the_schema_alone() -> None:
    async with serve_llm(reply=[GOOD]) as server, model_of(server) as model:
        assert await model.structured(MESSAGES, Plan) == PLAN
    assert formats(server) == ["json_schema"]
    assert len(server.requests[0].messages) == len(MESSAGES)
    wanted = server.requests[0].response_format
    assert wanted is not None
    assert wanted["json_schema"]["strict"] is True  # type: ignore[index] # JSON, known by construction


async def test_a_server_with_json_alone_gets_the_schema_in_the_prompt() -> None:
    async with serve_llm(reply=[GOOD], formats=frozenset({"json_object"})) as server, model_of(server) as model:
        assert await model.structured(MESSAGES, Plan) == PLAN
    assert formats(server) == ["json_schema", "json_object"]
    assert '"steps"' in server.requests[1].last


async def test_a_server_without_formats_is_asked_in_words() -> None:
    prose = f"Конечно! Вот ответ:\n```json\n{GOOD}\n```"
    async with serve_llm(reply=[prose], formats=frozenset()) as server, model_of(server) as model:
        assert await model.structured(MESSAGES, Plan) == PLAN
    assert formats(server) == ["json_schema", "json_object", None]


async def test_openrouters_404_for_the_schema_steps_down_too() -> None:
    async with serve_llm(reply=[NO_ENDPOINTS, GOOD]) as server, model_of(server) as model:
        assert await model.structured(MESSAGES, Plan) == PLAN
    assert formats(server) == ["json_schema", "json_object"]


async def test_the_rung_that_worked_is_remembered() -> None:
    async with serve_llm(reply=[GOOD, GOOD], formats=frozenset()) as server, model_of(server) as model:
        await model.structured(MESSAGES, Plan)
        await model.structured(MESSAGES, Plan)
    assert formats(server) == ["json_schema", "json_object", None, None]


@pytest.mark.parametrize("wrong", ["Не знаю.", '{"query": "диск"}', "{}"])
async def test_a_misfit_is_shown_to_the_model_once(wrong: str) -> None:
    async with serve_llm(reply=[wrong, GOOD]) as server, model_of(server) as model:
        assert await model.structured(MESSAGES, Plan) == PLAN
    answered, shown = server.requests[1].messages[-2:]
    assert (answered.role, answered.content) == ("assistant", wrong)
    assert "does not fit" in shown.content


async def test_the_model_is_told_which_field_is_wrong() -> None:
    async with serve_llm(reply=['{"query": "диск", "steps": "много"}', GOOD]) as server, model_of(server) as model:
        await model.structured(MESSAGES, Plan)
    assert "- steps: " in server.requests[1].last


async def test_a_second_misfit_is_nonsense() -> None:
    async with serve_llm(reply=["нет", "нет", GOOD]) as server, model_of(server) as model:
        with pytest.raises(ModelNonsense):
            await model.structured(MESSAGES, Plan)
    assert len(server.requests) == 2


async def test_broken_json_is_mended_without_asking_again() -> None:
    async with serve_llm(reply=["{'query': 'диск', 'steps': 2,"]) as server, model_of(server) as model:
        assert await model.structured(MESSAGES, Plan) == PLAN
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "kind", "requests"),
    [
        (refusal(403, {"error": {"message": "no"}}), ModelRefused, 1),
        (refusal(404, {"error": {"message": "no such model"}}), ModelRefused, 3),  # down to the last rung
        ("", ModelNonsense, 1),
    ],
)
async def test_failures_are_errors_of_a_model(answer: Answer, kind: type[Exception], requests: int) -> None:
    async with serve_llm(reply=[answer] * 5) as server, model_of(server) as model:
        with pytest.raises(kind):
            await model.structured(MESSAGES, Plan)
    assert len(server.requests) == requests


async def test_an_answer_that_never_comes_is_not_asked_for_again() -> None:
    async with serve_llm(reply=[HANG] * 5) as server, model_of(server, timeout_s=IMPATIENT_S) as model:
        with pytest.raises(ModelAway):
            await model.structured(MESSAGES, Plan)
    assert len(server.requests) <= 1  # none, where the SDK itself took so long to begin


async def test_a_refused_model_does_not_change_the_rung() -> None:
    refused = [refusal(404, {"error": {"message": "no such model"}})] * 3
    async with serve_llm(reply=[*refused, GOOD]) as server, model_of(server) as model:
        with pytest.raises(ModelRefused):
            await model.structured(MESSAGES, Plan)
        await model.structured(MESSAGES, Plan)
    assert formats(server)[-1] == "json_schema"


async def test_a_misfit_is_handed_back_to_whoever_wants_to_correct_it() -> None:
    async with serve_llm(reply=['{"query": "диск"}', GOOD]) as server, model_of(server) as model:
        with pytest.raises(ModelMisfit) as misfit:
            await model.structured(MESSAGES, Plan, corrected=False)
    assert len(server.requests) == 1
    assert (misfit.value.answer, "- steps: " in misfit.value.problems) == ('{"query": "диск"}', True)


async def test_a_misfit_leaves_the_rung_that_the_server_took() -> None:
    async with serve_llm(reply=["нет", GOOD], formats=frozenset()) as server, model_of(server) as model:
        with pytest.raises(ModelMisfit):
            await model.structured(MESSAGES, Plan, corrected=False)
        await model.structured(MESSAGES, Plan, corrected=False)
    assert formats(server) == ["json_schema", "json_object", None, None]


async def test_a_model_that_ignores_the_schema_is_told_it_in_words_for_a_while_and_never_twice() -> None:
    answers = STRICT_AGAIN + 2
    async with serve_llm(reply=["нет", *[GOOD] * answers], formats=FORMATS) as server, model_of(server) as model:
        for _ in range(answers):
            await model.structured(MESSAGES, Plan)
    in_words = ['"steps"' in "".join(each.content for each in request.messages) for request in server.requests]
    assert in_words == [False, *[True] * STRICT_AGAIN, *[False] * (answers - STRICT_AGAIN)]
    assert [each == "json_schema" for each in formats(server)] == [not each for each in in_words]

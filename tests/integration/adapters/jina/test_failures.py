"""Every way in which Jina fails, over HTTP, as ingestion and as a turn see it."""

import asyncio

import pytest

from adapters import jina as jina_client
from adapters.jina import TIERS, JinaClient, JinaEmbedder, Tier, open_jina
from ingestion.errors import FailureCode, ServiceError, WindowTooLarge
from rag.ports import ModelAway, ModelError, ModelNonsense, ModelRefused
from tests.integration.adapters.jina.conftest import MODEL, TIMEOUT_S
from tests.servers.jina import (
    INSUFFICIENT_BALANCE,
    KEY,
    NOT_FINITE,
    PAYMENT_REQUIRED,
    UNAUTHORIZED,
    WRONG_COUNT,
    WRONG_DIMENSION,
    ZEROS,
    JinaServer,
    Spoiled,
    serve_jina,
)
from tests.servers.scripted import (
    BAD_GATEWAY,
    BROKEN_JSON,
    HANG,
    HTML_PAGE,
    SERVER_ERROR,
    UNAVAILABLE,
    Scripted,
    too_many_requests,
)
from tests.unit.adapters.windows import window_of
from tests.waiting import until

WINDOW = window_of("первый", "второй")
GARBAGE = [BROKEN_JSON, HTML_PAGE, WRONG_COUNT, WRONG_DIMENSION, NOT_FINITE, ZEROS]


async def failure_of_windows(embedder: JinaEmbedder) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        await embedder.embed_windows([WINDOW])
    return caught.value


@pytest.mark.parametrize("refusal", [UNAUTHORIZED, PAYMENT_REQUIRED, INSUFFICIENT_BALANCE])
async def test_a_refused_account_is_not_asked_again(
    jina: JinaServer, embedder: JinaEmbedder, refusal: Scripted
) -> None:
    jina.script(refusal)
    assert (await failure_of_windows(embedder)).code is FailureCode.SERVICE_REFUSED
    assert len(jina.requests) == 1


async def test_a_wrong_key_is_refused(jina: JinaServer) -> None:
    async with open_jina(
        base_url=jina.url, api_key="wrong", timeout_s=TIMEOUT_S, concurrency=1, tier=TIERS["premium"]
    ) as client:
        error = await failure_of_windows(JinaEmbedder(client, model=MODEL))
    assert error.code is FailureCode.SERVICE_REFUSED
    assert "wrong" not in str(error)


@pytest.mark.parametrize("passing", [SERVER_ERROR, BAD_GATEWAY, UNAVAILABLE, too_many_requests("0")])
async def test_a_failure_that_passes_is_tried_again(
    jina: JinaServer, embedder: JinaEmbedder, passing: Scripted
) -> None:
    jina.script(passing, passing)
    assert len((await embedder.embed_windows([WINDOW]))[0]) == 2
    assert len(jina.requests) == 3


async def test_an_answer_that_does_not_come_is_asked_for_again(jina: JinaServer, impatient: JinaClient) -> None:
    jina.script(HANG)
    assert len((await JinaEmbedder(impatient, model=MODEL).embed_windows([WINDOW]))[0]) == 2
    assert len(jina.requests) == 2


async def test_a_failure_that_lasts_is_given_up(jina: JinaServer, embedder: JinaEmbedder) -> None:
    jina.script(*[SERVER_ERROR] * 3)
    assert (await failure_of_windows(embedder)).code is FailureCode.SERVICE_AWAY
    assert len(jina.requests) == 3


async def test_answers_that_never_come_are_given_up(jina: JinaServer, impatient: JinaClient) -> None:
    jina.script(*[HANG] * 3)
    assert (await failure_of_windows(JinaEmbedder(impatient, model=MODEL))).code is FailureCode.SERVICE_AWAY
    assert len(jina.requests) == 3


async def test_a_server_that_is_not_there_is_away() -> None:
    async with serve_jina() as gone:
        url = gone.url
    async with open_jina(base_url=url, api_key=KEY, timeout_s=1, concurrency=1, tier=TIERS["premium"]) as client:
        assert (await failure_of_windows(JinaEmbedder(client, model=MODEL))).code is FailureCode.SERVICE_AWAY


async def test_a_short_retry_after_is_kept_to(jina: JinaServer, embedder: JinaEmbedder) -> None:
    jina.script(too_many_requests("1"))
    await embedder.embed_windows([WINDOW])
    first, second = (request.at_s for request in jina.requests)
    assert second - first >= 1


async def test_a_long_retry_after_is_handed_up(jina: JinaServer, embedder: JinaEmbedder) -> None:
    jina.script(too_many_requests("120"))
    error = await failure_of_windows(embedder)
    assert (error.code, error.retry_after_s) == (FailureCode.SERVICE_AWAY, 120)
    assert len(jina.requests) == 1


async def test_a_question_does_not_wait_for_a_long_retry_after(jina: JinaServer, embedder: JinaEmbedder) -> None:
    jina.script(too_many_requests("25"))  # a document would
    async with asyncio.timeout(20):
        with pytest.raises(ModelAway):
            await embedder.embed_query("вопрос")
    assert len(jina.requests) == 1


@pytest.mark.parametrize("garbage", GARBAGE)
async def test_nonsense_is_asked_for_once_more(
    jina: JinaServer, embedder: JinaEmbedder, garbage: Scripted | Spoiled
) -> None:
    jina.script(garbage)
    assert len((await embedder.embed_windows([WINDOW]))[0]) == 2
    assert len(jina.requests) == 2


@pytest.mark.parametrize("garbage", GARBAGE)
async def test_nonsense_twice_is_given_up(
    jina: JinaServer, embedder: JinaEmbedder, garbage: Scripted | Spoiled
) -> None:
    jina.script(garbage, garbage)
    assert (await failure_of_windows(embedder)).code is FailureCode.SERVICE_AWAY
    assert len(jina.requests) == 2


async def test_too_long_a_window_is_said_to_be_so(jina: JinaServer, embedder: JinaEmbedder) -> None:
    long_text = "слово " * 4500  # two tokens each
    with pytest.raises(WindowTooLarge, match="9000 tokens given"):
        await embedder.embed_windows([window_of("коротко"), window_of(long_text, "")])


async def test_too_many_chunks_are_too_long_a_window(embedder: JinaEmbedder) -> None:
    with pytest.raises(WindowTooLarge):
        await embedder.embed_windows([window_of(*["да"] * 2049)])


async def test_a_wrong_request_is_our_own_mistake_and_quotes_no_text(jina: JinaServer, client: JinaClient) -> None:
    secret = window_of("тайна вклада")
    with pytest.raises(ServiceError) as caught:
        await JinaEmbedder(client, model="no-such-model").embed_windows([secret])
    assert caught.value.code is FailureCode.INTERNAL
    assert "model" in caught.value.detail
    assert "тайна" not in str(caught.value)


async def test_the_first_failure_stops_the_other_windows(jina: JinaServer, embedder: JinaEmbedder) -> None:
    jina.script(UNAUTHORIZED, HANG)
    async with asyncio.timeout(TIMEOUT_S / 2):  # the hanging one is not waited for
        with pytest.raises(ServiceError):
            await embedder.embed_windows([WINDOW] * 6)
    await asyncio.sleep(0.05)
    assert len(jina.requests) < 6


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ((INSUFFICIENT_BALANCE,), ModelRefused),
        ((SERVER_ERROR, SERVER_ERROR), ModelAway),
        ((BROKEN_JSON, WRONG_DIMENSION), ModelNonsense),
    ],
)
async def test_a_turn_hears_what_became_of_its_question(
    jina: JinaServer, embedder: JinaEmbedder, answers: tuple[Scripted | Spoiled, ...], kind: type[ModelError]
) -> None:
    jina.script(*answers)
    with pytest.raises(kind):
        await embedder.embed_query("вопрос")
    assert len(jina.requests) == len(answers)


async def test_a_turn_waits_once_and_those_after_it_do_not(jina: JinaServer, impatient: JinaClient) -> None:
    jina.script(HANG)
    embedder = JinaEmbedder(impatient, model=MODEL)
    for question in ("вопрос", "другой вопрос"):
        with pytest.raises(ModelAway):
            await embedder.embed_query(question)
    assert len(jina.requests) == 1


async def test_questions_are_asked_again_as_soon_as_a_document_was_answered(
    jina: JinaServer, impatient: JinaClient
) -> None:
    jina.script(HANG)
    embedder = JinaEmbedder(impatient, model=MODEL)
    with pytest.raises(ModelAway):
        await embedder.embed_query("вопрос")
    await embedder.embed_windows([WINDOW])
    assert await embedder.embed_query("другой вопрос")


async def test_after_a_while_questions_are_asked_again(
    jina: JinaServer, impatient: JinaClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jina_client, "SILENCE_S", 0.0)
    jina.script(HANG)
    assert await JinaEmbedder(impatient, model=MODEL).embed_query("вопрос")


async def test_a_pause_that_is_asked_of_one_is_kept_by_all(
    jina: JinaServer, client: JinaClient, embedder: JinaEmbedder
) -> None:
    jina.script(too_many_requests("1"))
    first = asyncio.create_task(embedder.embed_windows([WINDOW]))
    await until(lambda: client._pace.rest_s > 0)
    await embedder.embed_windows([WINDOW])
    await first
    told, *later = [request.at_s for request in jina.requests]
    assert len(later) == 2
    assert all(at_s - told >= 0.95 for at_s in later)


async def test_a_pause_that_is_too_long_to_wait_for_is_not_asked_about_again(
    jina: JinaServer, embedder: JinaEmbedder
) -> None:
    jina.script(too_many_requests("3600"))
    await failure_of_windows(embedder)
    error = await failure_of_windows(embedder)
    assert error.retry_after_s == pytest.approx(3600, abs=60)
    assert len(jina.requests) == 1


async def test_a_minute_that_is_full_holds_documents_and_no_question(jina: JinaServer) -> None:
    narrow = Tier(requests_a_minute=1, tokens_a_minute=1000, concurrency=2)
    async with open_jina(base_url=jina.url, api_key=KEY, timeout_s=TIMEOUT_S, tier=narrow) as client:
        embedder = JinaEmbedder(client, model=MODEL)
        await embedder.embed_windows([WINDOW])
        reading = asyncio.create_task(embedder.embed_windows([WINDOW]))
        await embedder.embed_query("вопрос")
        assert not reading.done()
        reading.cancel()
    assert len(jina.requests) == 2

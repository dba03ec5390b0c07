"""Faults of Jina, and how fast it may be asked."""

import base64
import json
from itertools import accumulate

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.jina import (
    MINUTE_S,
    TIERS,
    Away,
    Pace,
    Rejected,
    Tier,
    TooLong,
    as_ingestion_error,
    estimate_cost,
    explain,
    fault_of,
    read_embeddings,
    read_relevances,
)
from ingestion.errors import FailureCode, ServiceError, WindowTooLarge
from rag.ports import ModelError, ModelNonsense, ModelRefused

TOO_LONG = "Single text cannot exceed 8192 tokens. 9237 tokens given."
TIER = Tier(requests_a_minute=3, tokens_a_minute=100, concurrency=2)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"detail": TOO_LONG}, TOO_LONG),  # a sentence
        ({"code": "AUTHZ_X", "detail": "No."}, "AUTHZ_X No."),  # code and sentence
        ({"detail": [{"loc": ["body", "task"], "msg": "bad", "input": "тайна"}]}, "body.task: bad"),  # FastAPI's list
        ({"error": {"message": "boom"}}, "boom"),  # OpenAI's shape
        ({"error": "boom"}, "boom"),
        (["?"], ""),  # no shape that is known
    ],
)
def test_bodies_of_every_shape_are_read(body: object, said: str) -> None:
    assert explain(json.dumps(body).encode()) == said


def test_a_body_that_is_no_json_says_nothing() -> None:
    assert explain(b"<html>") == ""


@pytest.mark.parametrize("quoted", ['"{}"', "'{}'", "«{}»", "`{}`", '"{}'])
def test_quoted_texts_are_left_out(quoted: str) -> None:
    said = explain(json.dumps({"detail": f"cannot read {quoted.format('тайна вклада')}"}).encode())
    assert "тайна" not in said
    assert said.startswith("cannot read")


@pytest.mark.parametrize(
    ("status", "detail", "kind"),
    [
        (401, "", ModelRefused),
        (402, "", ModelRefused),
        (403, "", ModelRefused),
        (408, "", Away),
        (429, "", Away),
        (500, "", Away),
        (504, "", Away),
        (400, TOO_LONG, TooLong),
        (400, "input length is larger than the largest allowed size 2048", TooLong),
        (422, "Input is too long", TooLong),
        (400, "no such task", Rejected),
        (404, "no such model", Rejected),
        (307, "", Rejected),
    ],
)
def test_statuses_say_what_can_be_done(status: int, detail: str, kind: type[ModelError]) -> None:
    assert type(fault_of(httpx.Response(status, json={"detail": detail}))) is kind


@pytest.mark.parametrize(
    ("fault", "code", "wait_s"),
    [
        (Away("why", retry_after_s=7), FailureCode.SERVICE_AWAY, 7),
        (ModelNonsense("why"), FailureCode.SERVICE_AWAY, None),
        (ModelRefused("why"), FailureCode.SERVICE_REFUSED, None),
        (Rejected("why"), FailureCode.INTERNAL, None),
    ],
)
def test_ingestion_hears_of_a_service(fault: ModelError, code: FailureCode, wait_s: float | None) -> None:
    error = as_ingestion_error(fault)
    assert isinstance(error, ServiceError)
    assert (error.code, error.retry_after_s, error.params["service"]) == (code, wait_s, "Jina")


def test_ingestion_hears_of_a_window_that_is_too_long() -> None:
    assert isinstance(as_ingestion_error(TooLong(TOO_LONG)), WindowTooLarge)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> Pace:
    return Pace(TIER, clock)


def test_the_first_requests_go_at_once(pace: Pace) -> None:
    pace.count(30)
    pace.count(30)
    assert pace.pause_s(30) == 0


def test_a_request_too_many_waits_for_the_first_to_be_a_minute_old(pace: Pace, clock: Clock) -> None:
    for _ in range(3):
        pace.count(1)
        clock.now += 10
    assert pace.pause_s(1) == pytest.approx(30)


def test_tokens_too_many_wait_for_as_many_to_be_a_minute_old(pace: Pace, clock: Clock) -> None:
    pace.count(60)
    clock.now += 20
    pace.count(40)
    assert pace.pause_s(50) == pytest.approx(40)


def test_a_request_above_the_whole_limit_goes_when_it_is_alone(pace: Pace, clock: Clock) -> None:
    assert pace.pause_s(1000) == 0
    pace.count(1)
    assert pace.pause_s(1000) == pytest.approx(MINUTE_S)


def test_a_pause_that_was_asked_for_is_kept(pace: Pace, clock: Clock) -> None:
    pace.rest(7)
    pace.rest(3)
    assert pace.pause_s(1) == pytest.approx(7)
    clock.now += 8
    assert pace.rest_s == 0
    assert pace.pause_s(1) == 0


@given(st.lists(st.tuples(st.integers(1, 100), st.floats(0, 20)), max_size=60))
def test_no_minute_holds_more_than_the_tier_allows(requests: list[tuple[int, float]]) -> None:
    clock = Clock()
    pace, sent = Pace(TIER, clock), list[tuple[float, int]]()
    for tokens, pause in requests:
        clock.now += pause
        clock.now += pace.pause_s(tokens)
        pace.count(tokens)
        sent.append((clock.now, tokens))
    for at, _ in sent:
        minute = [tokens for moment, tokens in sent if at - MINUTE_S + 1e-6 < moment <= at]
        assert len(minute) <= TIER.requests_a_minute
        assert max(accumulate(minute), default=0) <= TIER.tokens_a_minute


def test_the_estimate_leans_upwards() -> None:
    assert estimate_cost(["Привет, как дела у вашей бабушки?", "да"]) >= 11 + 1


def test_every_tier_of_the_settings_is_known() -> None:
    assert set(TIERS) == {"free", "paid", "premium"}


def test_where_only_questions_are_asked_the_minute_does_not_grow(pace: Pace, clock: Clock) -> None:
    for _ in range(1000):
        pace.count(1)
        clock.now += 1
    assert len(pace._asked) <= MINUTE_S + 1


def embeddings(*vectors: object, order: list[int] | None = None) -> bytes:
    indices = order or list(range(len(vectors)))
    data = [{"index": index, "embedding": vector} for index, vector in zip(indices, vectors, strict=True)]
    return json.dumps({"data": data}).encode()


def relevances(*pairs: tuple[int, float]) -> bytes:
    return json.dumps({"results": [{"index": index, "relevance_score": score} for index, score in pairs]}).encode()


def test_vectors_come_in_the_order_of_their_index() -> None:
    read = read_embeddings(embeddings([0, 1], [1, 0], order=[1, 0]), count=2, dimensions=2)
    assert read.tolist() == [[1, 0], [0, 1]]


def test_vectors_are_brought_to_length_one() -> None:
    assert read_embeddings(embeddings([3, 4]), count=1, dimensions=2).tolist() == [[0.6, 0.8]]


def test_base64_is_read_like_numbers() -> None:
    packed = base64.b64encode(np.array([3, 4], dtype="<f4").tobytes()).decode()
    assert read_embeddings(embeddings(packed), count=1, dimensions=2).tolist() == [[0.6, 0.8]]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        embeddings(),
        embeddings([1, 0], [1, 0], [1, 0]),  # one too many
        embeddings([1, 0], [1, 0], order=[0, 0]),  # the same twice
        embeddings([1, 0], [1, 0], order=[1, 2]),  # counted from 1
        embeddings([1, 0], [1, 0, 0]),  # a longer one
        embeddings([1, 0], [0, 0]),  # no direction
        embeddings([1, 0], [float("nan"), 1]),
        embeddings([1, 0], [float("inf"), 1]),
        embeddings([1, 0], "AAA"),  # no base64
        embeddings([1, 0], "AAAA"),  # no whole float
        embeddings([1, 0], None),
    ],
)
def test_embeddings_that_make_no_sense_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_embeddings(content, count=2, dimensions=2)


def test_relevances_come_best_first() -> None:
    assert read_relevances(relevances((1, 0.1), (0, 0.9)), count=2) == [(0, 0.9), (1, 0.1)]


@pytest.mark.parametrize(
    "content",
    [
        b"null",
        relevances(),
        relevances((2, 0.5)),  # no such passage
        relevances((-1, 0.5)),
        relevances((0, 0.5), (0, 0.4)),  # the same twice
        relevances((0, float("nan"))),
    ],
)
def test_relevances_that_make_no_sense_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_relevances(content, count=2)

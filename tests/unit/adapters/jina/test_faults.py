"""Refusals of Jina: every shape of body is read, and no document's text gets out."""

import json

import httpx
import pytest

from adapters.jina.faults import Fate, JinaFault, as_ingestion_error, as_model_error, explain, fault_of
from ingestion.errors import FailureCode, ServiceError, WindowTooLarge
from rag.errors import ModelAway, ModelNonsense, ModelRefused

TOO_LONG = "Single text cannot exceed 8192 tokens. 9237 tokens given."


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
    ("status", "detail", "fate"),
    [
        (401, "", Fate.REFUSED),
        (402, "", Fate.REFUSED),
        (403, "", Fate.REFUSED),
        (408, "", Fate.AWAY),
        (429, "", Fate.AWAY),
        (500, "", Fate.AWAY),
        (504, "", Fate.AWAY),
        (400, TOO_LONG, Fate.TOO_LONG),
        (400, "input length is larger than the largest allowed size 2048", Fate.TOO_LONG),
        (422, "Input is too long", Fate.TOO_LONG),
        (400, "no such task", Fate.REJECTED),
        (404, "no such model", Fate.REJECTED),
        (307, "", Fate.REJECTED),
    ],
)
def test_statuses_have_their_fates(status: int, detail: str, fate: Fate) -> None:
    assert fault_of(httpx.Response(status, json={"detail": detail}), retry_after_s=None).fate is fate


@pytest.mark.parametrize(
    ("fate", "code"),
    [
        (Fate.AWAY, FailureCode.SERVICE_AWAY),
        (Fate.NONSENSE, FailureCode.SERVICE_AWAY),
        (Fate.REFUSED, FailureCode.SERVICE_REFUSED),
        (Fate.REJECTED, FailureCode.INTERNAL),
    ],
)
def test_ingestion_hears_of_a_service(fate: Fate, code: FailureCode) -> None:
    error = as_ingestion_error(JinaFault(fate, "why", retry_after_s=7))
    assert isinstance(error, ServiceError)
    assert (error.code, error.retry_after_s, error.params["service"]) == (code, 7, "Jina")


def test_ingestion_hears_of_a_window_that_is_too_long() -> None:
    assert isinstance(as_ingestion_error(JinaFault(Fate.TOO_LONG, TOO_LONG)), WindowTooLarge)


@pytest.mark.parametrize(
    ("fate", "kind"),
    [
        (Fate.AWAY, ModelAway),
        (Fate.NONSENSE, ModelNonsense),
        (Fate.REFUSED, ModelRefused),
        (Fate.REJECTED, ModelRefused),
        (Fate.TOO_LONG, ModelRefused),
    ],
)
def test_a_turn_hears_of_a_model(fate: Fate, kind: type[Exception]) -> None:
    assert type(as_model_error(JinaFault(fate, "why"))) is kind

"""What went wrong, as application/problem+json (RFC 9457) in the language of the request.

In: a `Problem` or an error of FastAPI or the database. Out: a response with a sentence that says what to do next.
What a request held never stands in it.
"""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from domain.errors import BaseClosed, BaseReadOnly, DatabaseTrouble
from domain.locator import JsonValue
from ingestion.errors import ServiceError

if TYPE_CHECKING:
    from api.access import ApiServices

LANGUAGES = ("ru", "en")
MEDIA_TYPE = "application/problem+json"
RETRY_S = 5  # while the database is away
_WITHOUT_RIGHT: Mapping[type[Exception], HTTPStatus] = {
    BaseClosed: HTTPStatus.NOT_FOUND,
    BaseReadOnly: HTTPStatus.FORBIDDEN,
}


class ProblemBody(BaseModel):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str  # a sentence in the language of the request


PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {"description": "What went wrong", "content": {MEDIA_TYPE: {"schema": ProblemBody.model_json_schema()}}}
}
"""Of every endpoint, for its OpenAPI."""

_NO_JSON = ("json_invalid", "model_attributes_type")  # of a body that is none, or came as something else
_RANGE = re.compile(r"\s*([a-zA-Z]{1,8})(?:-[\w-]*)?\s*(?:;\s*q=([0-9.]{1,5}))?\s*")

log = structlog.get_logger()


class Problem(Exception):
    """Ends a request with this status. The texts are `api-<status>` of the locales, or `api-<reason>`."""

    def __init__(self, status: HTTPStatus, *, reason: str | None = None, retry_s: int | None = None) -> None:
        super().__init__(status.phrase)
        self.status = status
        self.key = f"api-{reason or status.value}"
        self.retry_s = retry_s


def language_of(accepted: str, default: str) -> str:
    """The language that `Accept-Language` prefers among ours."""
    weights: dict[str, float] = {}
    for found in map(_RANGE.fullmatch, accepted.split(",")):
        if found and (name := found[1].lower()) in LANGUAGES:
            weights.setdefault(name, float(found[2] or 1) if (found[2] or "1").count(".") < 2 else 0.0)
    return max(weights, key=lambda name: weights[name], default=default)


def problem_json(services: "ApiServices", problem: Problem, language: str) -> dict[str, JsonValue]:
    """The object of a problem."""
    status = problem.status
    detail = services.say(language, problem.key)
    return {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail}


def answer_problems(app: FastAPI, services: "ApiServices", routes: Sequence[BaseRoute]) -> None:
    """Every error of the app, whose endpoints these are, becomes a problem."""

    def respond(
        request: Request,
        problem: Problem,
        more: Mapping[str, JsonValue] | None = None,
        given: Mapping[str, str] | None = None,
    ) -> JSONResponse:
        language = language_of(request.headers.get("accept-language", ""), services.default_language)
        headers = {"Content-Language": language, **(given or {})}
        if problem.retry_s is not None:
            headers["Retry-After"] = str(problem.retry_s)
        if problem.status is HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "Bearer"
        content = {**problem_json(services, problem, language), **(more or {})}
        return JSONResponse(content, problem.status, headers, media_type=MEDIA_TYPE)

    async def of_framework(request: Request, error: Exception) -> JSONResponse:
        status = error.status_code if isinstance(error, HTTPException) else 500
        known = status if status in (404, 405, 413) else 422
        # Those that the path takes: Starlette tells the ones of the first route alone.
        matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
        methods = {method for route in matching for method in getattr(route, "methods", None) or ()}
        allowed = {"Allow": ", ".join(sorted(methods or {"GET", "HEAD"}))}  # none: those of the web chat's files
        return respond(request, Problem(HTTPStatus(known)), given=allowed if known == 405 else None)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        found = error.errors() if isinstance(error, RequestValidationError) else []
        wrong: list[JsonValue] = [{"field": ".".join(map(str, each["loc"])), "message": each["msg"]} for each in found]
        reason = "no-json" if any(each["type"] in _NO_JSON for each in found) else None
        return respond(request, Problem(HTTPStatus.UNPROCESSABLE_ENTITY, reason=reason), {"errors": wrong})

    async def ours(request: Request, error: Exception) -> JSONResponse:
        return respond(request, error if isinstance(error, Problem) else problem_of(error))

    app.add_exception_handler(HTTPException, of_framework)
    app.add_exception_handler(RequestValidationError, invalid)
    for kind in (Problem, DatabaseTrouble, ServiceError, Exception):
        app.add_exception_handler(kind, ours)


def problem_of(error: Exception) -> Problem:
    """What ended a request, or a stream that has begun."""
    if status := _WITHOUT_RIGHT.get(type(error)):
        return Problem(status)
    if isinstance(error, DatabaseTrouble | ServiceError):
        log.warning("api.service_away", reason=type(error).__name__)
        return Problem(HTTPStatus.SERVICE_UNAVAILABLE, retry_s=RETRY_S)
    log.error("api.failed", exc_info=error)
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR)

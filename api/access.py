"""Who asks, and with what: the token of a request, its base, its rights and its rate, and the services of the app.

In: a request. Out: a `Caller`, or a problem: 401, 403, 404 or 429. Another base than the token's is answered like one
that does not exist, before anything is looked up, so that it cannot be told from one by words or by time.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from math import ceil
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from adapters.database.stores import Stores
from adapters.kept_files import FolderFiles, SupabaseFiles
from api.problems import Problem, language_of
from domain.bases import ListedBase, Role
from domain.documents import DocumentCard
from domain.ids import BaseId
from domain.people import Caller, act_for, token_hash
from rag.conversation import Conversation
from rag.metering import TurnMetrics
from rag.records import Answer
from rag.reservations import DayBounds
from rag.retrieval.search import Retrieval

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_bearer = HTTPBearer(auto_error=False, description="A token of `baza token add`.")


@dataclass(frozen=True, kw_only=True)
class ApiServices:
    """Everything outside HTTP that the endpoints use, built by `bot.http_api`: this package chooses no adapter."""

    stores: Stores  # each call for a base says for whom (`domain.people`)
    storage: FolderFiles | SupabaseFiles
    file_bytes: int
    bytes_per_day: int  # of the uploads of one token
    kept_bytes: int  # of one base
    new_secret: Callable[[], str]  # of a webhook
    check_address: Callable[[str], object]  # raises SourceError for one that leads inside
    passages: Retrieval
    conversation: Conversation
    frugal_conversation: Conversation  # calls no model: for tokens that have used up the daily bounds of a person
    bounds_of: Callable[[Caller], DayBounds]  # of the token and its person
    token_spent_until: Callable[[Caller], Awaitable[datetime | None]]  # of API_DAILY_COST
    turn_ended: Callable[[TurnMetrics], None]  # for the metrics of this process
    worded: Callable[[Answer, str], str]  # the answer's text in full, never blank, in the language of the interface
    say: Callable[[str, str], str]  # (language, problem) -> its sentence
    failure: Callable[[DocumentCard, str], str]  # why a document was not read, in a language
    wake: Callable[[], None]  # wakes a worker of this process after something was enqueued
    default_language: str = "ru"
    requests_per_minute: int = 120  # of one token


def services_of(request: Request) -> ApiServices:
    """The services that the app was built with."""
    return cast("ApiServices", request.app.state.services)


Services = Annotated[ApiServices, Depends(services_of)]


async def caller_of(
    services: Services, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Caller:
    """Raises Problem: 401 without a valid token, 429 when it asks too often."""
    caller = None
    if credentials:
        hashed = token_hash(credentials.credentials)
        caller = await services.stores.tokens.use(hashed, per_minute=services.requests_per_minute)
    if caller is None:
        raise Problem(HTTPStatus.UNAUTHORIZED)
    if caller.wait_s is not None:
        raise Problem(HTTPStatus.TOO_MANY_REQUESTS, retry_s=max(1, caller.wait_s))
    act_for(caller.token)
    return caller


AnyCaller = Annotated[Caller, Depends(caller_of)]


async def reader_of(base: str, caller: AnyCaller, services: Services) -> Caller:
    """Raises Problem: 404 for any base but those that the token opens."""
    if base == caller.base:
        return caller
    if not caller.opens_all or not _UUID.fullmatch(base):
        raise Problem(HTTPStatus.NOT_FOUND)
    shown = await services.stores.bases.show(BaseId(base))  # raises BaseClosed, which is answered in the same way
    if shown is None:
        raise Problem(HTTPStatus.NOT_FOUND)
    return at_base(caller, shown)


def at_base(caller: Caller, shown: ListedBase) -> Caller:
    """The caller of that base, with the rights that its person has there."""
    is_read_only = caller.is_read_only or shown.role is Role.READER
    return replace(caller, base=shown.id, base_name=shown.name, is_read_only=is_read_only)


Reader = Annotated[Caller, Depends(reader_of)]


async def writer_of(caller: Reader) -> Caller:
    """Raises Problem: 403 for a token that may only read."""
    if caller.is_read_only:
        raise Problem(HTTPStatus.FORBIDDEN)
    return caller


Writer = Annotated[Caller, Depends(writer_of)]


def spent(until: datetime) -> Problem:
    """The token has used up API_DAILY_COST."""
    wait_s = ceil((until - datetime.now(UTC)).total_seconds())
    return Problem(HTTPStatus.TOO_MANY_REQUESTS, reason="spent", retry_s=max(1, wait_s))


async def owner_of(caller: Writer) -> Caller:
    """Raises Problem: 403 for a token that does not open all bases of a person: those of the command line are renamed
    and deleted there."""
    if not caller.opens_all:
        raise Problem(HTTPStatus.FORBIDDEN)
    return caller


Owner = Annotated[Caller, Depends(owner_of)]


def language(request: Request, services: Services) -> str:
    """The language of this request's texts."""
    return language_of(request.headers.get("accept-language", ""), services.default_language)


Language = Annotated[str, Depends(language)]

"""Who asks: the token of a request, its base, its rights and its rate.

In: a request. Out: a `Caller`, or a problem: 401, 403, 404 or 429. Another base than the token's is answered like one
that does not exist, before anything is looked up, so that it cannot be told from one by words or by time.
"""

from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.problems import Problem, language_of
from api.services import ApiServices
from domain.acting import act_for
from domain.tokens import Caller, token_hash

_bearer = HTTPBearer(auto_error=False, description="A token of `baza token add`.")


def services_of(request: Request) -> ApiServices:
    """The services that the app was built with."""
    services = request.app.state.services
    if not isinstance(services, ApiServices):
        raise TypeError("the app was built without services")
    return services


Services = Annotated[ApiServices, Depends(services_of)]


async def caller_of(
    services: Services, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Caller:
    """Raises Problem: 401 without a valid token, 429 when it asks too often."""
    caller = None
    if credentials:
        hashed = token_hash(credentials.credentials)
        caller = await services.tokens.use(hashed, per_minute=services.requests_per_minute)
    if caller is None:
        raise Problem(HTTPStatus.UNAUTHORIZED)
    if caller.wait_s is not None:
        raise Problem(HTTPStatus.TOO_MANY_REQUESTS, retry_s=max(1, caller.wait_s))
    act_for(caller.token)
    return caller


AnyCaller = Annotated[Caller, Depends(caller_of)]


async def reader_of(base: str, caller: AnyCaller) -> Caller:
    """Raises Problem: 404 for any base but the token's own."""
    if base != caller.base:
        raise Problem(HTTPStatus.NOT_FOUND)
    return caller


Reader = Annotated[Caller, Depends(reader_of)]


async def writer_of(caller: Reader) -> Caller:
    """Raises Problem: 403 for a token that may only read."""
    if caller.is_read_only:
        raise Problem(HTTPStatus.FORBIDDEN)
    return caller


Writer = Annotated[Caller, Depends(writer_of)]


def language(request: Request, services: Services) -> str:
    """The language of this request's texts."""
    return language_of(request.headers.get("accept-language", ""), services.default_language)


Language = Annotated[str, Depends(language)]

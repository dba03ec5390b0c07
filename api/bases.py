"""A base: what it holds, search in it, and its webhooks: addresses that are told when a document ends.

In: a caller, perhaps a query or an address. Out: counts; passages with their scores, which are data of the person's own
documents, so nothing in them is followed; a webhook, with its secret when it is made and never again
(`adapters.webhooks` tells them).
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema

from api.access import AnyCaller, ApiServices, Owner, Reader, Services, Writer, at_base
from api.problems import Problem
from domain.bases import NAME_CHARACTERS
from domain.documents import SourceType
from domain.ids import DocumentId
from domain.people import Caller
from ingestion.errors import SourceError
from rag.records import SearchFilter

MOST_PASSAGES = 50
QUERY_CHARACTERS = 4000

router = APIRouter(prefix="/rags", tags=["bases"])

Text = Annotated[str, Field(min_length=1, max_length=QUERY_CHARACTERS, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
"""Words; PostgreSQL stores no zero character."""
LARGEST = 2**31 - 1
DocumentUuid = Annotated[
    DocumentId,
    BeforeValidator(lambda given: str(uuid.UUID(str(given)))),
    WithJsonSchema({"type": "string", "format": "uuid"}),
]


class Strict(BaseModel):
    """A request body: unknown fields are refused, so that a mistyped one is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Named(Strict):
    """The name of a base."""

    name: Annotated[str, Field(min_length=1, max_length=NAME_CHARACTERS, pattern=r"\S")]


class Base(BaseModel):
    """A base with its counts."""

    id: str
    name: str | None  # None: the base of a chat
    documents: int
    passages: int
    read_only: bool  # with this token


class Filter(Strict):
    """Which documents are searched; what is left out restricts nothing."""

    documents: tuple[DocumentUuid, ...] = ()
    types: tuple[SourceType, ...] = ()
    author: Annotated[str | None, Field(pattern=r"^[^\x00]*$")] = None
    since: datetime | None = None
    before: datetime | None = None


class Search(Strict):
    """A search."""

    query: Text
    limit: int = Field(10, ge=1, le=MOST_PASSAGES)
    filter: Filter | None = None


class FoundPassage(BaseModel):
    """A passage, the best first."""

    document_id: str
    chunk_id: int
    title: str
    type: SourceType
    locator: dict[str, JsonValue]
    text: str
    url: str | None
    score: float  # comparable within one result


@router.get("")
async def list_bases(caller: AnyCaller, services: Services) -> list[Base]:
    """The bases that the token opens: its one base, or all of the person."""
    return [await _base(each, services) for each in await callers(caller, services)]


@router.post("", status_code=HTTPStatus.CREATED)
async def make_base(named: Named, caller: AnyCaller, services: Services) -> Base:
    """A further base of the person, with a token that opens all of them."""
    if not caller.opens_all or caller.person is None or caller.is_read_only:
        raise Problem(HTTPStatus.FORBIDDEN)
    made = await services.stores.bases.make(caller.person, named.name)
    if made is None:
        raise Problem(HTTPStatus.CONFLICT, reason="too-many-bases")
    return await _base(replace(caller, base=made, base_name=named.name), services)


@router.patch("/{base}")
async def rename_base(named: Named, caller: Owner, services: Services) -> Base:
    """Another name, by the owner's token."""
    await services.stores.bases.rename(caller.base, named.name)
    return await _base(replace(caller, base_name=named.name), services)


@router.delete("/{base}", status_code=HTTPStatus.NO_CONTENT)
async def delete_base(caller: Owner, services: Services) -> None:
    """The base with everything in it, by the owner's token; the first base of a chat stays (409)."""
    if await services.stores.bases.delete(caller.base) is None:
        raise Problem(HTTPStatus.CONFLICT, reason="first-base")


@router.get("/{base}")
async def show_base(caller: Reader, services: Services) -> Base:
    """One base with its counts."""
    return await _base(caller, services)


@router.post("/{base}/search")
async def search(asked: Search, caller: Reader, services: Services) -> list[FoundPassage]:
    """Passages that may answer; at most as many as SEARCH_PASSAGES, and `limit` of them."""
    only = SearchFilter(**dict(asked.filter)) if asked.filter else None
    return [
        FoundPassage.model_validate(
            {
                **vars(ranked.passage),
                "type": ranked.passage.source_type,
                "locator": ranked.passage.locator.to_json(),
                "url": ranked.passage.locator.url or ranked.passage.url,
                "score": ranked.score,
            }
        )
        for ranked in (await services.passages.find(caller.base, asked.query, only=only))[: asked.limit]
    ]


async def callers(caller: Caller, services: ApiServices) -> list[Caller]:
    """The caller once for each base that the token opens."""
    if not caller.opens_all or caller.person is None:
        return [caller]
    return [at_base(caller, each) for each in await services.stores.bases.all(caller.person) if each.role]


def names_of(found: Sequence[Caller]) -> list[str]:
    """What each of the bases is called here: by its name, where no other has it."""
    counts = Counter(each.base_name for each in found)
    return [each.base_name if each.base_name and counts[each.base_name] == 1 else each.base for each in found]


async def of_base(caller: Caller, services: ApiServices, name: str) -> Caller:
    """A base goes by its id or its name. Raises Problem 404 for any that the token does not open."""
    for each in await callers(caller, services):
        if name in (each.base, each.base_name):
            return each
    raise Problem(HTTPStatus.NOT_FOUND)


async def _base(caller: Caller, services: ApiServices) -> Base:
    held = await services.stores.library.count(caller.base)
    return Base(
        id=caller.base,
        name=caller.base_name,
        documents=held.documents,
        passages=held.chunks,
        read_only=caller.is_read_only,
    )


MOST_WEBHOOKS = 10
ADDRESS_CHARACTERS = 2000

webhooks = APIRouter(prefix="/rags/{base}/webhooks", tags=["webhooks"])


class NewWebhook(Strict):
    """A public address; http or https."""

    url: str = Field(max_length=ADDRESS_CHARACTERS)


class Webhook(BaseModel):
    """An address that is told when a document is ready, has failed, or ends in another way."""

    id: str
    url: str
    created_at: datetime
    problem: str | None  # why the last try failed; None: it did not


class MadeWebhook(Webhook):
    """With the secret that signs what is sent there, shown this once."""

    secret: str


@webhooks.post("", status_code=HTTPStatus.CREATED)
async def add_webhook(asked: NewWebhook, caller: Writer, services: Services) -> MadeWebhook:
    """Sets one; the base may have ten."""
    try:
        services.check_address(asked.url)
    except SourceError as error:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, reason="address") from error
    secret = services.new_secret()
    made = await services.stores.webhooks.add(caller.base, url=asked.url, secret=secret, most=MOST_WEBHOOKS)
    if made is None:
        raise Problem(HTTPStatus.CONFLICT, reason="too-many-webhooks")
    return MadeWebhook(**Webhook.model_validate(made, from_attributes=True).model_dump(), secret=secret)


@webhooks.get("")
async def list_webhooks(caller: Writer, services: Services) -> list[Webhook]:
    """The oldest first."""
    found = await services.stores.webhooks.all(caller.base)
    return [Webhook.model_validate(each, from_attributes=True) for each in found]


@webhooks.delete("/{webhook}", status_code=HTTPStatus.NO_CONTENT)
async def remove_webhook(webhook: uuid.UUID, caller: Writer, services: Services) -> None:
    """Ends it, with all that it is still to be told."""
    if not await services.stores.webhooks.remove(caller.base, str(webhook)):
        raise Problem(HTTPStatus.NOT_FOUND)

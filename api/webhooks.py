"""Webhooks of a base: addresses that are told when a document ends.

In: a caller and an address. Out: a webhook, with its secret when it is made and never again. The addresses are told by
`adapters.webhooks`.
"""

import uuid
from datetime import datetime
from http import HTTPStatus

from fastapi import APIRouter
from pydantic import BaseModel, Field

from api.access import Services, Writer
from api.bases import Strict
from api.problems import Problem
from ingestion.errors import SourceError

MOST_WEBHOOKS = 10
ADDRESS_CHARACTERS = 2000

router = APIRouter(prefix="/rags/{base}/webhooks", tags=["webhooks"])


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


@router.post("", status_code=HTTPStatus.CREATED)
async def add_webhook(asked: NewWebhook, caller: Writer, services: Services) -> MadeWebhook:
    """Sets one; the base may have ten."""
    try:
        services.check_address(asked.url)
    except SourceError as error:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, reason="address") from error
    secret = services.new_secret()
    made = await services.webhooks.add(caller.base, url=asked.url, secret=secret, most=MOST_WEBHOOKS)
    if made is None:
        raise Problem(HTTPStatus.CONFLICT, reason="too-many-webhooks")
    return MadeWebhook(**Webhook.model_validate(made, from_attributes=True).model_dump(), secret=secret)


@router.get("")
async def list_webhooks(caller: Writer, services: Services) -> list[Webhook]:
    """The oldest first."""
    found = await services.webhooks.all(caller.base)
    return [Webhook.model_validate(each, from_attributes=True) for each in found]


@router.delete("/{webhook}", status_code=HTTPStatus.NO_CONTENT)
async def remove_webhook(webhook: uuid.UUID, caller: Writer, services: Services) -> None:
    """Ends it, with all that it is still to be told."""
    if not await services.webhooks.remove(caller.base, str(webhook)):
        raise Problem(HTTPStatus.NOT_FOUND)

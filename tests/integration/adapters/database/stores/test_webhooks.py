"""Webhooks: what is to be told outlives whoever was telling it, over both transports."""

import json

import pytest

from adapters.database.stores import Stores
from adapters.database.stores.intake import WebhookStore
from adapters.database.transport import Transport
from domain.ids import UserId
from tests.integration.adapters.database.stores.material import open_base, publish

ADDRESS = "https://example.com/told"


@pytest.mark.over_rest
async def test_an_end_is_told_again_until_it_was_taken_or_given_up(transport: Transport) -> None:
    stores, webhooks = Stores(transport), WebhookStore(transport)
    base, other = await open_base(stores), await open_base(stores, UserId(8_000_000_002))
    made = await webhooks.add(base, url=ADDRESS, secret="whsec_", most=1)
    assert made
    assert await webhooks.add(base, url=ADDRESS, secret="whsec_", most=1) is None
    await publish(stores, other, "чужое")
    assert await webhooks.due(limit=9, hold_s=60) == []

    document = await publish(stores, base, "своё")
    (first,) = await webhooks.due(limit=9, hold_s=0)  # and its process is killed
    (second,) = await webhooks.due(limit=9, hold_s=60)
    assert (first.id, first.attempt, second.attempt) == (second.id, 1, 2)
    told = json.loads(second.body)
    assert (told["type"], told["data"]["document"], told["data"]["base"]) == ("document.ready", document, base)
    assert await webhooks.due(limit=9, hold_s=60) == []  # somebody is telling it

    await webhooks.note(second.id, problem="HTTP 500", again_s=0)
    (listed,) = await webhooks.all(base)
    (third,) = await webhooks.due(limit=9, hold_s=0)
    assert (listed.problem, third.attempt) == ("HTTP 500", 3)
    await webhooks.note(third.id, problem=None, again_s=None)
    assert await webhooks.due(limit=9, hold_s=60) == []
    assert (await webhooks.all(base))[0].problem is None

    await publish(stores, base, "ещё одно", name="другая")
    assert not await webhooks.remove(other, made.id)
    assert await webhooks.remove(base, made.id)
    assert await webhooks.due(limit=9, hold_s=60) == []

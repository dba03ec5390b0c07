"""Tokens of the HTTP API, and what was said with one, over both transports."""

from adapters.database.stores import Stores
from adapters.database.transport import Transport
from domain.ids import SessionId, UserId
from domain.people import new_token, token_hash
from rag.records import Exchange
from tests.integration.adapters.database.stores.material import open_base

BORIS = UserId(8_000_000_002)
SESSION = SessionId("00000000-0000-0000-0000-000000000007")
SAID = Exchange(
    question="Где ключи?",
    answer="На столе.",
    sources=({"title": "Заметка", "quote": "ключи на столе"},),
    context_used=({"type": "passage", "chunk_id": 7},),
)


async def test_a_token_opens_its_base_until_it_is_revoked_or_over(transport: Transport) -> None:
    stores, token = Stores(transport), new_token()
    base, other = await open_base(stores), await open_base(stores, BORIS)
    number = await stores.tokens.add(base, token_hash(token), is_read_only=True, days=None)
    over = await stores.tokens.add(base, token_hash("over"), is_read_only=False, days=0)
    caller = await stores.tokens.use(token_hash(token), per_minute=9)
    assert caller is not None
    assert (caller.token, caller.base, caller.is_read_only, caller.wait_s) == (number, base, True, None)
    assert await stores.tokens.use(token_hash("over"), per_minute=9) is None
    assert [(each.id, each.used_at is None) for each in await stores.tokens.all(base)] == [
        (number, False),
        (over, True),
    ]
    assert not await stores.tokens.revoke(other, number)
    assert await stores.tokens.revoke(base, number)
    assert await stores.tokens.use(token_hash(token), per_minute=9) is None


async def test_who_asks_too_often_is_told_how_long_to_wait(transport: Transport) -> None:
    stores = Stores(transport)
    await stores.tokens.add(await open_base(stores), token_hash("quick"), is_read_only=False, days=None)
    waits = [
        await stores.tokens.use(token_hash("quick"), per_minute=1) for _ in range(4)
    ]  # a minute may end among them
    assert any(each and each.wait_s and 0 < each.wait_s <= 60 for each in waits)


async def test_what_was_said_is_listed_with_what_it_stands_on_until_the_token_is_revoked(transport: Transport) -> None:
    stores = Stores(transport)
    base, other = await open_base(stores), await open_base(stores, BORIS)
    token = await stores.tokens.add(base, token_hash("talks"), is_read_only=False, days=None)
    for _ in range(3):
        await stores.dialogue.append(
            token, SESSION, base=base, exchange=SAID, question_terms=[], answer_terms=[], keep=2
        )
    said = await stores.dialogue.messages(token, SESSION, base=base, limit=9)
    assert [each.role for each in said] == ["user", "assistant"] * 3
    assert all((each.sources, each.context_used) == (SAID.sources, SAID.context_used) for each in said[1::2])
    before = await stores.dialogue.messages(token, SESSION, base=base, limit=2, before=said[-1].id)
    assert before == said[3:5]
    assert await stores.dialogue.messages(token, SESSION, base=other, limit=9) == []
    await stores.tokens.revoke(base, token)
    assert await stores.dialogue.messages(token, SESSION, base=base, limit=9) == []

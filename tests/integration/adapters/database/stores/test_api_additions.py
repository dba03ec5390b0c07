"""Documents that come over HTTP: once under one key, and as the next version of another, over both transports."""

from adapters.database.stores import Stores
from adapters.database.stores.library import KeptFileStore
from adapters.database.transport import Transport
from domain.documents import DocumentCard, Once, Refusal
from domain.ids import UserId
from tests.integration.adapters.database.stores.material import batch_of, claim, note, open_base, publish, read

BORIS = UserId(8_000_000_002)


async def test_a_key_adds_once_and_a_new_version_takes_the_place_of_the_old(transport: Transport) -> None:
    stores = Stores(transport)
    base, other = await open_base(stores), await open_base(stores, BORIS)
    token = await stores.tokens.add(base, "hash", is_read_only=False, days=None)
    first, once = batch_of(base, note("раз")), Once(key="k", digest="a")
    added = await stores.intake.add(first, token=token, once=once)
    assert isinstance(added, DocumentCard)
    assert await stores.intake.add(first, token=token, once=once) == added
    assert await stores.intake.add(first, token=token, once=Once(key="k", digest="b")) is Refusal.OTHER_CONTENT
    assert [card.id for card in await stores.library.documents(base, limit=9)] == [added.id]

    second = batch_of(base, note("два"))
    foreign = await publish(stores, other, "чужое")
    assert await stores.intake.add(second, token=token, replaces=foreign) is Refusal.MISSING
    refused = await stores.intake.add(second, token=token, replaces=added.id, once=Once(key="v", digest="a"))
    assert refused is Refusal.BEING_READ
    await read(stores, await claim(stores, added.id), "первый текст")
    newer = await stores.intake.add(second, token=token, replaces=added.id, once=Once(key="v", digest="a"))
    assert isinstance(newer, DocumentCard)
    await read(stores, await claim(stores, newer.id), "второй текст")
    for either in (added.id, newer.id):
        card = await stores.library.card(base, either)
        assert card
        assert (card.id, card.version) == (newer.id, 2)


async def test_the_bytes_of_a_day_are_counted(transport: Transport) -> None:
    stores, files = Stores(transport), KeptFileStore(transport)
    base = await open_base(stores)
    token = await stores.tokens.add(base, "hash", is_read_only=False, days=None)
    waits = [await files.count_bytes(base, token, 60, per_day=100) for _ in range(2)]
    assert waits[0] is None
    assert waits[1]
    assert 0 < waits[1] <= 86_400

"""The registry of entities over both transports: its queue, what goes with a document, and who sees what."""

import pytest

from adapters.database.stores import Stores, entities
from domain.documents import SourceType
from domain.ids import BaseId, ChunkId, UserId
from ingestion.entities.records import ClaimedEnrichment, NewEntities
from ingestion.errors import LeaseLost
from ingestion.records import Source
from tests.integration.adapters.database.stores.material import (
    claim_new,
    named_entities,
    open_base,
    publish,
    read_source,
)

BORIS = UserId(202)
LEASE_S = 60
ATTEMPTS = 3


async def claim(stores: Stores, *, lease_s: int = LEASE_S, only: BaseId | None = None) -> ClaimedEnrichment:
    """The next document that waits; there must be one."""
    claimed = await stores.entities.claim(lease_s=lease_s, attempts=ATTEMPTS, only=only)
    assert claimed is not None
    return claimed


async def enrich(stores: Stores, name: str) -> ClaimedEnrichment:
    """Read this entity from the next document."""
    claimed = await claim(stores)
    (span,) = await stores.entities.spans(claimed)
    await stores.entities.store(claimed, found=named_entities(span.chunk, name, key=name), reader="a test")
    return claimed


async def names_in(stores: Stores, base: BaseId, *keys: str) -> list[str]:
    return [entity.name for entity in await stores.entities.named(base, keys, limit=50)]


async def texts_of(stores: Stores, base: BaseId, entity: str | None) -> list[str]:
    found = await stores.entities.facts(base, entity=entity, relations=["CONTACTS"], related=False, limit=50)
    return [fact.text for fact in found]


async def test_a_document_waits_once_it_is_ready_and_not_before(stores: Stores) -> None:
    base = await open_base(stores)
    await claim_new(stores, base)
    assert await stores.entities.claim(lease_s=LEASE_S, attempts=ATTEMPTS) is None
    ready = await publish(stores, base, "готово", name="другая")
    assert (await claim(stores)).document == ready
    assert await stores.entities.claim(lease_s=LEASE_S, attempts=ATTEMPTS) is None


async def test_what_is_stored_is_found_by_key_and_with_its_passage(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "Телефон: 12 alor")
    await enrich(stores, "alor")
    assert await names_in(stores, base, "alor", "нет такого") == ["alor"]
    (fact,) = await stores.entities.facts(base, entity="project:alor", relations=["CONTACTS"], related=True, limit=50)
    assert (fact.entity, fact.text, fact.passage.text) == ("alor", "Телефон: 12 alor", "Телефон: 12 alor")


@pytest.mark.over_rest
async def test_everything_goes_with_the_document(stores: Stores) -> None:
    base = await open_base(stores)
    first, second = await publish(stores, base, "раз", name="раз"), await publish(stores, base, "два", name="два")
    await enrich(stores, "alor")
    await enrich(stores, "alor")
    await stores.library.delete(base, first)
    assert (await names_in(stores, base, "alor"), len(await texts_of(stores, base, None))) == (["alor"], 1)
    await stores.library.delete(base, second)
    assert (await names_in(stores, base, "alor"), await texts_of(stores, base, None)) == ([], [])


async def test_a_version_that_was_replaced_says_nothing_any_more(stores: Stores) -> None:
    base, plan = await open_base(stores), Source(type=SourceType.PATH, identifier="/tmp/План.md", title="План.md")
    await read_source(stores, base, plan, "старый")
    await enrich(stores, "alor")
    await read_source(stores, base, plan, "новый")
    assert await names_in(stores, base, "alor") == []
    await enrich(stores, "beta")
    assert await names_in(stores, base, "alor", "beta") == ["beta"]


async def test_a_base_sees_only_its_own(stores: Stores) -> None:
    base, other = await open_base(stores), await open_base(stores, BORIS)
    await publish(stores, base, "слова")
    await enrich(stores, "alor")
    assert await names_in(stores, other, "alor") == []
    assert await texts_of(stores, other, "project:alor") == []
    assert await stores.entities.claim(lease_s=LEASE_S, attempts=ATTEMPTS, only=other) is None


@pytest.mark.over_rest
async def test_what_a_dead_worker_held_is_claimed_anew_and_the_dead_can_store_nothing(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова")
    dead = await claim(stores, lease_s=0)
    alive = await claim(stores)
    assert (alive.document, alive.attempt) == (dead.document, 2)
    with pytest.raises(LeaseLost):
        await stores.entities.store(
            dead, found=named_entities((await stores.entities.spans(dead))[0].chunk, "a", key="a"), reader="x"
        )


async def test_what_never_comes_to_an_end_is_given_up(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова")
    for _ in range(ATTEMPTS):
        await claim(stores, lease_s=0)
    assert await stores.entities.claim(lease_s=LEASE_S, attempts=ATTEMPTS) is None


@pytest.mark.over_rest
async def test_what_was_postponed_comes_back_after_its_delay(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова")
    await stores.entities.postpone(await claim(stores), delay_s=3600, problem="away", is_final=False)
    assert await stores.entities.claim(lease_s=LEASE_S, attempts=ATTEMPTS) is None


async def test_what_is_given_up_does_not_come_back(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова")
    await stores.entities.postpone(await claim(stores), delay_s=0, problem="broken", is_final=True)
    assert await stores.entities.claim(lease_s=LEASE_S, attempts=ATTEMPTS) is None


async def test_a_deleted_document_cannot_be_stored(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "слова")
    claimed = await claim(stores)
    (span,) = await stores.entities.spans(claimed)
    await stores.library.delete(base, document)
    with pytest.raises(LeaseLost):
        await stores.entities.store(claimed, found=named_entities(span.chunk, "a", key="a"), reader="a test")


async def test_bases_take_turns(stores: Stores) -> None:
    large, small = await open_base(stores), await open_base(stores, BORIS)
    for number in range(3):
        await publish(stores, large, f"слова {number}", name=f"заметка {number}")
    await publish(stores, small, "слова")
    turns = [(await claim(stores)).base_id for _ in range(4)]
    assert turns == [large, small, large, large]


async def read_with(stores: Stores, name: str, reader: str) -> ClaimedEnrichment:
    """Read this entity from the next document in this way."""
    claimed = await claim(stores)
    (span,) = await stores.entities.spans(claimed)
    await stores.entities.store(claimed, found=named_entities(span.chunk, name, key=name), reader=reader)
    return claimed


async def test_what_was_read_in_a_poorer_way_waits_again_behind_what_is_new(stores: Stores) -> None:
    base = await open_base(stores)
    old = await publish(stores, base, "старое", name="старое")
    await read_with(stores, "alor", "rules")
    await publish(stores, base, "умное", name="умное")
    await read_with(stores, "beta", "a model")
    assert await stores.entities.read_again(reader="rules") == 1
    new = await publish(stores, base, "новое", name="новое")
    assert [(await claim(stores)).document for _ in range(2)] == [new, old]
    assert await stores.entities.claim(lease_s=LEASE_S, attempts=ATTEMPTS) is None


@pytest.mark.over_rest
async def test_documents_are_counted_until_their_first_reading_ends(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова", name="один")
    await publish(stores, base, "слова и ещё", name="два")
    assert await stores.entities.unread(base) == 2
    await read_with(stores, "alor", "rules")
    assert await stores.entities.unread(base) == 1
    await stores.entities.read_again(reader="rules")
    assert await stores.entities.unread(base) == 1


async def test_what_is_known_stays_until_it_is_replaced_and_is_never_doubled(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова")
    await read_with(stores, "alor", "rules")
    await stores.entities.read_again(reader="rules")
    assert len(await texts_of(stores, base, "project:alor")) == 1
    await claim(stores, lease_s=0)  # its worker dies
    assert await stores.entities.read_again(reader="rules") == 0
    again = await read_with(stores, "alor", "a model")
    assert again.attempt == 2
    assert len(await texts_of(stores, base, "project:alor")) == 1
    assert await names_in(stores, base, "alor") == ["alor"]


async def test_an_added_document_is_read_without_those_that_wait_again(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова")
    await read_with(stores, "alor", "rules")
    await stores.entities.read_again(reader="rules")
    assert await stores.entities.claim(lease_s=LEASE_S, attempts=ATTEMPTS, only=base) is None


async def test_more_documents_than_a_page_wait_again(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities, "PAGE_ROWS", 2)
    base = await open_base(stores)
    for number in range(5):
        await publish(stores, base, f"слова {number}", name=f"заметка {number}")
        await read_with(stores, "alor", "rules")
    assert await stores.entities.read_again(reader="rules") == 5


def everybody_called(key: str, names: list[str], chunk: ChunkId) -> NewEntities:
    """Projects that all have this key."""
    each = [named_entities(chunk, name, key=key) for name in names]
    return NewEntities(
        entities=tuple(entity for one in each for entity in one.entities),
        aliases=tuple(alias for one in each for alias in one.aliases),
    )


async def test_of_a_name_that_many_have_the_dozen_is_found_that_most_documents_name(stores: Stores) -> None:
    base = await open_base(stores)
    names = [f"Иван {number:02}" for number in range(15)]
    for named in (names, names[-1:]):
        await publish(stores, base, f"слова {named}", name=f"заметка {len(named)}")
        claimed = await claim(stores)
        (span,) = await stores.entities.spans(claimed)
        await stores.entities.store(claimed, found=everybody_called("ivan", named, span.chunk), reader="a test")
    found = await names_in(stores, base, "ivan")
    assert len(found) == 12
    assert names[-1] in found

"""What was sent to be read now («Только прочитать сейчас»): it leaves by itself, and is in nobody's way."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.database.stores import Stores
from domain.documents import DocumentCard, DocumentStatus, SourceType
from domain.ids import BaseId, BatchId, DocumentId, UserId
from ingestion.errors import LeaseLost
from ingestion.records import Source
from tests.integration.adapters.database.stores.material import (
    batch_of,
    card_of,
    claim,
    claim_source,
    file,
    find,
    open_base,
    read,
    read_source,
)

DAY_S = 24 * 60 * 60
PLAN = file("План.docx")
PAGE = Source(type=SourceType.LINK, identifier="https://site.example/rules")


async def glance(
    stores: Stores, base: BaseId, source: Source, *texts: str, ttl_s: int = DAY_S
) -> tuple[DocumentId, DocumentId | None]:
    """A document that was sent to be read now, and read."""
    (document,) = await stores.intake.enqueue(replace(batch_of(base, source), ttl_s=ttl_s))
    return document.id, await read(stores, await claim(stores, document.id), *texts)


async def listed(stores: Stores, base: BaseId) -> list[DocumentCard]:
    return await stores.library.documents(base, limit=20)


async def leave(stores: Stores, base: BaseId) -> list[str]:
    """What is left when the clock has struck."""
    await stores.library.remove_expired()
    return sorted(card.source_identifier for card in await listed(stores, base))


async def test_it_says_when_it_leaves_and_can_be_found_until_then(stores: Stores) -> None:
    base = await open_base(stores)
    document, _ = await glance(stores, base, PLAN, "офис стоит сто")
    expires_at = (await card_of(stores, base, document)).expires_at
    assert expires_at is not None
    assert timedelta(0) < datetime.now(UTC) + timedelta(seconds=DAY_S) - expires_at < timedelta(minutes=5)
    assert (expires_at.second, expires_at.microsecond) == (0, 0), "as it is shown"
    assert set(await find(stores, base, "офис")) == {"офис стоит сто"}
    assert await leave(stores, base) == ["План.docx"]


async def test_when_its_time_has_come_it_goes_with_all_that_is_stored_of_it(stores: Stores) -> None:
    base, other = await open_base(stores), await open_base(stores, UserId(666))
    await read_source(stores, base, file("Цены.docx"), "обед стоит триста")
    await glance(stores, base, PLAN, "офис стоит сто", ttl_s=0)
    await glance(stores, other, PLAN, "офис стоит сто", ttl_s=0)
    assert await stores.library.remove_expired() == 2
    assert [card.source_identifier for card in await listed(stores, base)] == ["Цены.docx"]
    assert await listed(stores, other) == []
    assert set(await find(stores, base, "стоит")) == {"обед стоит триста"}
    assert await stores.library.remove_expired() == 0


async def test_what_is_being_read_then_is_given_up(stores: Stores) -> None:
    base = await open_base(stores)
    (document,) = await stores.intake.enqueue(replace(batch_of(base, PLAN), ttl_s=0))
    held = await claim(stores, document.id)
    assert await leave(stores, base) == []
    with pytest.raises(LeaseLost):
        await read(stores, held, "офис стоит сто")


async def test_with_the_name_of_an_earlier_document_it_stands_beside_it_unasked(stores: Stores) -> None:
    base = await open_base(stores)
    lasting, _ = await read_source(stores, base, PLAN, "офис стоит сто")
    _, published = await glance(stores, base, PLAN, "офис стоит двести", ttl_s=0)
    assert published is None
    assert set(await find(stores, base, "офис")) == {"офис стоит сто", "офис стоит двести"}
    assert await leave(stores, base) == ["План.docx"]
    assert (await card_of(stores, base, lasting)).status is DocumentStatus.READY


async def test_a_later_file_of_its_name_is_not_asked_about(stores: Stores) -> None:
    base = await open_base(stores)
    await glance(stores, base, PLAN, "офис стоит сто")
    _, published = await read_source(stores, base, PLAN, "офис стоит двести")
    assert published is None


async def test_the_same_file_sent_to_stay_makes_it_stay_and_says_so(stores: Stores) -> None:
    base = await open_base(stores)
    document, _ = await glance(stores, base, PLAN, "офис стоит сто", ttl_s=0)
    again, published = await read_source(stores, base, PLAN, "офис стоит сто")
    assert published == document
    assert (await card_of(stores, base, again)).error_params["stays_until"] is None
    assert await leave(stores, base) == ["План.docx"]
    assert (await card_of(stores, base, document)).expires_at is None


async def test_the_same_file_again_begins_its_day_anew(stores: Stores) -> None:
    base = await open_base(stores)
    document, _ = await glance(stores, base, PLAN, "офис стоит сто", ttl_s=0)
    again, _ = await glance(stores, base, PLAN, "офис стоит сто")
    told = (await card_of(stores, base, again)).error_params["stays_until"]
    assert await leave(stores, base) == ["План.docx"]
    assert (await card_of(stores, base, document)).expires_at == datetime.fromisoformat(str(told))


async def test_what_stays_is_not_shortened_by_a_glance_at_it(stores: Stores) -> None:
    base = await open_base(stores)
    document, _ = await read_source(stores, base, PLAN, "офис стоит сто")
    again, published = await glance(stores, base, replace(PLAN, text="новая подпись"), "офис стоит сто", ttl_s=0)
    assert published == document
    assert (await card_of(stores, base, again)).status is DocumentStatus.DUPLICATE
    assert "stays_until" not in (await card_of(stores, base, again)).error_params
    assert await leave(stores, base) == ["План.docx"]


async def test_its_page_sent_to_stay_takes_its_place(stores: Stores) -> None:
    base = await open_base(stores)
    await glance(stores, base, PAGE, "проезд сорок", ttl_s=0)
    stays, _ = await read_source(stores, base, PAGE, "проезд пятьдесят")
    assert await leave(stores, base) == [PAGE.identifier]
    card = await card_of(stores, base, stays)
    assert (card.version, card.expires_at) == (2, None)


async def test_a_glance_at_a_page_that_stays_takes_nobodys_place(stores: Stores) -> None:
    base = await open_base(stores)
    await read_source(stores, base, PAGE, "проезд сорок")
    await glance(stores, base, PAGE, "проезд пятьдесят", ttl_s=0)
    assert set(await find(stores, base, "проезд")) == {"проезд сорок", "проезд пятьдесят"}
    await leave(stores, base)
    assert set(await find(stores, base, "проезд")) == {"проезд сорок"}


async def test_read_anew_it_still_leaves(stores: Stores) -> None:
    base = await open_base(stores)
    document, _ = await glance(stores, base, PAGE, "проезд сорок")
    expires_at = (await card_of(stores, base, document)).expires_at
    again = await stores.intake.refresh(batch_of(base), document)
    assert again is not None
    await read(stores, await claim(stores, again.id), "проезд пятьдесят")
    card = await card_of(stores, base, again.id)
    assert (card.version, card.expires_at) == (2, expires_at)


async def test_kept_while_it_is_read_anew_it_stays(stores: Stores) -> None:
    base = await open_base(stores)
    document, _ = await glance(stores, base, PAGE, "проезд сорок", ttl_s=0)
    again = await stores.intake.refresh(batch_of(base), document)
    assert again is not None
    held = await claim(stores, again.id)
    assert await stores.library.keep(base, document)
    await stores.library.remove_expired()
    await read(stores, held, "проезд пятьдесят")
    assert await leave(stores, base) == [PAGE.identifier]


async def test_a_file_that_is_kept_beside_another_of_its_name_gets_a_number(stores: Stores) -> None:
    base = await open_base(stores)
    await read_source(stores, base, PLAN, "офис стоит сто")
    document, _ = await glance(stores, base, PLAN, "офис стоит двести", ttl_s=0)
    assert await stores.library.keep(base, document)
    assert await stores.library.keep(base, document), "pressed twice"
    assert await leave(stores, base) == ["План (2).docx", "План.docx"]


@pytest.mark.over_rest
async def test_only_what_is_in_the_base_is_kept(stores: Stores) -> None:
    base, other = await open_base(stores), await open_base(stores, UserId(666))
    document, _ = await glance(stores, base, PLAN, "офис стоит сто", ttl_s=0)
    batch = (await card_of(stores, base, document)).batch_id
    assert batch is not None
    assert not await stores.library.keep(other, document)
    assert not await stores.library.keep_batch(other, batch)
    assert await leave(stores, base) == []
    assert not await stores.library.keep(base, document)


async def test_all_documents_of_an_album_leave_or_stay(stores: Stores) -> None:
    base = await open_base(stores)
    ids: list[DocumentId] = []
    for message, name in enumerate(("a.docx", "b.docx"), start=1):
        batch = replace(batch_of(base, file(name), message=message, album="album"), ttl_s=0)
        ids += [document.id for document in await stores.intake.enqueue(batch)]
    batches = {(await card_of(stores, base, document)).batch_id for document in ids}
    (album,) = batches
    assert album is not None
    assert await stores.library.keep_batch(base, BatchId(album))
    assert await leave(stores, base) == ["a.docx", "b.docx"]


async def test_the_same_message_added_to_the_base_after_all_stays(stores: Stores) -> None:
    base = await open_base(stores)
    batch = batch_of(base, PLAN, message=5)
    (glanced,) = await stores.intake.enqueue(replace(batch, ttl_s=0))
    (added,) = await stores.intake.enqueue(batch)
    assert (added.id, added.created) == (glanced.id, False)
    (again,) = await stores.intake.enqueue(replace(batch, ttl_s=0))
    assert again.id == added.id
    assert await leave(stores, base) == ["План.docx"]


@pytest.mark.over_rest
async def test_a_live_message_is_due_once_more_when_it_is_kept(stores: Stores) -> None:
    base = await open_base(stores)
    (document,) = await stores.intake.enqueue(replace(batch_of(base, PLAN, message=5), ttl_s=DAY_S))
    await read(stores, await claim(stores, document.id), "офис стоит сто")
    (notice,) = await stores.notices.due(limit=5, hold_s=0)
    await stores.notices.confirm(notice.batch_id, revision=notice.revision)
    await stores.library.keep(base, document.id)
    (again,) = await stores.notices.due(limit=5, hold_s=0)
    assert again.documents[0].expires_at is None


async def test_the_words_under_a_glance_of_what_leaves_are_kept_with_it(stores: Stores) -> None:
    base = await open_base(stores)
    await glance(stores, base, PLAN, "офис стоит сто", ttl_s=0)
    held = await claim_source(stores, base, replace(PLAN, text="новая подпись"))
    await read(stores, held, "офис стоит сто")
    await read(stores, await claim(stores, held.id), "офис стоит сто")
    assert await leave(stores, base) == ["План.docx"]
    assert (await card_of(stores, base, held.id)).expires_at is None

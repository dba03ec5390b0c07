"""An address that is read again, because its reading failed or because it was sent again, is one document."""

from dataclasses import replace

import pytest

from adapters.database.stores import Stores
from domain.documents import DocumentStatus, SourceType
from domain.ids import DocumentId, UserId
from ingestion.records import Failure
from tests.integration.adapters.database.stores.material import (
    batch_of,
    card_of,
    claim,
    claim_source,
    find,
    indexed,
    note,
    open_base,
    parsed,
    read,
    read_source,
)
from tests.integration.adapters.database.stores.test_versions_contract import PAGE, asked_by


async def fail(stores: Stores, document: DocumentId) -> None:
    await stores.work.fail(await claim(stores, document), failure=Failure(code="page-unreachable"))


@pytest.mark.over_rest
async def test_what_could_not_be_read_is_tried_again_as_it_is(stores: Stores) -> None:
    base = await open_base(stores)
    (sent,) = await stores.intake.enqueue(batch_of(base, PAGE, message=5))
    await fail(stores, sent.id)
    (told,) = await stores.notices.due(limit=9, hold_s=0)
    await stores.notices.confirm(told.batch_id, revision=told.revision)
    first, second = [await stores.intake.refresh(asked_by(base), sent.id) for _ in range(2)]
    assert first is not None
    assert second is not None
    assert (first.id, first.created, second.id, second.created) == (sent.id, True, sent.id, False)
    (begun,) = await stores.notices.due(limit=9, hold_s=0)
    assert [(card.id, card.status, card.message_id) for card in begun.documents] == [
        (sent.id, DocumentStatus.QUEUED, 5)
    ]
    assert begun.batch_id != told.batch_id
    await read(stores, await claim(stores, sent.id), "правила")
    assert list(await find(stores, base, "правила")) == ["правила"]


async def test_a_failure_that_nobody_was_told_of_goes_on_in_its_own_message(stores: Stores) -> None:
    base = await open_base(stores)
    (sent, _) = await stores.intake.enqueue(batch_of(base, PAGE, note("заметка"), message=5))
    (waiting,) = await stores.notices.due(limit=9, hold_s=0)
    await fail(stores, sent.id)
    assert await stores.intake.refresh(asked_by(base), sent.id) is not None
    (told,) = await stores.notices.due(limit=9, hold_s=0)
    assert (told.batch_id, told.revision > waiting.revision) == (waiting.batch_id, True)
    assert [card.status for card in told.documents] == [DocumentStatus.QUEUED] * 2


async def test_a_reading_anew_that_failed_can_be_tried_again(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_source(stores, base, PAGE)
    await stores.work.record_content(held, content_hash="00")
    await stores.work.publish(held, chunks=1, last=[indexed(0, "старые правила")], parsed=parsed("старые правила"))
    again = await stores.intake.refresh(asked_by(base), held.id)
    assert again is not None
    await fail(stores, again.id)
    once_more = await stores.intake.refresh(asked_by(base), again.id)
    assert once_more is not None
    assert (once_more.id, once_more.created) == (again.id, True)
    await read(stores, await claim(stores, again.id), "новые правила")
    assert list(await find(stores, base, "правила")) == ["новые правила"]
    assert [card.version for card in await stores.library.versions(base, again.id)] == [2, 1]


@pytest.mark.parametrize("kind", [SourceType.LINK, SourceType.SITE])
async def test_an_address_that_is_sent_again_is_a_version_of_the_first(stores: Stores, kind: SourceType) -> None:
    base = await open_base(stores)
    page = replace(PAGE, type=kind, identifier=PAGE.identifier + "/длинный" * 1000)
    old, _ = await read_source(stores, base, page, "старые правила")
    new, end = await read_source(stores, base, page, "новые правила")
    assert end is None
    assert list(await find(stores, base, "правила")) == ["новые правила"]
    assert [(card.id, card.version) for card in await stores.library.versions(base, new)] == [(new, 2), (old, 1)]
    assert [card.id for card in await stores.library.documents(base, limit=9)] == [new]


async def test_an_address_that_is_sent_again_unchanged_says_since_when_it_is_here(stores: Stores) -> None:
    base = await open_base(stores)
    old, _ = await read_source(stores, base, PAGE, "правила")
    new, end = await read_source(stores, base, PAGE, "правила")
    assert end == old
    params = (await card_of(stores, base, new)).error_params
    assert ("unchanged" in params, params["document_id"]) == (False, old)


async def test_an_address_of_another_base_or_kind_is_another_document(stores: Stores) -> None:
    base, other = await open_base(stores), await open_base(stores, UserId(202))
    for where, source in ((base, PAGE), (base, replace(PAGE, type=SourceType.SITE)), (other, PAGE)):
        document, _ = await read_source(stores, where, source, f"правила {source.type}")
        assert (await card_of(stores, where, document)).version == 1
    assert (await stores.library.count(base)).documents == 2

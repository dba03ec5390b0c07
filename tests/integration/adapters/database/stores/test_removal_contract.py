"""What is removed leaves its live message once more to be told of, and nothing of itself."""

from collections.abc import Awaitable, Callable

import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from domain.documents import DocumentStatus, Notice
from domain.ids import BaseId, DocumentId, MessageId
from ingestion.records import Source
from tests.integration.adapters.database.stores.material import (
    ask,
    batch_of,
    claim,
    file,
    note,
    open_base,
    read,
    read_source,
)

LIVE = MessageId(42)
SENT = 5  # the person's message

Removal = Callable[[Stores, BaseId, DocumentId], Awaitable[object]]


async def clean(stores: Stores, base: BaseId, _: DocumentId) -> object:
    return await stores.library.clean_base(base)


async def delete(stores: Stores, base: BaseId, document: DocumentId) -> object:
    return await stores.library.delete(base, document)


async def send(stores: Stores, *sources: Source, album: str | None = None) -> list[DocumentId]:
    """In one message of a chat."""
    batch = batch_of(await open_base(stores), *sources, message=SENT, album=album)
    return [document.id for document in await stores.intake.enqueue(batch)]


async def due(stores: Stores) -> list[Notice]:
    return list(await stores.notices.due(limit=9, hold_s=0))


async def show(stores: Stores) -> Notice:
    """As the notice loop does."""
    (notice,) = await due(stores)
    if notice.message_id is None:
        await stores.notices.attach(notice.batch_id, LIVE)
    await stores.notices.confirm(notice.batch_id, revision=notice.revision)
    return notice


def tables_that_say(url: str, word: str) -> set[object]:
    """In any of their columns."""
    names = [name for (name,) in ask(url, "select tablename from pg_tables where schemaname = 'public'")]
    return {
        name for name in names if ask(url, f"select from {name} t where to_jsonb(t)::text ilike '%{word}%' limit 1")
    }


@pytest.mark.parametrize("remove", [clean, delete])
@pytest.mark.parametrize("is_held", [False, True], ids=["waiting", "being-read"])
async def test_what_is_removed_before_it_was_read_is_told_once(stores: Stores, remove: Removal, is_held: bool) -> None:
    (document,) = await send(stores, note("заметка"))
    if is_held:
        await claim(stores, document)
    await show(stores)
    await remove(stores, await open_base(stores), document)
    told = await show(stores)
    assert (told.documents, told.removed, told.message_id, told.reply_to) == ((), 1, LIVE, None)
    assert await due(stores) == []


@pytest.mark.over_rest
async def test_a_question_that_is_removed_is_told_of(stores: Stores) -> None:
    base = await open_base(stores)
    await read_source(stores, base, file("План.docx"), "старый план")
    (document,) = await send(stores, file("План.docx"))
    await read(stores, await claim(stores, document), "новый план")
    assert (await show(stores)).documents[0].status is DocumentStatus.CHOOSING
    await stores.library.clean_base(base)
    assert (await show(stores)).removed == 1


async def test_a_receipt_that_nobody_has_seen_is_told_of(stores: Stores) -> None:
    (document,) = await send(stores, note("заметка"))
    await show(stores)
    await read(stores, await claim(stores, document), "слова")
    await stores.library.clean_base(await open_base(stores))
    assert (await show(stores)).removed == 1


async def test_a_receipt_that_was_shown_stays_as_it_is(stores: Stores) -> None:
    (document,) = await send(stores, note("заметка"))
    await read(stores, await claim(stores, document), "слова")
    await show(stores)
    await stores.library.clean_base(await open_base(stores))
    assert await due(stores) == []


async def test_what_is_removed_while_its_first_notice_is_sent_is_told_in_that_message(stores: Stores) -> None:
    await send(stores, note("заметка"))
    (first,) = await due(stores)
    await stores.library.clean_base(await open_base(stores))
    await stores.notices.attach(first.batch_id, LIVE)
    await stores.notices.confirm(first.batch_id, revision=first.revision)
    told = await show(stores)
    assert (told.documents, told.message_id) == ((), LIVE)
    assert await due(stores) == []


async def test_of_several_the_removed_ones_are_counted(stores: Stores) -> None:
    first, second = await send(stores, note("первая"), note("вторая"))
    await show(stores)
    await stores.library.delete(await open_base(stores), first)
    told = await show(stores)
    assert ([card.id for card in told.documents], told.removed, told.reply_to) == ([second], 1, SENT)


@pytest.mark.parametrize("album", [None, "an album"])
async def test_the_same_message_again_begins_anew(stores: Stores, album: str | None) -> None:
    await send(stores, note("заметка"), album=album)
    await show(stores)
    await stores.library.clean_base(await open_base(stores))
    (again,) = await send(stores, note("заметка"), album=album)
    assert [[card.id for card in notice.documents] for notice in await due(stores)] == [[], [again]]


async def test_nobody_is_told_of_what_the_command_line_removes(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.intake.enqueue(batch_of(base, note("заметка")))
    await stores.library.clean_base(base)
    assert await due(stores) == []


async def test_what_had_the_same_content_goes_too(stores: Stores) -> None:
    base = await open_base(stores)
    document, _ = await read_source(stores, base, note("первая"), "слова")
    twin, end = await read_source(stores, base, note("вторая"), "слова")
    assert end == document
    assert await stores.library.delete(base, document)
    assert await stores.library.card(base, twin) is None


@pytest.mark.parametrize("remove", [clean, delete])
async def test_nothing_of_it_stays_in_the_database(
    postgres_transport: PostgresTransport, database_url: str, remove: Removal
) -> None:
    stores, base = Stores(postgres_transport), await open_base(Stores(postgres_transport))
    (document,) = await send(stores, file("Канарейка.docx"))
    await read(stores, await claim(stores, document), "канарейка поёт")
    await read_source(stores, base, file("Канарейка 2.docx"), "канарейка поёт")
    await send(stores, note("заметка"))
    assert {"documents", "documents_chunks", "posting_lists"} <= tables_that_say(database_url, "канарейк")
    await remove(stores, base, document)
    assert tables_that_say(database_url, "канарейк") == set()


async def test_a_batch_without_documents_goes_when_it_was_shown(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    await send(stores, note("заметка"))
    await show(stores)
    await stores.library.clean_base(await open_base(stores))
    left = "select removed, message_id, media_group from batches"
    assert ask(database_url, left) == [(1, None, None)]
    await show(stores)
    assert ask(database_url, left) == []

"""A lineage is followed within its base alone, even should two bases come to share one."""

import uuid

import psycopg
import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from domain.documents import SourceType
from domain.ids import BaseId, DocumentId, UserId
from ingestion.records import Source
from tests.integration.adapters.database.stores.material import batch_of, card_of, open_base, read_source

PAGE = Source(type=SourceType.LINK, identifier="https://site.example/rules")
STRANGER = UserId(666)


@pytest.fixture
def stores(postgres_transport: PostgresTransport) -> Stores:
    """The real ones: only there a lineage can be bent."""
    return Stores(postgres_transport)


async def with_a_strangers_lineage(stores: Stores, url: str, *, mine: str, theirs: str) -> tuple[BaseId, DocumentId]:
    """A page of mine in this status, whose lineage a stranger's document in that status has too."""
    base, other = await open_base(stores), await open_base(stores, STRANGER)
    document, _ = await read_source(stores, base, PAGE, "мои правила")
    canary, _ = await read_source(stores, other, PAGE, "канарейка")
    change = "update documents set lineage = %s, status = %s, visible = false, version = %s where id = %s"
    lineage = uuid.uuid4()
    with psycopg.connect(url, autocommit=True) as connection:
        for version, (status, its_id) in enumerate([(theirs, canary), (mine, document)], start=1):
            connection.execute(change.encode(), (lineage, status, version, its_id))
    return base, document


async def test_a_card_is_never_a_strangers(stores: Stores, database_url: str) -> None:
    base, document = await with_a_strangers_lineage(stores, database_url, mine="superseded", theirs="ready")
    assert (await card_of(stores, base, document)).id == document


async def test_versions_are_never_a_strangers(stores: Stores, database_url: str) -> None:
    base, document = await with_a_strangers_lineage(stores, database_url, mine="ready", theirs="superseded")
    assert [card.id for card in await stores.library.versions(base, document)] == [document]


@pytest.mark.parametrize("mine", ["superseded", "cancelled"])
async def test_a_strangers_version_is_not_read_anew(stores: Stores, database_url: str, mine: str) -> None:
    base, document = await with_a_strangers_lineage(stores, database_url, mine=mine, theirs="ready")
    assert await stores.intake.refresh(batch_of(base), document) is None


async def test_what_a_stranger_reads_is_not_what_i_asked_for(stores: Stores, database_url: str) -> None:
    base, document = await with_a_strangers_lineage(stores, database_url, mine="ready", theirs="queued")
    again = await stores.intake.refresh(batch_of(base), document)
    assert again is not None
    assert again.created


async def test_deleting_leaves_a_strangers_version(stores: Stores, database_url: str) -> None:
    base, document = await with_a_strangers_lineage(stores, database_url, mine="ready", theirs="superseded")
    before = await stores.library.count(await open_base(stores, STRANGER))
    assert await stores.library.delete(base, document)
    with psycopg.connect(database_url) as connection:
        assert connection.execute("select count(*) from documents").fetchone() == (1,)
    assert await stores.library.count(await open_base(stores, STRANGER)) == before

"""Nothing of a document outlives it.

In: a document with blocks and passages, which goes in each of the ways in which one goes. Out: empty tables.
"""

import psycopg
import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from tests.integration.adapters.database.stores.material import note, open_base, read_source

REMOVALS = ("delete from documents", "delete from batches", "delete from bases")


def rows_of(connection: psycopg.Connection, table: str) -> int:
    """How many the table holds."""
    counted = connection.execute(f"select count(*) from {table}".encode()).fetchone()
    assert counted is not None
    return int(counted[0])


@pytest.mark.parametrize("removal", REMOVALS)
async def test_text_goes_with_its_document(
    postgres_transport: PostgresTransport, database_url: str, removal: str
) -> None:
    stores = Stores(postgres_transport)
    await read_source(stores, await open_base(stores), note("слова"), "слова")
    tables = ("document_blocks", "documents_chunks", "posting_lists")
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert all(rows_of(connection, table) for table in tables)
        connection.execute(removal.encode())
        assert [rows_of(connection, table) for table in tables] == [0, 0, 0]

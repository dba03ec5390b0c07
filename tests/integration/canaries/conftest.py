"""A catalog over this test's database, whose bases are searched whole, or by their segments and blocks."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.integration.adapters.database.stores.test_functions import set_number
from tests.integration.canaries.catalog import FIRST_CHUNK, Catalog


@pytest.fixture
def catalog(database_url: str) -> Iterator[Catalog]:
    """Passages get large numbers."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("set search_path = public, baza_internal, extensions")
        connection.execute(f"select setval('baza_internal.passage_runs', {FIRST_CHUNK} / 256)".encode())
        yield Catalog.read(connection)


@pytest.fixture
def every_base_is_large(database_url: str) -> None:
    """From one passage on, a base gets a segment and blocks."""
    for function, number in (
        ("exact_scan_limit", 0),
        ("passages_without_segments", 0),
        ("counted_anew", 0),
        ("posting_segment_size", 1),
    ):
        set_number(database_url, function, number)

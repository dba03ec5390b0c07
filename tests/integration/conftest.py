"""The database fixtures, for every integration test.

What uses `transport` runs over psycopg. Marked `over_rest` it runs over the REST interface too, which costs three times
as much: once each function of the stores with rows, without, and refused, all types of values and errors, and the
canaries of every function.
"""

import pytest

from tests.database import (
    database,
    database_server,
    database_url,
    empty_database,
    lite_server,
    own_databases,
    postgres_transport,
    server_home,
    supabase_transport,
    transport,
)

__all__ = [
    "database",
    "database_server",
    "database_url",
    "empty_database",
    "lite_server",
    "own_databases",
    "postgres_transport",
    "server_home",
    "supabase_transport",
    "transport",
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "transport_kind" in metafunc.fixturenames:
        is_over_both = metafunc.definition.get_closest_marker("over_rest") is not None
        metafunc.parametrize("transport_kind", ["postgres", "supabase"] if is_over_both else ["postgres"])

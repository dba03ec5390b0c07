"""The database fixtures, for every integration test."""

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

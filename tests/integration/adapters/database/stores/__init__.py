"""One suite for every store: in memory, over psycopg, and over PostgREST's stand-in."""

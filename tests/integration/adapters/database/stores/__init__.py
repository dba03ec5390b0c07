"""One suite for every store, over psycopg and over PostgREST's stand-in."""

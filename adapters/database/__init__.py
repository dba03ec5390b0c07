"""The database's doors: two transports that call its SQL functions by name, and stores that speak in records.

In: calls of the ports. Out: records. No query is written in Python: the functions are in `supabase/schemas`, and the
psycopg transport writes no more than their calls.
"""

"""The stores: every door to the database that `ingestion`, `rag` and `bot` ask for, as calls of SQL functions.

In: a `Transport`. Out: classes that meet the packages' ports by shape. They hold no SQL and no state.
"""

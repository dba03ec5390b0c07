"""Doors to the outside: the database, models, Jina. Each meets a port of `ingestion`, `rag` or `bot` by its shape.

In: calls of the ports. Out: their records, or their errors. No driver's type or error leaves an adapter.
"""

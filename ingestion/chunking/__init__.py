"""From a parsed document to passages and windows of passages: pure functions on text, no I/O.

In: `ingestion.records.Document`. Out: `Chunk`s with spans and locators, `Window`s of chunks for late chunking.
"""

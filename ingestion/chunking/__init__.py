"""Cuts a parsed document into passages and windows of passages: pure functions on text.

In: `ingestion.records.Document`. Out: `Chunk`s with spans and locators, `Window`s of chunks for late chunking.
"""

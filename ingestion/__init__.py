"""Turns a source into searchable passages: fetch, parse, chunk, embed, store.

In: sources (`Source`) that a person sent. Out: a document whose chunks can be found. It imports neither Telegram nor
the database driver: it reaches the outside through the ports in `ingestion.ports`.
"""

"""What turns a source into searchable passages: fetch, parse, chunk, embed, store.

In: sources (`Source`) that a person sent. Out: a document whose chunks can be found. It knows neither Telegram nor
the database's driver: doors to the outside are the ports in `ingestion.ports`.
"""

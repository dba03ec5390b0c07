"""The words that every package shares: ids, locators, source types, people and documents.

In: nothing. Out: frozen records and NewType ids, imported by `ingestion`, `rag`, `adapters` and `bot` alike.
It imports only the standard library and holds no behaviour beyond what a record says of itself.
"""

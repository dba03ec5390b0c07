"""Turns passages into an answer with its sources that a model writes (without one: `rag.quoting`).

In: a question, the dialogue's window, ranked passages. Out: drafts that grow, and citations. It searches nothing and
stores nothing.
"""

"""Turns passages into an answer with its sources, with a model or without.

In: a question, the dialogue's window, ranked passages. Out: drafts that grow, and citations. It searches nothing and
stores nothing.
"""

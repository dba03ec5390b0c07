"""Turns facts into an answer with its sources: a model's, or without one the words of the documents (`plain`).

In: a question, the dialogue's window, the facts. Out: drafts that grow, and citations. It searches nothing and stores
nothing.
"""

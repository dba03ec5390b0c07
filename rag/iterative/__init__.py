"""Reads documents one by one for a question (seed 0).

In: a question, and documents in order of relevance. Out: facts with their passages, an answer synthesised from them,
and how much was read. It writes nothing to people: another stage writes the answer from the facts.
"""

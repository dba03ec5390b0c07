"""Reads documents one by one for a question (seed 0).

In: a question and documents in order of their worth. Out: facts with the passages that they stand in, an answer put
together of them, and how much was read. It writes nothing to people: the answer is written from the facts.
"""

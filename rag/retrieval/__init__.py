"""Finds the passages that a question is about: two legs, fusion, near-duplicates, rerank.

In: a question and a base. Out: passages, best first. It does not read or write answers.
"""

"""Reads whole documents with a model: facts for a question (seed 0), or rows of a table.

In: a question or the columns of a table, documents. Out: facts and rows, each with the passage that says it. The model
only extracts; code checks its words against the text, merges, filters, counts, sums and sorts.
"""

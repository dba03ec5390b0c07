"""Extracts rows from documents and computes with them: lists, counts, sums, comparisons.

In: what a row is, its columns, documents. Out: a table in which every row has a passage, and numbers computed by code.
A model only extracts rows; it counts nothing.
"""

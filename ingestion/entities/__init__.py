"""Finds the entities of a ready document: whom and what it speaks of, and what it says of them.

In: the blocks of a document. Out: names and statements, stored by a background worker. Search neither waits for them
nor needs them.
"""

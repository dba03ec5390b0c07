"""Finds the day of a document in its own text.

In: its name and first blocks. Out: a day, or none. Days in metadata (markup, headers) are read by parsers and fetchers.
"""

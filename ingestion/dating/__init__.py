"""The day that a document bears, in its own words.

In: its name and first blocks. Out: a day, or none. What its source states (markup, headers) parsers and fetchers read.
"""

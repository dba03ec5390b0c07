"""Takes rows out of documents and reckons with them: lists, counts, sums, comparisons.

In: what a row is, its columns, documents. Out: a table whose every row stands in a passage, and numbers worked out by
code. A model only reads out rows; it counts nothing.
"""

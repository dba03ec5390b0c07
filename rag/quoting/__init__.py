"""The answer without a model: the words of the documents themselves, and facts as lists and tables.

In: what was found and the plan's limits. Out: a finished `Draft` (see `plain`). It writes no words of its own.
"""

"""Whether an answer is supported by its facts: statements, the check by a model, and the words that carry them.

In and out: see `check`.
"""

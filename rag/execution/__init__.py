"""Executes a plan: turns it into facts.

In: a `QueryPlan`. Out: a `FactsPayload`: what the tools found, each piece with its source. Tools search, list, ask the
graph, and read whole documents with a model: facts for a question (seed 0), or rows of a table. There the model only
extracts; code checks its words against the text, merges, filters, counts, sums and sorts. It writes no answer.
"""

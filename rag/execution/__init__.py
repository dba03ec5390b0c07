"""Executes a plan: turns it into facts.

In: a `QueryPlan`. Out: a `FactsPayload`: what the tools found, each piece with its source. It writes no answer.
"""

"""Turns a question and its dialogue into a plan.

In: a question, the dialogue, the entities that it names. Out: a `QueryPlan`, checked. It runs no tool.
"""

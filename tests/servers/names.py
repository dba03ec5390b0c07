"""The recogniser of names with its models loaded before a child is forked.

In: the entry point of a pool (`sandbox.pool`). Out: what `adapters.name_finder` answers. In a real bot the one child
that there is loads them; each acceptance test has another, which took half of its time.
"""

from adapters.name_finder import recogniser, serve

__all__ = ["serve"]

recogniser()

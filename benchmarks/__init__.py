"""Measurements of speed and quality, each one command: `python -m benchmarks.NAME`.

In: real data, its place given as an argument. Out: a table on standard output. Nothing of the program imports them.
"""

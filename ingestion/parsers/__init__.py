"""Turns bytes on disk into a `Document`: a module for each format, an ordered registry, and separate processes.

In: `FetchedFile`. Out: `Document` with blocks in reading order, each with its place. Nothing here opens a connection.
"""

"""From bytes on disk to a `Document`: one module a format, an ordered registry, and a process of its own to run them.

In: `FetchedFile`. Out: `Document` with blocks in reading order, each with its place. Nothing here opens a connection.
"""

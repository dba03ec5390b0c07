"""From a source to bytes on disk: hashed, within the size limit, and from nowhere inside our own network.

In: a `ClaimedDocument`. Out: a `FetchedFile` in the folder of that document. It parses nothing.
"""

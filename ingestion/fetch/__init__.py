"""Fetches a source to disk: hashed, within the size limit, and never from inside our own network.

In: a `ClaimedDocument`. Out: a `FetchedFile` in the folder of that document. It parses nothing.
"""

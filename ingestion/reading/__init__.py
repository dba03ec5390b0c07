"""Turns a file on disk into a document: parses it, recognises words in pictures, transcribes recordings.

In: `FetchedFile`. Out: `Document`. `reader` chooses; each way of reading has its own module.
"""

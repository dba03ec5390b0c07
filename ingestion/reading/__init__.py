"""What turns a file on disk into a document: parsing, recognising words in pictures, listening to recordings.

In: `FetchedFile`. Out: `Document`. `reader` chooses; each way of reading is a module of its own.
"""

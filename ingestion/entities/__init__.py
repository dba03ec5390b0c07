"""Entities: who and what a ready document speaks of, and what it says of them.

In: the blocks of a document. Out: names and statements, stored by the worker behind the person's back. Search does not
wait for it and does not need it.
"""

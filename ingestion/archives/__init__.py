"""Unpacks archives, and letters with attachments, in a process of its own.

In: a file and a private folder. Out: the files inside, named by numbers, and what was refused. Nothing here reads
documents; `ingestion.reading.archives` does, one by one.
"""

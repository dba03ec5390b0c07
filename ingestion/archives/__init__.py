"""What is packed in one file: archives, and letters with their attachments, unpacked in a process of their own.

In: a file and a folder of ours. Out: the files inside, under numbers as names, and what was refused. Nothing here reads
documents; `ingestion.reading.archives` does, one by one.
"""

"""Confines the processes that meet what strangers send: parsers, unpackers, OCR, speech, names, videos.

In: what a kind of process needs (`Confinement`). Out: forked processes that can do that and nothing else, and for `baza
doctor` which layers of the kernel hold here (`pool`). It knows no format and none of our other packages.
"""

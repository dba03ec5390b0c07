"""Turns a note's text into a document. The text came with the message: nothing is fetched, and no file is parsed.

In: a NOTE source. Out: its `Document`, and a hash that recognises the same words again. A note is plain text and not
Markdown: people who type "#1" or "*" mean just that. The text is only split at empty lines, which is safe without a
separate process whoever wrote it.
"""

import hashlib
import unicodedata

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.encodings import tidy_text
from ingestion.parsers.text import read_text
from ingestion.records import Document, Source


def read_note(source: Source) -> Document:
    """Raises SourceError FILE_EMPTY when there are no words."""
    document = read_text(tidy_text(source.text or ""), name=source.identifier)
    if not document.blocks:
        raise SourceError(FailureCode.FILE_EMPTY, name=source.identifier)
    return document


def hash_note(source: Source) -> str:
    """Hash of name and words. A typed note is named after its first line; rows of a corpus have names of their own."""
    return hash_words(f"{source.identifier}\n{source.text or ''}")


def hash_words(text: str) -> str:
    """SHA-256 (hex) of the text in NFC, with every run of white space as one blank."""
    words = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.sha256(words.encode("utf-8", errors="replace")).hexdigest()

"""A note's words -> a text file, so that notes go the same way as everything else.

In: a NOTE source. Out: a `FetchedFile` of plain UTF-8; its hash is that of the words, whatever the spacing. It is
.txt and not .md: people who type "#1" or "*" mean just that.
"""

import hashlib
import unicodedata
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.media import MEDIA_TYPES, Content
from ingestion.records import FetchedFile, Source

NOTE_NAME = "note.txt"


class NoteFetcher:
    """Writes notes to disk."""

    async def fetch(self, source: Source, folder: Path) -> FetchedFile:
        """Raises SourceError FILE_EMPTY when there are no words."""
        text = source.text or ""
        if not text.strip():
            raise SourceError(FailureCode.FILE_EMPTY, name=source.identifier)
        path = folder / NOTE_NAME
        size_bytes = path.write_bytes(text.encode("utf-8", errors="replace"))
        return FetchedFile(
            path=path,
            name=NOTE_NAME,
            media_type=MEDIA_TYPES[Content.TEXT],
            size_bytes=size_bytes,
            sha256=hash_words(text),
        )


def hash_words(text: str) -> str:
    """SHA-256 (hex) of the text in NFC with every run of white space as one blank."""
    words = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.sha256(words.encode("utf-8", errors="replace")).hexdigest()

"""What is attached to a letter, into a sink.

In: an EML or MSG file. Out: calls of `Sink.take`. The letter's own words are the parsers' (`eml`, `msg`); pictures that
stand in its text, signatures and invitations are no attachments.
"""

import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ingestion.archives.sink import Sink
from ingestion.parsers.letter import attachments
from ingestion.parsers.mime import open_letter


def unpack_letter(path: Path, sink: Sink) -> None:
    """Attachments in order; a letter inside a letter is one of them."""
    for attached in attachments(open_letter(path)):
        stream = partial(_Stream, attached.pieces)
        sink.take(attached.name, stated_bytes=attached.size_bytes, stream=stream)


def unpack_outlook(path: Path, sink: Sink) -> None:
    """Letters and objects that Outlook keeps inside its own file are named only."""
    # Imported here: it takes 160 ms, and few files are of this kind.
    from oxmsg import Message

    for attachment in Message.load(str(path)).attachments:
        name = attachment.file_name or "?"
        if attachment.file_bytes is None:
            sink.refused.append(name)
        else:
            _take(sink, name, attachment.file_bytes)


def _take(sink: Sink, name: str, content: bytes) -> None:
    sink.take(name, stated_bytes=len(content), stream=lambda: io.BytesIO(content))


class _Stream:
    """Pieces of any size, as a file."""

    def __init__(self, pieces: Callable[[], Iterator[bytes]]) -> None:
        self._pieces = pieces()
        self._held = b""

    def read(self, size: int) -> bytes:
        """Meets `sink.Stream`."""
        if not self._held:
            self._held = next(self._pieces, b"")
        given, self._held = self._held[:size], self._held[size:]
        return given

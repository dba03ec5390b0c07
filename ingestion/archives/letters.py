"""Writes the attachments of a letter to a sink.

In: an EML or MSG file. Out: calls of `Sink.take`. The letter's own text is the parsers' (`eml`, `msg`); pictures shown
in the text, signatures and invitations are no attachments.
"""

import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ingestion.archives.sink import Sink
from ingestion.parsers.eml import attachments
from ingestion.parsers.mime import open_letter


def unpack_letter(path: Path, sink: Sink) -> None:
    """Take the attachments of an EML file in order; a letter inside the letter is one of them."""
    for attached in attachments(open_letter(path)):
        stream = partial(_Stream, attached.pieces)
        sink.take(attached.name, stated_bytes=attached.size_bytes, stream=stream)


def unpack_outlook(path: Path, sink: Sink) -> None:
    """Take the attachments of an MSG file. Letters and objects embedded in Outlook's own format are only listed."""
    # Imported here: the import takes 160 ms, and few files are of this kind.
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
    """A stream over pieces of any size."""

    def __init__(self, pieces: Callable[[], Iterator[bytes]]) -> None:
        self._pieces = pieces()
        self._held = b""

    def read(self, size: int) -> bytes:
        """Meets `sink.Stream`."""
        if not self._held:
            self._held = next(self._pieces, b"")
        given, self._held = self._held[:size], self._held[size:]
        return given

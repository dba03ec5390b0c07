"""What is attached to a letter, into a sink.

In: an EML or MSG file. Out: calls of `Sink.take`. The letter's own words are the parsers' (`eml`, `msg`); pictures that
stand in its text, signatures and invitations are no attachments.
"""

import io
from pathlib import Path

from ingestion.archives.sink import Sink
from ingestion.parsers.letter import Attached, attachments, open_letter


def unpack_letter(path: Path, sink: Sink) -> None:
    """Attachments in order; a letter inside a letter is one of them."""
    for attached in attachments(open_letter(path)):
        _take(sink, attached)


def unpack_outlook(path: Path, sink: Sink) -> None:
    """Letters and objects that Outlook keeps inside its own file are named only."""
    # Imported here: it takes 160 ms, and few files are of this kind.
    from oxmsg import Message

    for attachment in Message.load(str(path)).attachments:
        name = attachment.file_name or "?"
        if attachment.file_bytes is None:
            sink.refused.append(name)
        else:
            _take(sink, Attached(name=name, content=attachment.file_bytes))


def _take(sink: Sink, attached: Attached) -> None:
    content = attached.content
    sink.take(attached.name, stated_bytes=len(content), stream=lambda: io.BytesIO(content))

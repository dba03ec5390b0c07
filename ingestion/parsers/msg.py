"""Reads a letter saved by Outlook, into the same form as `eml`.

In: an MSG file. Out: a `Document`. `ingestion.parsers.unpack` unpacks its attachments. A body in RTF only is read as
text.
"""

from pathlib import Path
from typing import Any

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.eml import Bodies, letter_document
from ingestion.parsers.encodings import decode_text
from ingestion.parsers.kinds import FileInfo
from ingestion.records import Document

TEXT_ENCODING_FAILURES = (UnicodeDecodeError, LookupError)


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError FILE_DAMAGED."""
    # Imported here: the import takes 160 ms, and few files are of this kind.
    from oxmsg import Message

    try:
        message = Message.load(str(path))
        headers = {
            "From": message.sender or "",
            "To": ", ".join(f"{person.name} <{person.email_address}>" for person in message.recipients),
            "Date": message.sent_date.isoformat(" ", "minutes") if message.sent_date else "",
            "Subject": message.subject or "",
        }
        sent_at = message.sent_date
        words = Bodies(plain=_body(message), html=_html(message))
    except (OSError, KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        raise SourceError(
            FailureCode.FILE_DAMAGED, name=info.name, detail=f"{type(error).__name__}: {error}"
        ) from error
    headers = {name: value for name, value in headers.items() if value}
    return letter_document(headers, words, name=info.name, author=message.sender, sent_at=sent_at)


def _body(message: Any) -> str:
    try:
        return message.body or ""
    except TEXT_ENCODING_FAILURES:
        return ""


def _html(message: Any) -> str:
    try:
        body = message.html_body or ""
    except TEXT_ENCODING_FAILURES:
        return ""
    return decode_text(body) if isinstance(body, bytes) else body

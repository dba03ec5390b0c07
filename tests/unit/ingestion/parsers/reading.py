"""Short ways to what a parser made of a file, for its tests.

In: a path, or what to write to it. Out: documents, and blocks as pairs of kind and text.
"""

from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.registry import parse_file
from ingestion.records import BlockKind, Document


def read(path: Path, *, name: str | None = None, media_type: str | None = None) -> Document:
    """As the parsing process would."""
    return parse_file(path, name=name or path.name, media_type=media_type)


def read_bytes(folder: Path, content: bytes, *, name: str) -> Document:
    """The same for content that is not on disk yet."""
    path = folder / "content"
    path.write_bytes(content)
    return read(path, name=name)


def told(document: Document) -> list[tuple[BlockKind, str]]:
    """Its blocks, without their places."""
    return [(block.kind, block.text) for block in document.blocks]


def refusal(path: Path) -> FailureCode | None:
    """The reason why it is not read; None when it is."""
    try:
        read(path)
    except SourceError as error:
        return error.code
    return None

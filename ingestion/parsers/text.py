"""Plain text: paragraphs between empty lines.

In: a text file in any of the encodings of `encodings`. Out: a `Document` of paragraphs. Names that look like Markdown
are `markdown`'s.
"""

import re
from pathlib import Path

from ingestion.language import detect_language
from ingestion.parsers.encodings import decode_text
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.titles import choose_title
from ingestion.records import Block, BlockKind, Document

EMPTY_LINES = re.compile(r"\n\s*\n|\f")


def accepts(file: FileInfo) -> bool:
    """Any text that no parser before it wanted."""
    return file.kind is FileKind.TEXT


def parse(path: Path, info: FileInfo) -> Document:
    """The file's paragraphs."""
    return read_text(decode_text(path.read_bytes()), name=info.name)


def read_text(text: str, *, name: str) -> Document:
    """Line ends inside a paragraph stay: they may be verses, addresses or a table of sorts."""
    paragraphs = (_trim(paragraph) for paragraph in EMPTY_LINES.split(text))
    blocks = tuple(Block(kind=BlockKind.PARAGRAPH, text=paragraph) for paragraph in paragraphs if paragraph)
    return Document(title=choose_title(None, blocks, name=name), blocks=blocks, language=detect_language(text))


def _trim(paragraph: str) -> str:
    return "\n".join(line.rstrip() for line in paragraph.strip().split("\n"))

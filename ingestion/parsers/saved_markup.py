"""Reads HTML saved as .doc, .xls and the like, as many programs do.

In: a page with the name of an Office file. Out: a `Document` with all its text: there is no main text to extract.
"""

from pathlib import Path

from ingestion.language import language_of
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.markup import add_markup, decode_markup
from ingestion.parsers.outline import Outline
from ingestion.parsers.titles import choose_title
from ingestion.records import Document

ENDINGS = frozenset({".doc", ".docx", ".rtf", ".odt", ".xls", ".xlsx"})


def accepts(file: FileInfo) -> bool:
    """HTML with the extension of an Office file."""
    return file.kind is FileKind.HTML and file.ending in ENDINGS


def parse(path: Path, info: FileInfo) -> Document:
    """Raises no errors of its own."""
    outline = Outline()
    add_markup(outline, decode_markup(path.read_bytes()))
    blocks = outline.finish()
    language = language_of(blocks)
    return Document(title=choose_title(None, blocks, name=info.name), blocks=blocks, language=language)

"""Documents and sheets that are HTML inside, as many programs save what they call .doc and .xls.

In: a page whose name is that of an Office file. Out: a `Document` with all its words: nothing in it surrounds a main
text.
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
    """HTML under such a name."""
    return file.kind is FileKind.HTML and file.ending in ENDINGS


def parse(path: Path, info: FileInfo) -> Document:
    """Raises nothing of its own."""
    outline = Outline()
    add_markup(outline, decode_markup(path.read_bytes()))
    blocks = outline.finish()
    language = language_of(blocks)
    return Document(title=choose_title(None, blocks, name=info.name), blocks=blocks, language=language)

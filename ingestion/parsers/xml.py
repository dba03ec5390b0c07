"""Reads XML without a parser of its own: the text between its tags.

In: an XML file that is neither a page nor a book. Out: a `Document` with a paragraph for each element that directly
contains text. Invalid XML is read as plain text.
"""

from collections.abc import Iterator
from pathlib import Path

from ingestion.language import language_of
from ingestion.parsers import text as plain_text
from ingestion.parsers.encodings import decode_text
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.outline import Outline, choose_title
from ingestion.parsers.xml_trees import Element, local_name, read_tree
from ingestion.records import BlockKind, Document

UNREAD = frozenset({"style", "script"})  # in drawings


def accepts(file: FileInfo) -> bool:
    """XML that no other parser accepts."""
    return file.kind is FileKind.XML


def parse(path: Path, info: FileInfo) -> Document:
    """Raises MemoryError when the tree is too large; SourceError only for too much text (see `Outline`)."""
    data = path.read_bytes()
    try:
        root = read_tree(data)
    except ValueError:
        return plain_text.read_text(decode_text(data), name=info.name)
    outline = Outline()
    for line in _lines(root):
        outline.add(BlockKind.PARAGRAPH, line)
    blocks = outline.finish()
    language = language_of(blocks)
    return Document(title=choose_title(None, blocks, name=info.name), blocks=blocks, language=language)


def _lines(root: Element) -> Iterator[str]:
    """The text of each element that has text of its own, including its children's, which are not repeated."""
    told: set[Element] = set()
    for element in root.iter():
        if element.getparent() in told or local_name(element) in UNREAD:
            told.add(element)
        elif _has_words(element):
            told.add(element)
            yield " ".join("".join(element.itertext()).split())


def _has_words(element: Element) -> bool:
    own = [element.text, *(inner.tail for inner in element)]
    return any(text and text.strip() for text in own)

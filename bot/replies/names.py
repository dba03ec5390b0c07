"""What a document is called when the bot speaks of it.

In: its source and the title that its parser found. Out: the name that the person knows it by: a file keeps its file
name (parsers find titles such as "Microsoft Word - Document1"), a page has its title.
"""

from collections.abc import Mapping
from pathlib import PurePath

from domain.documents import DocumentCard, SourceType

SIGNS: Mapping[SourceType, str] = {
    SourceType.NOTE: "📝",
    SourceType.FILE: "📄",
    SourceType.LINK: "🔗",
    SourceType.PATH: "📄",
}
_FILES = frozenset({SourceType.FILE, SourceType.PATH})


def known_as(source_type: SourceType, title: str, identifier: str) -> str:
    """The name, never empty while the source has any."""
    name = PurePath(identifier).name
    if source_type in _FILES and "." in name:
        return name
    return title or identifier


def name_of(document: DocumentCard) -> str:
    """The same for a document of the library."""
    return known_as(document.source_type, document.title, document.source_identifier)


def shortened(text: str, characters: int) -> str:
    """At most `characters` characters of one line; what is cut off is marked by an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"

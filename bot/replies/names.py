"""What a document is called when the bot speaks of it.

In: a document, or text of any length. Out: the name that the person knows it by, and names that fit a line. What the
name is, is a rule of the domain.
"""

from collections.abc import Mapping

from domain.documents import DocumentCard, SourceType, known_as

SIGNS: Mapping[SourceType, str] = {
    SourceType.NOTE: "📝",
    SourceType.FILE: "📄",
    SourceType.LINK: "🔗",
    SourceType.PATH: "📄",
}


def name_of(document: DocumentCard) -> str:
    """The name of a document of the library."""
    return known_as(document.source_type, document.title, document.source_identifier)


def shortened(text: str, characters: int) -> str:
    """At most `characters` characters of one line; what is cut off is marked by an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"

"""What a document is called when the bot speaks of it.

In: a document, or text of any length. Out: the name that the person knows it by, and names that fit a line. What the
name is, is a rule of the domain.
"""

from collections.abc import Mapping

from domain.documents import DocumentCard, Medium, SourceType, known_as

WORD_CHARACTERS = 10  # so much of a line may be given up to end with a whole word

SIGNS: Mapping[SourceType, str] = {
    SourceType.NOTE: "📝",
    SourceType.FILE: "📄",
    SourceType.LINK: "🔗",
    SourceType.SITE: "🔗",
    SourceType.PATH: "📄",
}
MEDIA_SIGNS: Mapping[Medium, str] = {Medium.IMAGE: "🖼", Medium.AUDIO: "🎙", Medium.VIDEO: "🎬"}


def sign_of(document: DocumentCard) -> str:
    """By what it is made of; texts by where they came from."""
    return MEDIA_SIGNS.get(document.medium, SIGNS[document.source_type])


def name_of(document: DocumentCard) -> str:
    """The name of a document of the library."""
    return known_as(document.source_type, document.title, document.source_identifier)


def shortened(text: str, characters: int) -> str:
    """At most `characters` characters of one line, up to a word's end where one is near, and an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    head, after = line[: characters - 1], line[characters - 1]
    whole, space, _ = head.rpartition(" ")
    is_in_word = after.isalnum() and space and len(head) - len(whole) <= WORD_CHARACTERS
    return (whole if is_in_word else head).rstrip(" ,;:-–—(«") + "…"

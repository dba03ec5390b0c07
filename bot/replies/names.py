"""The name by which the bot refers to a document.

In: a document, or text of any length. Out: the name that the person knows it by, and names that fit a line. The rule
for the name itself is in `domain`.
"""

from collections.abc import Iterable, Mapping
from os.path import commonprefix

from domain.documents import DocumentCard, Medium, SourceType, known_as

WORD_CHARACTERS = 10  # a line may be shortened by so many characters to end with a whole word

SIGNS: Mapping[SourceType, str] = {
    SourceType.NOTE: "📝",
    SourceType.FILE: "📄",
    SourceType.LINK: "🔗",
    SourceType.SITE: "🔗",
    SourceType.PATH: "📄",
}
MEDIA_SIGNS: Mapping[Medium, str] = {Medium.IMAGE: "🖼", Medium.AUDIO: "🎙", Medium.VIDEO: "🎬"}


def sign_of(document: DocumentCard) -> str:
    """The document's sign: by its medium; for text by its source type."""
    return MEDIA_SIGNS.get(document.medium, SIGNS[document.source_type])


def name_of(document: DocumentCard) -> str:
    """The name of a document of the library."""
    return known_as(document.source_type, document.title, document.source_identifier)


def told_apart(names: Iterable[str], characters: int) -> dict[str, str]:
    """Each name within `characters`. Those that begin alike are cut at the beginning, where they would look the same:
    «…Ромашка.docx» and «…Василёк.docx»."""
    cut = {name: shortened(name, characters) for name in names}
    for alike in ([name for name in cut if cut[name] == each] for each in set(cut.values())):
        begin = commonprefix(alike).rfind(" ") + 1 if len(alike) > 1 else 0  # noqa: RUF071 - by characters
        cut.update({name: shortened(f"…{name[begin:]}", characters) for name in alike if begin})
    return cut


def shortened(text: str, characters: int) -> str:
    """`text` on one line; if over `characters`, cut (at a word's end if one is near) and closed with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    head, after = line[: characters - 1], line[characters - 1]
    whole, space, _ = head.rpartition(" ")
    is_in_word = after.isalnum() and space and len(head) - len(whole) <= WORD_CHARACTERS
    return (whole if is_in_word else head).rstrip(" ,;:-–—(«") + "…"

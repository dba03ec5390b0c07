"""The name by which the bot refers to a document, and why it was not read, as a sentence.

In: a document, or text of any length; an error code and parameters, as the database keeps them. Out: the name that the
person knows it by, names that fit a line, and HTML from `locales/*/errors.ftl`. The rule for the name is in `domain`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from os.path import commonprefix

from bot.texts import Value, Words
from domain.documents import DocumentCard, Medium, SourceType, known_as
from domain.locator import JsonValue
from domain.visible import readable_address
from ingestion.errors import FailureCode

NAME_CHARACTERS = 80
PARTS_NAMED = 4  # unread parts that are listed; the others are counted
WORD_CHARACTERS = 10  # a line may be shortened by so many characters to end with a whole word

ADDRESSED = frozenset({SourceType.LINK, SourceType.SITE})  # can be refreshed, and are shown with their address
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


def listed(names: Sequence[str], most: int, words: Words) -> str:
    """The first names, and how many others there are."""
    first = ", ".join(names[:most])
    return words.plain("list-more", first=first, count=len(names) - most) if len(names) > most else first


def failure_sentence(document: DocumentCard, words: Words, *, plain: bool = False) -> str:
    """Why it was not read, as HTML, or `plain` for a terminal; of a code that is unknown here that of INTERNAL."""
    key = f"error-{document.error_code}"
    key = key if key in words.keys else f"error-{FailureCode.INTERNAL.value}"
    fill = words.plain if plain else words
    return fill(key, **{name: _value(name, document, words) for name in words.variables(key)})


def unread_values(document: DocumentCard, words: Words) -> dict[str, Value]:
    """Values for `receipt-unread`: how many parts could not be read, which ones and why. The file name of a captioned
    photo is a number, so the document's name stands for it."""
    said = []
    for part in document.unread:
        name = document.name if part.name == document.source_identifier else readable_address(part.name)
        said.append(words.plain("unread-part", name=shortened(name, 50), code=part.code or ""))
    return {"count": len(said), "parts": listed(said, PARTS_NAMED, words)}


def service_name(params: Mapping[str, JsonValue], words: Words) -> str:
    name = params.get("service")
    if not isinstance(name, str) or name.lower() in ("jina", "embedder"):  # these mean nothing to people
        return words.plain("service-search")
    return words.plain("service-named", name=name)


def _value(name: str, document: DocumentCard, words: Words) -> Value:
    """A parameter of the sentence. Its title is that of the document that was there first, as its own messages show it;
    a voice message has no name of its own."""
    told = document.error_params
    given = told.get(name)
    if name == "service":
        return service_name(told, words)
    if name == "created_at":
        return moment_of(given) or document.created_at
    if isinstance(given, int | float):
        return given
    if name == "title" and isinstance(identifier := told.get("source_identifier"), str):
        given = known_as(SourceType(str(told["source_type"])), str(given or ""), identifier)
    return shortened(document.name if given in (None, "", document.source_identifier) else str(given), NAME_CHARACTERS)


def moment_of(value: JsonValue) -> datetime | None:
    return datetime.fromisoformat(value) if value and isinstance(value, str) else None

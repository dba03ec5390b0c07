"""The Classifier of the seeds: finds the sources in a message.

In: an `IncomingMessage`, a neutral view of a Telegram message. Out: `Source` records, in the order in which a person
would name them: a file with its caption; addresses with at most a few words around them are LINKs; prose is a NOTE,
word for word, and addresses that the person spelled out in it are read too (Telegram also marks "README.md" as one).
Of a forwarded post they are the channel's own signature. Those hidden behind words ("details <here>") stay in the text.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from domain.documents import Lane, SourceType
from domain.visible import visible
from ingestion.fetch.urls import is_video_host, normalise_url
from ingestion.parsers.markdown import parse_markdown
from ingestion.records import BlockKind, Source

TITLE_CHARACTERS = 60
FEW_WORDS = 4
"""Up to this many words beside an address are a remark ("вот, почитай на досуге"); more are a text of their own."""

_WRITTEN_IN_FULL = ("http://", "https://", "www.")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class MessageLink:
    """A `url` or `text_link` entity. Offset and length count UTF-16 code units, as Telegram does."""

    offset: int
    length: int
    target: str | None = None  # of a text_link; None: the text itself is the address


@dataclass(frozen=True, kw_only=True)
class IncomingMessage:
    """What the bot knows of a message; `text` is the caption when there is a file."""

    text: str = ""
    links: tuple[MessageLink, ...] = ()
    file: Source | None = None  # of any kind, as far as the file itself tells
    forwarded: bool = False
    author: str | None = None  # of the forwarded original
    published_at: datetime | None = None  # of the forwarded original
    origin: str | None = None  # the original's public address: https://t.me/channel/12
    unsupported: str | None = None  # a kind that cannot be kept: "sticker", "location", "other"


def sources_of(message: IncomingMessage) -> tuple[Source, ...]:
    """The sources in a message; empty when it holds nothing to keep."""
    if message.file is not None:
        file = replace(message.file, author=message.author, published_at=message.published_at, url=message.origin)
        return (replace(file, text=message.text.strip() or None),)
    if message.unsupported is not None:
        return ()
    pieces = _cut(message)
    if len(_WORD.findall(_prose(pieces))) > FEW_WORDS:
        written = [] if message.forwarded else [piece for piece in pieces if piece.in_full]
        return (_note(pieces, message), *_links(written, message))
    links = _links(pieces, message)
    if links or not _WORD.search(message.text):
        return links
    return (_note(pieces, message),)


def words_of(message: IncomingMessage) -> tuple[Source, ...]:
    """The sources in the caption of a file that cannot be taken, as if the caption were a message of its own. A few
    words beside an address become that link's text: other files of an album take their caption from there."""
    found = sources_of(replace(message, file=None, unsupported=None))
    if not found or found[0].text is not None or not _WORD.search(_prose(_cut(message))):
        return found
    return (replace(found[0], text=message.text.strip()), *found[1:])


def link_of(address: str, *, author: str | None = None, published_at: datetime | None = None) -> Source:
    """The source of one page or video; videos go to Lane.LONG."""
    lane = Lane.LONG if is_video_host(address) else Lane.QUICK
    return Source(type=SourceType.LINK, identifier=address, author=author, published_at=published_at, lane=lane)


def section_of(address: str) -> Source:
    """«Добавить весь раздел»: the page with the pages below it."""
    return Source(type=SourceType.SITE, identifier=address, lane=Lane.LONG)


def one_line(name: str | None) -> str:
    """A name that is safe in a list or an answer; empty when nothing in it is visible."""
    return " ".join(visible(name or "").split())


def note_title(text: str) -> str:
    """The first line that has words, cut at a word boundary, without its full stop: sentences go on behind a title. Of
    a Markdown heading its words."""
    line = next((line for line in text.splitlines() if _WORD.search(line)), text)
    heading = next((block for block in parse_markdown(line, name="").blocks if block.kind is BlockKind.HEADING), None)
    line = one_line(heading.text if heading else line)
    if len(line) <= TITLE_CHARACTERS:
        return line if line.endswith("..") else line.removesuffix(".") or line
    head = line[:TITLE_CHARACTERS]
    if line[TITLE_CHARACTERS].isalnum() and " " in head:
        head = head.rsplit(" ", 1)[0]
    return head.rstrip(" ,.;:-–—(«") + "…"


@dataclass(frozen=True, kw_only=True)
class _Piece:
    shown: str
    address: str | None = None
    hidden: bool = False  # the text shows other words than the address
    in_full: bool = False  # shown with its scheme or "www."


def _cut(message: IncomingMessage) -> list[_Piece]:
    """The text as a sequence of plain pieces and links."""
    units = message.text.encode("utf-16-le")
    pieces: list[_Piece] = []
    position = 0
    for link in sorted(message.links, key=lambda link: link.offset):
        start, end = link.offset * 2, (link.offset + link.length) * 2
        if start < position or end > len(units):
            continue  # an entity overlaps or exceeds the text: the earlier one wins
        pieces.append(_Piece(shown=_decode(units[position:start])))
        shown = _decode(units[start:end])
        address = normalise_url(link.target or shown)
        hidden = link.target is not None and address is not None and normalise_url(shown) != address
        in_full = not hidden and shown.lower().startswith(_WRITTEN_IN_FULL)
        pieces.append(_Piece(shown=shown, address=address, hidden=hidden, in_full=in_full))
        position = end
    return [*pieces, _Piece(shown=_decode(units[position:]))]


def _prose(pieces: list[_Piece]) -> str:
    """The text outside the visible addresses."""
    return "".join(piece.shown for piece in pieces if piece.address is None or piece.hidden)


def _decode(units: bytes) -> str:
    return units.decode("utf-16-le", errors="replace")


def _note(pieces: list[_Piece], message: IncomingMessage) -> Source:
    text = "".join(f"{piece.shown} ({piece.address})" if piece.hidden else piece.shown for piece in pieces).strip()
    title = note_title(message.text)
    return Source(
        type=SourceType.NOTE,
        identifier=title,
        title=title,
        text=text,
        author=message.author,
        published_at=message.published_at,
        url=message.origin,
    )


def _links(pieces: list[_Piece], message: IncomingMessage) -> tuple[Source, ...]:
    addresses = dict.fromkeys(piece.address for piece in pieces if piece.address)
    return tuple(link_of(each, author=message.author, published_at=message.published_at) for each in addresses)

"""The seeds' Classifier: which sources a message holds.

In: an `IncomingMessage`, as neutral a picture of a Telegram message as this needs. Out: `Source` records, in the order
in which a person would name them. It is pure: it fetches nothing, and kinds it cannot read yet yield nothing.

What a person expects of "send anything, it all goes into your base":
- a file is a FILE, and its caption goes with it (`Source.text`; the pipeline makes it the first paragraph); where the
  file cannot be taken, its words are (`words_of`);
- addresses with at most a few words around them are LINKs: the pages are wanted, not "look at this";
- prose is a NOTE, word for word; addresses that the person wrote into it in full are read too, as LINKs (Telegram
  also marks "README.md" as an address, .md being a country);
- a forwarded post is a NOTE alone: the addresses under it are the channel's own signs, not the person's wish;
- addresses hidden behind words ("details <here>") are kept in the note's text, and are not read.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from domain.documents import Lane, SourceType
from ingestion.fetch.urls import normalise_url
from ingestion.fetch.video_hosts import is_video_host
from ingestion.records import Source

TITLE_CHARACTERS = 60
FEW_WORDS = 4
"""So many words beside an address are a remark ("вот, почитай на досуге"), more are a text of their own."""

_WRITTEN_IN_FULL = ("http://", "https://", "www.")
_WORD = re.compile(r"\w+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Signs that turn what follows around, or that nobody sees. Joiners stay: emoji are made of them.
_UNSEEN = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True, kw_only=True)
class MessageLink:
    """A `url` or `text_link` entity. Offset and length count UTF-16 code units, as Telegram does."""

    offset: int
    length: int
    target: str | None = None  # of a text_link; None: the text itself is the address


@dataclass(frozen=True, kw_only=True)
class AttachedFile:
    """A file of the message, of whatever kind."""

    file_id: str
    name: str | None = None
    title: str | None = None  # what people call it where it has no name: «Голосовое от 3 июня»
    is_recording: bool = False
    size_bytes: int | None = None
    media_type: str | None = None


@dataclass(frozen=True, kw_only=True)
class IncomingMessage:
    """What the bot knows of a message; `text` is the caption when there is a file."""

    text: str = ""
    links: tuple[MessageLink, ...] = ()
    file: AttachedFile | None = None
    forwarded: bool = False
    author: str | None = None  # of the forwarded original
    published_at: datetime | None = None  # of the forwarded original
    origin: str | None = None  # the original's public address: https://t.me/channel/12
    unsupported: str | None = None  # a kind that cannot be kept: "sticker", "location", "other"


def sources_of(message: IncomingMessage) -> tuple[Source, ...]:
    """The sources in a message, none when it holds nothing to keep."""
    if message.file is not None:
        return (_file_source(message.file, message),)
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
    """What is written under a file that cannot be taken, as if it had come alone: people sent these words, too.
    A few words beside an address go with its page: the other files of an album take theirs from there."""
    found = sources_of(replace(message, file=None, unsupported=None))
    if not found or found[0].text is not None or not _WORD.search(_prose(_cut(message))):
        return found
    return (replace(found[0], text=message.text.strip()), *found[1:])


def link_of(address: str, *, author: str | None = None, published_at: datetime | None = None) -> Source:
    """One page, or a video."""
    lane = Lane.LONG if is_video_host(address) else Lane.QUICK
    return Source(type=SourceType.LINK, identifier=address, author=author, published_at=published_at, lane=lane)


def section_of(address: str) -> Source:
    """«Добавить весь раздел»: the page with the pages below it."""
    return Source(type=SourceType.SITE, identifier=address, lane=Lane.LONG)


def one_line(name: str | None) -> str:
    """A name as it may stand in a list or an answer; empty when nothing of it is to be seen."""
    return " ".join(_UNSEEN.sub("", _CONTROL.sub(" ", name or "")).split())


def note_title(text: str) -> str:
    """The first line with words in it, cut at a word's end."""
    line = one_line(next((line for line in text.splitlines() if _WORD.search(line)), text))
    if len(line) <= TITLE_CHARACTERS:
        return line
    head = line[:TITLE_CHARACTERS]
    if line[TITLE_CHARACTERS].isalnum() and " " in head:
        head = head.rsplit(" ", 1)[0]
    return head.rstrip(" ,.;:-–—(«") + "…"


@dataclass(frozen=True, kw_only=True)
class _Piece:
    shown: str
    address: str | None = None
    hidden: bool = False  # behind other words
    in_full: bool = False  # with its scheme, to be seen


def _cut(message: IncomingMessage) -> list[_Piece]:
    """The text as a row of plain pieces and links."""
    units = message.text.encode("utf-16-le")
    pieces: list[_Piece] = []
    position = 0
    for link in sorted(message.links, key=lambda link: link.offset):
        start, end = link.offset * 2, (link.offset + link.length) * 2
        if start < position or end > len(units):
            continue  # overlapping or beyond the text: the first one stands
        pieces.append(_Piece(shown=_decode(units[position:start])))
        shown = _decode(units[start:end])
        address = normalise_url(link.target or shown)
        hidden = link.target is not None and address is not None and normalise_url(shown) != address
        in_full = not hidden and shown.lower().startswith(_WRITTEN_IN_FULL)
        pieces.append(_Piece(shown=shown, address=address, hidden=hidden, in_full=in_full))
        position = end
    return [*pieces, _Piece(shown=_decode(units[position:]))]


def _prose(pieces: list[_Piece]) -> str:
    """What is said beside the addresses."""
    return "".join(piece.shown for piece in pieces if piece.address is None or piece.hidden)


def _decode(units: bytes) -> str:
    return units.decode("utf-16-le", errors="replace")


def _file_source(file: AttachedFile, message: IncomingMessage) -> Source:
    caption = message.text.strip()
    return Source(
        type=SourceType.FILE,
        identifier=file.name or (note_title(caption) if caption else file.file_id),
        title=file.title,
        text=caption or None,
        file_id=file.file_id,
        size_bytes=file.size_bytes,
        media_type=file.media_type,
        author=message.author,
        published_at=message.published_at,
        url=message.origin,
        lane=Lane.LONG if file.is_recording else Lane.QUICK,
    )


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
    addresses = [piece.address for piece in pieces if piece.address]
    return tuple(
        link_of(address, author=message.author, published_at=message.published_at)
        for address in dict.fromkeys(addresses)
    )

"""Reads all files packed in one file, one by one, and joins them into one document.

In: an archive, or a letter that has been parsed. Out: one `Document`; each block names the file that it comes from, and
files that could not be read are listed. `reader` reads each file inside.
"""

import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from time import monotonic
from typing import TypeVar

from domain.documents import DocumentStatus, Medium, UnreadPart
from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import BLOCKS, Listing, Member
from ingestion.parsers.process import ParseProcess
from ingestion.progress import Progress
from ingestion.records import Block, BlockKind, Document, FetchedFile
from ingestion.spool import Spool, joined

T = TypeVar("T")

LARGEST_TOTAL_BYTES = 512 * 1024 * 1024
LARGEST_RATIO = 200  # of unpacked to packed bytes, over all files: text reaches 20, sheets and logs 100
RATIO_FREE_BYTES = 32 * 1024 * 1024  # below this size the ratio is not checked
MOST_MEMBERS = 1_000
DEEPEST = 2  # an archive inside an archive is read; a third level is only listed
MOST_UNREAD_INSIDE = 1_000  # listed unread parts of the files inside: a thousand archives may have as many each
READING_S = 1_800.0  # after this time no further file of an archive is begun: a thousand could take a day


@dataclass(kw_only=True)
class Allowance:
    """What may still be unpacked and read of one thing that was sent, including everything inside it."""

    depth: int
    members: int
    total_bytes: int
    until: float  # on the clock of `monotonic`

    @classmethod
    def of(cls, file: FetchedFile) -> "Allowance":
        """The full allowance of a file that has just come in."""
        total_bytes = min(LARGEST_TOTAL_BYTES, max(RATIO_FREE_BYTES, LARGEST_RATIO * file.size_bytes))
        return cls(depth=DEEPEST, members=MOST_MEMBERS, total_bytes=total_bytes, until=monotonic() + READING_S)


ReadMember = Callable[[FetchedFile, Progress, Allowance], Awaitable[Document]]
"""`FileReader.read`: raises SourceError, ServiceError, LeaseLost."""


async def read_archive(
    file: FetchedFile, progress: Progress, allowance: Allowance, *, unpacker: ParseProcess, read: ReadMember
) -> Document:
    """The document of a single-file archive is that file's. Raises SourceError FILE_ARCHIVE_EMPTY or FILE_ENCRYPTED."""
    if not allowance.depth:
        raise SourceError(FailureCode.FILE_UNSUPPORTED, name=file.name, detail="packed too often")
    contents = await _read_contents(file, progress, allowance, unpacker, read)
    if contents.first is not None and not contents.unread and len(contents.documents) == 1:
        return contents.first
    if not contents.documents:
        is_locked = contents.unread and all(part.code is FailureCode.FILE_ENCRYPTED for part in contents.unread)
        code = FailureCode.FILE_ENCRYPTED if is_locked else FailureCode.FILE_ARCHIVE_EMPTY
        raise SourceError(code, name=file.name, detail=f"{len(contents.unread)} files unread")
    return contents.joined(PurePosixPath(file.name).stem)


async def add_attachments(
    letter: Document,
    file: FetchedFile,
    progress: Progress,
    allowance: Allowance,
    *,
    unpacker: ParseProcess,
    read: ReadMember,
) -> Document:
    """The letter with its attachments; when nested too deep, attachments are only listed."""
    allowed = allowance if allowance.depth else replace(allowance, members=0)
    contents = await _read_contents(file, progress, allowed, unpacker, read)
    if not contents.documents:
        return replace(letter, unread=(*letter.unread, *contents.unread))
    attached = contents.joined(letter.title)
    return replace(
        letter,
        blocks=joined(letter.blocks, attached.blocks),
        parts=attached.parts,
        unread=(*letter.unread, *attached.unread),
    )


async def _read_contents(
    file: FetchedFile, progress: Progress, allowance: Allowance, unpacker: ParseProcess, read: ReadMember
) -> "_Contents":
    with tempfile.TemporaryDirectory(dir=file.path.parent, prefix="inside-") as folder:
        listing = await unpacker.unpack(
            file, Path(folder), members=allowance.members, total_bytes=allowance.total_bytes
        )
        allowance.members -= len(listing.members)
        allowance.total_bytes -= sum(member.size_bytes for member in listing.members)
        contents = _Contents(listing, file.path.parent)
        for done, member in enumerate(listing.members):
            await progress.report(DocumentStatus.PARSING, done=done, total=len(listing.members))
            await _read_member(member, Path(folder), contents, allowance, read, progress)
    return contents


async def _read_member(
    member: Member, folder: Path, contents: "_Contents", allowance: Allowance, read: ReadMember, progress: Progress
) -> None:
    """A file that could not be read is listed, unless it is empty."""
    if monotonic() > allowance.until:
        contents.unread.append(UnreadPart(name=member.name, code=FailureCode.FILE_TOO_SLOW))
        return
    file = FetchedFile(
        path=folder / str(member.number),
        name=PurePosixPath(member.name).name,
        media_type=None,
        size_bytes=member.size_bytes,
        sha256=member.sha256,
    )
    allowance.depth -= 1
    try:
        contents.add(member.name, await read(file, progress.muted(), allowance))
    except SourceError as error:
        if error.code is not FailureCode.FILE_EMPTY:
            contents.unread.append(UnreadPart(name=member.name, code=error.code))
    finally:
        allowance.depth += 1


class _Contents:
    """What was read of an archive, and what was not. Blocks are spooled, so that only some of them are in memory."""

    def __init__(self, listing: Listing, folder: Path) -> None:
        """Many blocks are spooled to `folder`."""
        self.documents: list[Document] = []  # without their blocks
        self.first: Document | None = None  # with its blocks
        self.unread = [
            *(UnreadPart(name=name, code=FailureCode.FILE_TOO_HEAVY) for name in listing.refused),
            *(UnreadPart(name=name, code=FailureCode.FILE_ENCRYPTED) for name in listing.encrypted),
        ]
        self._blocks = Spool(folder, BLOCKS)
        self._unread_inside: list[UnreadPart] = []
        self._unnamed = 0  # how many unread parts are beyond MOST_UNREAD_INSIDE

    def add(self, name: str, document: Document) -> None:
        """Add the document of one file. Raises OSError."""
        self._blocks.extend(_blocks(name, document))
        self.first = None if self.documents else document
        self.documents.append(replace(document, blocks=(), unread=()))
        left = max(0, MOST_UNREAD_INSIDE - len(self._unread_inside))
        self._unread_inside += (replace(part, name=f"{name}/{part.name}") for part in document.unread[:left])
        self._unnamed += len(document.unread[left:])

    def joined(self, title: str) -> Document:
        """One document of all; if too many parts are unread, the last entry tells how many more."""
        more = (UnreadPart(name=f"… (+{self._unnamed})"),) if self._unnamed else ()
        return Document(
            title=title,
            blocks=self._blocks.finish(),
            language=_most(document.language for document in self.documents),
            medium=_most(document.medium for document in self.documents) or Medium.TEXT,
            parts=sum(document.parts or 1 for document in self.documents),
            unread=(*self.unread, *self._unread_inside, *more),
        )


def _blocks(name: str, document: Document) -> Iterator[Block]:
    """The file's name as a heading, then its blocks; members of a nested archive get this name as a prefix."""
    yield Block(kind=BlockKind.HEADING, text=name, level=1, locator=Locator(member=name))
    for block in document.blocks:
        member = f"{name}/{block.locator.member}" if block.locator.member else name
        yield replace(block, locator=replace(block.locator, member=member))


def _most(values: Iterator[T | None]) -> T | None:
    counted = Counter(value for value in values if value is not None)
    return counted.most_common(1)[0][0] if counted else None

"""Reads all files packed in one file, one by one, and joins them into one document.

In: an archive, or a letter that has been parsed. Out: one `Document`; each block names the file that it comes from, and
files that could not be read are listed. It does not decide how a file inside is read: it calls `reader` again for each.
"""

import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from time import monotonic
from typing import TypeVar

from domain.documents import DocumentStatus, Medium, UnreadPart
from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import BLOCKS, Listing, Member, gather_blocks
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
READING_S = 1_800.0
"""After this time no further file of an archive is begun: a thousand of them could take a day."""


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

    def take(self, members: Sequence[Member]) -> None:
        """Subtract what was unpacked."""
        self.members -= len(members)
        self.total_bytes -= sum(member.size_bytes for member in members)


ReadMember = Callable[[FetchedFile, Progress, Allowance], Awaitable[Document]]
"""`FileReader.read`: raises SourceError, ServiceError, LeaseLost."""


class ArchiveReader:
    """Reads archives and the attachments of letters."""

    def __init__(self, *, unpacker: ParseProcess) -> None:
        self._unpacker = unpacker

    async def read_archive(
        self, file: FetchedFile, progress: Progress, allowance: Allowance, read: ReadMember
    ) -> Document:
        """Raises SourceError when nothing in the archive can be read: FILE_ARCHIVE_EMPTY, or FILE_ENCRYPTED.

        The document of a single-file archive is that file's.
        """
        if not allowance.depth:
            raise SourceError(FailureCode.FILE_UNSUPPORTED, name=file.name, detail="packed too often")
        contents = await self._read_contents(file, progress, allowance, read)
        if contents.single is not None:
            return contents.single
        if not contents.documents:
            code = FailureCode.FILE_ENCRYPTED if contents.all_encrypted else FailureCode.FILE_ARCHIVE_EMPTY
            raise SourceError(code, name=file.name, detail=f"{len(contents.unread)} files unread")
        return _joined(PurePosixPath(file.name).stem, contents)

    async def add_attachments(
        self, letter: Document, file: FetchedFile, progress: Progress, allowance: Allowance, read: ReadMember
    ) -> Document:
        """The letter with its attachments; when nested too deep, attachments are only listed."""
        names_only = replace(allowance, members=0)
        contents = await self._read_contents(file, progress, allowance if allowance.depth else names_only, read)
        if not contents.documents:
            return replace(letter, unread=(*letter.unread, *contents.unread))
        attached = _joined(letter.title, contents)
        return replace(
            letter,
            blocks=joined(letter.blocks, attached.blocks),
            parts=attached.parts,
            unread=(*letter.unread, *attached.unread),
        )

    async def _read_contents(
        self, file: FetchedFile, progress: Progress, allowance: Allowance, read: ReadMember
    ) -> "_Contents":
        with tempfile.TemporaryDirectory(dir=file.path.parent, prefix="inside-") as folder:
            listing = await self._unpacker.unpack(
                file, Path(folder), members=allowance.members, total_bytes=allowance.total_bytes
            )
            allowance.take(listing.members)
            contents = _Contents(listing, file.path.parent)
            for done, member in enumerate(listing.members):
                await progress.report(DocumentStatus.PARSING, done=done, total=len(listing.members))
                await _read_member(member, Path(folder), contents, allowance, read, progress)
        return contents


async def _read_member(
    member: Member, folder: Path, contents: "_Contents", allowance: Allowance, read: ReadMember, progress: Progress
) -> None:
    if monotonic() > allowance.until:
        contents.unread.append(UnreadPart(name=member.name, code=FailureCode.FILE_TOO_SLOW))
        return
    inside = replace(allowance, depth=allowance.depth - 1)
    try:
        document = await read(_as_file(member, folder), progress.muted(), inside)
    except SourceError as error:
        contents.leave_out(member.name, error.code)
        return
    finally:
        allowance.members, allowance.total_bytes = inside.members, inside.total_bytes
    contents.add(member.name, document)


def _as_file(member: Member, folder: Path) -> FetchedFile:
    return FetchedFile(
        path=folder / str(member.number),
        name=PurePosixPath(member.name).name,
        media_type=None,
        size_bytes=member.size_bytes,
        sha256=member.sha256,
    )


class _Contents:
    """What was read of an archive, and what was not. Blocks are spooled, so that only some of them are in memory."""

    def __init__(self, listing: Listing, folder: Path) -> None:
        """Many blocks are spooled to `folder`."""
        self.documents: list[tuple[str, Document]] = []  # without their blocks
        self.blocks: Spool[Block] = Spool(folder, BLOCKS)
        self.unread = [
            *(UnreadPart(name=name, code=FailureCode.FILE_TOO_HEAVY) for name in listing.refused),
            *(UnreadPart(name=name, code=FailureCode.FILE_ENCRYPTED) for name in listing.encrypted),
        ]
        self._all = len(listing.members) + len(self.unread)
        self._encrypted = len(listing.encrypted)
        self._unread_inside: list[UnreadPart] = []
        self._unnamed = 0  # how many unread parts are beyond MOST_UNREAD_INSIDE
        self._first: Document | None = None

    @property
    def single(self) -> Document | None:
        """The document of the archive's only file, if it was read."""
        return self._first if self._all == 1 else None

    @property
    def all_encrypted(self) -> bool:
        """Whether there are files and all have a password."""
        return 0 < self._encrypted == self._all

    def leave_out(self, name: str, code: FailureCode) -> None:
        """List a file that could not be read; an empty one is not listed."""
        if code is FailureCode.FILE_EMPTY:
            self._all -= 1
            return
        self._encrypted += code is FailureCode.FILE_ENCRYPTED
        self.unread.append(UnreadPart(name=name, code=code))

    def add(self, name: str, document: Document) -> None:
        """Add the document of one file. Raises OSError."""
        gather_blocks(_blocks(name, document), self.blocks)
        self._first = None if self.documents else document
        self.documents.append((name, replace(document, blocks=(), unread=())))
        left = max(0, MOST_UNREAD_INSIDE - len(self._unread_inside))
        self._unread_inside += (replace(part, name=f"{name}/{part.name}") for part in document.unread[:left])
        self._unnamed += len(document.unread[left:])

    @property
    def all_unread(self) -> tuple[UnreadPart, ...]:
        """Unread parts of the archive and of its files; if too many, the last entry tells how many more."""
        more = (UnreadPart(name=f"… (+{self._unnamed})"),) if self._unnamed else ()
        return (*self.unread, *self._unread_inside, *more)


def _joined(title: str, contents: _Contents) -> Document:
    documents = [document for _, document in contents.documents]
    return Document(
        title=title,
        blocks=contents.blocks.finish(),
        language=_most(document.language for document in documents),
        medium=_most(document.medium for document in documents) or Medium.TEXT,
        parts=sum(document.parts or 1 for document in documents),
        unread=contents.all_unread,
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

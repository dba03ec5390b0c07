"""Reads a file on disk with the reader that its content needs.

In: `FetchedFile`. Out: `Document`; progress is reported by page or second. Text formats are parsed, pictures and pages
without text recognised, recordings transcribed; of a section of a site the pages, then each document that they link
to as a chapter; of archives and letters each file inside, whose name its blocks carry. What cannot be read here raises
an error with the reason, or is listed.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from statistics import mode
from time import monotonic

from domain.documents import DocumentStatus, Medium, UnreadPart
from domain.locator import Locator
from ingestion.chunking.passages import PassageSizes
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import BLOCKS, Listing, Member
from ingestion.parsers.kinds import FileKind, glance
from ingestion.parsers.outline import chapter, choose_title
from ingestion.parsers.process import FileParser, ParseProcess
from ingestion.parsers.subtitles import to_paragraphs
from ingestion.ports import Transcriber
from ingestion.progress import Progress
from ingestion.reading.pictures import PictureReader
from ingestion.records import Block, BlockKind, Document, FetchedFile
from ingestion.spool import Spool, joined

ReadFile = Callable[[FetchedFile, Progress], Awaitable[Document]]
"""`FileReader.read`: raises SourceError, ServiceError, LeaseLost."""
READING_S = 600.0  # after this time no further document of a section is begun: fifty scans could take hours
LARGEST_TOTAL_BYTES = 512 * 1024 * 1024  # of what an archive holds
LARGEST_RATIO = 200  # of unpacked to packed bytes, over all files: text reaches 20, sheets and logs 100
RATIO_FREE_BYTES = 32 * 1024 * 1024  # below this size the ratio is not checked
MOST_MEMBERS = 1_000
DEEPEST = 2  # an archive inside an archive is read; a third level is only listed
MOST_UNREAD_INSIDE = 1_000  # listed unread parts of the files inside: a thousand archives may have as many each
ARCHIVE_S = 1_800.0  # after this time no further file of an archive is begun: a thousand could take a day
NOTHING_TO_MISS = frozenset({FailureCode.FILE_EMPTY, FailureCode.FILE_WITHOUT_TEXT, FailureCode.FILE_WITHOUT_WORDS})


async def read_recording(file: FetchedFile, progress: Progress, transcriber: Transcriber) -> Document:
    """What is said in it. Raises SourceError (FILE_WITHOUT_SPEECH, and the transcriber's), ServiceError, LeaseLost."""

    async def heard(done_s: float, total_s: float) -> None:
        await progress.report(DocumentStatus.LISTENING, done=round(done_s), total=round(total_s))

    await progress.report(DocumentStatus.LISTENING)
    transcript = await transcriber.transcribe(file.path, name=file.name, heard=heard)
    blocks = to_paragraphs(transcript.utterances)
    if not blocks:
        raise SourceError(FailureCode.FILE_WITHOUT_SPEECH, name=file.name)
    return Document(
        title=choose_title(transcript.title, (), name=file.name),
        blocks=blocks,
        language=transcript.language,
        medium=Medium.VIDEO if transcript.has_picture else Medium.AUDIO,
        duration_s=transcript.duration_s,
    )


async def read_section(file: FetchedFile, progress: Progress, *, read_pages: ReadFile, read: ReadFile) -> Document:
    """Raises SourceError FILE_WITHOUT_TEXT when neither pages nor documents have text; ServiceError."""
    try:
        section = await read_pages(file, progress)
    except SourceError as error:
        if error.code is not FailureCode.FILE_WITHOUT_TEXT:
            raise
        section = Document(title=file.name, blocks=())  # a section may be a mere list of documents
    unread = list(section.unread)
    until = monotonic() + READING_S
    chapters: list[Document] = []  # without their blocks
    gathered = Spool(file.path.parent, BLOCKS)
    for done, attached in enumerate(file.attached):
        await progress.report(DocumentStatus.PARSING, done=done, total=len(file.attached))
        if monotonic() > until:
            unread.append(UnreadPart(name=attached.url or attached.name, code=FailureCode.FILE_TOO_SLOW))
            continue
        try:
            document = replace(await read(attached, progress.muted()), title=attached.name)
        except SourceError as error:
            if error.code not in NOTHING_TO_MISS:
                unread.append(UnreadPart(name=attached.url or attached.name, code=error.code))
            continue
        unread.extend(document.unread)
        gathered.extend(chapter(document, url=attached.url or ""))
        chapters.append(replace(document, blocks=()))
    if not section.blocks and not chapters:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=file.name, detail=f"{len(unread)} parts unread")
    is_one_document = not section.blocks and len(chapters) == 1
    return replace(
        section,
        title=chapters[0].title if is_one_document else section.title,
        blocks=joined(section.blocks, gathered.finish()),
        language=section.language or next((document.language for document in chapters), None),
        parts=(section.parts or 0) + len(chapters),
        unread=tuple(unread),
    )


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
        return cls(depth=DEEPEST, members=MOST_MEMBERS, total_bytes=total_bytes, until=monotonic() + ARCHIVE_S)


ReadMember = Callable[[FetchedFile, Progress, Allowance], Awaitable[Document]]
"""As `ReadFile`."""


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
        """Add the document of one file: its name as a heading, then its blocks. Raises OSError."""
        self._blocks.append(Block(kind=BlockKind.HEADING, text=name, level=1, locator=Locator(member=name)))
        for block in document.blocks:
            member = f"{name}/{block.locator.member}" if block.locator.member else name  # of an archive inside this one
            self._blocks.append(replace(block, locator=replace(block.locator, member=member)))
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
            language=mode([each.language for each in self.documents if each.language] or [None]),
            medium=mode(document.medium for document in self.documents),
            parts=sum(document.parts or 1 for document in self.documents),
            unread=(*self.unread, *self._unread_inside, *more),
        )


class FileReader:
    """Chooses the reader by content, not by name."""

    def __init__(
        self,
        *,
        parser: ParseProcess,
        pictures: PictureReader | None,
        recordings: Transcriber | None,
        sizes: PassageSizes | None = None,
    ) -> None:
        """`pictures` and `recordings` are None where no model is set up. With `sizes` texts come cut into passages, if
        the whole text of a file is theirs (`CutBlocks`)."""
        self._parser = parser
        self._sizes = sizes
        self._pictures = pictures
        self._recordings = recordings

    async def read(self, file: FetchedFile, progress: Progress, allowance: Allowance | None = None) -> Document:
        """`allowance`: what may still be unpacked, for a file inside another. Raises SourceError, ServiceError,
        LeaseLost."""
        if file.attached:
            return await read_section(file, progress, read_pages=self._read_text, read=self._read_part)
        sizes = self._sizes if allowance is None else None
        allowance = allowance or Allowance.of(file)
        match await asyncio.to_thread(glance, file.path):  # the directory of a ZIP archive may take most of a second
            case FileKind.ARCHIVE:
                return await read_archive(file, progress, allowance, unpacker=self._parser, read=self.read)
            case FileKind.EMAIL | FileKind.OUTLOOK:
                letter = await self._parser.parse(file, progress)
                return await add_attachments(letter, file, progress, allowance, unpacker=self._parser, read=self.read)
            case FileKind.IMAGE if self._pictures is not None:
                return await self._pictures.read_picture(file, progress)
            case FileKind.IMAGE:
                raise SourceError(FailureCode.FILE_NEEDS_RECOGNITION, name=file.name)
            case FileKind.MEDIA if self._recordings is not None:
                return await read_recording(file, progress, self._recordings)
            case FileKind.MEDIA:
                raise SourceError(FailureCode.FILE_NEEDS_HEARING, name=file.name)
            case _:
                return await self._read_text(file, progress, sizes)

    async def _read_part(self, file: FetchedFile, progress: Progress) -> Document:
        return await self.read(file, progress, Allowance.of(file))

    async def read_plain(self, file: FetchedFile, progress: Progress, parser: FileParser) -> Document | None:
        """A small file that `parser` alone can read; None where `read` would ask others, too. Raises SourceError."""
        if glance(file.path) is not None:
            return None
        parsed = await parser.parse(file, progress, self._sizes)
        return None if parsed.pages_without_text and self._pictures is not None else self._with_text(parsed, file)

    async def _read_text(self, file: FetchedFile, progress: Progress, sizes: PassageSizes | None = None) -> Document:
        parsed = await self._parser.parse(file, progress, sizes)
        if parsed.pages_without_text and self._pictures is not None:
            parsed = await self._pictures.fill_pages(file, parsed, progress)
        return self._with_text(parsed, file)

    def _with_text(self, parsed: Document, file: FetchedFile) -> Document:
        if parsed.blocks:
            return parsed
        if not parsed.pages_without_text:
            raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=file.name)
        code = FailureCode.FILE_NEEDS_RECOGNITION if self._pictures is None else FailureCode.FILE_WITHOUT_WORDS
        raise SourceError(code, name=file.name)

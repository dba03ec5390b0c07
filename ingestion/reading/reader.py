"""Reads a file on disk with the reader that its content needs.

In: `FetchedFile`. Out: `Document`; progress is reported by page or second. Text formats are parsed, pictures and pages
without text recognised, recordings transcribed, and of a section of a site the pages, then each document that they link
to as a chapter. What cannot be read here raises an error with the reason, or is listed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import monotonic

from domain.documents import DocumentStatus, Medium, UnreadPart
from ingestion.chunking.passages import PassageSizes
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import BLOCKS
from ingestion.parsers.kinds import FileKind, glance
from ingestion.parsers.outline import chapter, choose_title
from ingestion.parsers.process import FileParser, ParseProcess
from ingestion.parsers.subtitles import to_paragraphs
from ingestion.ports import Transcriber
from ingestion.progress import Progress
from ingestion.reading.archives import Allowance, add_attachments, read_archive
from ingestion.reading.pictures import PictureReader
from ingestion.records import Document, FetchedFile
from ingestion.spool import Spool, joined

ReadFile = Callable[[FetchedFile, Progress], Awaitable[Document]]
"""`FileReader.read`: raises SourceError, ServiceError, LeaseLost."""
READING_S = 600.0  # after this time no further document of a section is begun: fifty scans could take hours
_NOTHING_TO_MISS = frozenset({FailureCode.FILE_EMPTY, FailureCode.FILE_WITHOUT_TEXT, FailureCode.FILE_WITHOUT_WORDS})


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
        elif (document := await _read_one(attached, progress, read, unread)) is not None:
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


async def _read_one(file: FetchedFile, progress: Progress, read: ReadFile, unread: list[UnreadPart]) -> Document | None:
    """The document, titled with its file name; None, listed in `unread` if it matters, when it cannot be read."""
    try:
        document = replace(await read(file, progress.muted()), title=file.name)
    except SourceError as error:
        if error.code not in _NOTHING_TO_MISS:
            unread.append(UnreadPart(name=file.url or file.name, code=error.code))
        return None
    unread.extend(document.unread)
    return document


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

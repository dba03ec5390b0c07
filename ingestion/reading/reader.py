"""Reads a file on disk with the reader that its content needs.

In: `FetchedFile`. Out: `Document`; progress is reported by page or second. Text formats are parsed, pictures and pages
without text recognised, recordings transcribed. What this installation cannot read raises an error with the reason.
"""

import asyncio
from typing import Protocol

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileKind, glance
from ingestion.progress import Progress
from ingestion.reading.archives import Allowance, ReadMember
from ingestion.reading.sites import read_section
from ingestion.records import Document, FetchedFile


class Parse(Protocol):
    """See `ingestion.parsers.process.ParseProcess`."""

    async def parse(self, file: FetchedFile, progress: Progress) -> Document:
        """The file's text; without blocks when all pages are pictures. Raises SourceError."""
        ...


class Pictures(Protocol):
    """See `ingestion.reading.pictures.PictureReader`."""

    async def read_picture(self, file: FetchedFile, progress: Progress) -> Document:
        """The words in a photo. Raises SourceError, ServiceError."""
        ...

    async def fill_pages(self, file: FetchedFile, parsed: Document, progress: Progress) -> Document:
        """`parsed` with the words of the pages that have no text. Raises ServiceError."""
        ...


class Recordings(Protocol):
    """See `ingestion.reading.recordings.RecordingReader`."""

    async def read_recording(self, file: FetchedFile, progress: Progress) -> Document:
        """The transcript. Raises SourceError, ServiceError."""
        ...


class Archives(Protocol):
    """See `ingestion.reading.archives.ArchiveReader`."""

    async def read_archive(
        self, file: FetchedFile, progress: Progress, allowance: Allowance, read: ReadMember
    ) -> Document:
        """The text of the files in it. Raises SourceError, ServiceError."""
        ...

    async def add_attachments(
        self, letter: Document, file: FetchedFile, progress: Progress, allowance: Allowance, read: ReadMember
    ) -> Document:
        """`letter` with the text of its attachments. Raises SourceError, ServiceError."""
        ...


class FileReader:
    """Chooses the reader by content, not by name."""

    def __init__(
        self,
        *,
        parser: Parse,
        pictures: Pictures | None,
        recordings: Recordings | None,
        archives: Archives | None = None,
    ) -> None:
        """`pictures` and `recordings` are None where no model is set up; without `archives` no archive is opened."""
        self._parser = parser
        self._archives = archives
        self._pictures = pictures
        self._recordings = recordings

    async def read(self, file: FetchedFile, progress: Progress, allowance: Allowance | None = None) -> Document:
        """`allowance` is what may still be unpacked, for a file that was inside another. Raises SourceError,
        ServiceError, LeaseLost."""
        if file.attached:
            return await read_section(file, progress, read_pages=self._read_text, read=self.read)
        allowance = allowance or Allowance.of(file)
        match await asyncio.to_thread(glance, file.path):  # the directory of a ZIP archive may take most of a second
            case FileKind.ARCHIVE if self._archives is not None:
                return await self._archives.read_archive(file, progress, allowance, self.read)
            case FileKind.EMAIL | FileKind.OUTLOOK if self._archives is not None:
                letter = await self._parser.parse(file, progress)
                return await self._archives.add_attachments(letter, file, progress, allowance, self.read)
            case FileKind.IMAGE:
                return await self._read_picture(file, progress)
            case FileKind.MEDIA:
                return await self._read_recording(file, progress)
            case _:
                return await self._read_text(file, progress)

    async def read_plain(self, file: FetchedFile, progress: Progress, parser: Parse) -> Document | None:
        """The text of a small file that `parser` alone can read; None where `read` would ask others, too. Raises
        SourceError."""
        if glance(file.path) is not None:
            return None
        parsed = await parser.parse(file, progress)
        return parsed if parsed.blocks and not parsed.pages_without_text else None

    async def _read_picture(self, file: FetchedFile, progress: Progress) -> Document:
        if self._pictures is None:
            raise SourceError(FailureCode.FILE_NEEDS_RECOGNITION, name=file.name)
        return await self._pictures.read_picture(file, progress)

    async def _read_recording(self, file: FetchedFile, progress: Progress) -> Document:
        if self._recordings is None:
            raise SourceError(FailureCode.FILE_NEEDS_HEARING, name=file.name)
        return await self._recordings.read_recording(file, progress)

    async def _read_text(self, file: FetchedFile, progress: Progress) -> Document:
        parsed = await self._parser.parse(file, progress)
        if parsed.pages_without_text and self._pictures is not None:
            parsed = await self._pictures.fill_pages(file, parsed, progress)
        if not parsed.blocks:
            raise SourceError(self._why_silent(parsed), name=file.name)
        return parsed

    def _why_silent(self, parsed: Document) -> FailureCode:
        if not parsed.pages_without_text:
            return FailureCode.FILE_WITHOUT_TEXT
        return FailureCode.FILE_NEEDS_RECOGNITION if self._pictures is None else FailureCode.FILE_WITHOUT_WORDS

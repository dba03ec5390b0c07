"""Reads a section of a site and the documents that its pages link to, as one `Document`.

In: the crawler's file, with its documents attached. Out: the pages, then each document as a chapter titled with its
file name; every block has its address. What could not be read is listed by address, with the reason. It does not decide
how pages and documents are read.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import monotonic

from domain.documents import DocumentStatus, UnreadPart
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import BLOCKS, gather_blocks
from ingestion.parsers.crawled import chapter
from ingestion.progress import Progress
from ingestion.records import Block, Document, FetchedFile
from ingestion.spool import Spool, joined

ReadFile = Callable[[FetchedFile, Progress], Awaitable[Document]]
"""`FileReader.read`: raises SourceError, ServiceError, LeaseLost."""

READING_S = 600.0
"""After this time no further document of a section is begun: fifty scans could take hours."""

_NOTHING_TO_MISS = frozenset({FailureCode.FILE_EMPTY, FailureCode.FILE_WITHOUT_TEXT, FailureCode.FILE_WITHOUT_WORDS})


async def read_section(file: FetchedFile, progress: Progress, *, read_pages: ReadFile, read: ReadFile) -> Document:
    """Raises SourceError FILE_WITHOUT_TEXT when neither pages nor documents have text; ServiceError."""
    section = await _pages(file, progress, read_pages)
    unread = list(section.unread)
    until = monotonic() + READING_S
    chapters: list[Document] = []  # without their blocks
    gathered: Spool[Block] = Spool(file.path.parent, BLOCKS)
    for done, attached in enumerate(file.attached):
        await progress.report(DocumentStatus.PARSING, done=done, total=len(file.attached))
        if monotonic() > until:
            unread.append(UnreadPart(name=attached.url or attached.name, code=FailureCode.FILE_TOO_SLOW))
        elif (document := await _read_one(attached, progress, read, unread)) is not None:
            gather_blocks(chapter(document, url=attached.url or ""), gathered)
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


async def _pages(file: FetchedFile, progress: Progress, read_pages: ReadFile) -> Document:
    """The pages as a document; empty when they have no text, since a section may be a mere list of documents."""
    try:
        return await read_pages(file, progress)
    except SourceError as error:
        if error.code is not FailureCode.FILE_WITHOUT_TEXT:
            raise
        return Document(title=file.name, blocks=())


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

"""Recognises the words in photos, and on PDF pages without text (OCR).

In: a file on disk, and for a PDF what its parser found. Out: a `Document` with the recognised words on their pages. The
limited parsing process makes the pictures, and a `Recognizer` reads several of them concurrently.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

import structlog

from domain.documents import DocumentStatus, Medium
from domain.ending import together
from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.language import detect_language
from ingestion.parsers.codec import Picture
from ingestion.parsers.outline import choose_title
from ingestion.parsers.pdf_layout import build_paragraphs
from ingestion.parsers.pdf_lines import plain_lines
from ingestion.parsers.process import ParseProcess
from ingestion.ports import Recognizer
from ingestion.progress import Progress
from ingestion.records import Block, BlockKind, Document, FetchedFile

MOST_SLOW_PAGES = 2  # that took over a minute to draw; the rest is skipped: the file would take hours

Recognised = Mapping[int, Sequence[Block]]
"""Page number, from 1 -> its blocks; pages without words are missing."""


class PictureReader:
    """Reads pictures, several at once."""

    def __init__(self, pictures: ParseProcess, recognizer: Recognizer, *, pages: int, concurrency: int) -> None:
        """`pages` of one document, the others are listed as unread; `concurrency` of all documents together."""
        self._pictures = pictures
        self._recognizer = recognizer
        self._most_pages = pages
        self._concurrency = concurrency
        self._places = asyncio.Semaphore(concurrency)

    async def read_picture(self, file: FetchedFile, progress: Progress) -> Document:
        """The words in a photo or on the pages of a TIFF. Raises SourceError (FILE_WITHOUT_WORDS, or why it is not
        opened), ServiceError."""
        await progress.report(DocumentStatus.RECOGNISING)
        first = await self._pictures.open_picture(file, 0)
        pages = range(1, first.pages + 1)

        async def draw(page: int) -> Picture:
            return first if page == 1 else await self._pictures.open_picture(file, page - 1)

        recognised = await self._recognise(pages, draw, progress)
        if not recognised:
            raise SourceError(FailureCode.FILE_WITHOUT_WORDS, name=file.name)
        blocks = _in_order(recognised)
        title = choose_title(None, blocks, name=file.name)
        parsed = Document(
            title=title, blocks=(), pages=first.pages, pages_without_text=tuple(pages), medium=Medium.IMAGE
        )
        document = _with_blocks(parsed, blocks, recognised)
        if first.pages > 1:
            return document
        # A photo has no page number that a citation could name.
        blocks = [replace(block, locator=replace(block.locator, page=None)) for block in blocks]
        return replace(document, blocks=tuple(blocks), pages=None)

    async def fill_pages(self, file: FetchedFile, parsed: Document, progress: Progress) -> Document:
        """`parsed` with the words of its pages without text; a page without words stays in that list. Raises
        ServiceError."""

        async def draw(page: int) -> Picture:
            return await self._pictures.draw_page(file, page - 1)

        recognised = await self._recognise(parsed.pages_without_text, draw, progress)
        if not recognised:
            return parsed
        # A page's own text, such as a stamp, is recognised again in its picture.
        own = [block for block in parsed.blocks if block.locator.page not in recognised]
        filled = _with_blocks(parsed, _merged(own, _in_order(recognised)), recognised)
        return filled if own else replace(filled, medium=Medium.IMAGE)

    async def _recognise(
        self, pages: Sequence[int], draw: Callable[[int], Awaitable[Picture]], progress: Progress
    ) -> dict[int, Sequence[Block]]:
        wanted = pages[: self._most_pages]
        found: dict[int, Sequence[Block]] = {}
        slow = done = 0
        own = asyncio.Semaphore(self._concurrency)  # whoever comes next waits for one page, not for all of ours

        async def read(page: int) -> None:
            nonlocal slow, done
            async with own, self._places:
                try:
                    if slow < MOST_SLOW_PAGES:
                        found[page] = await self._recognizer.recognise((await draw(page)).content)
                except SourceError as error:
                    structlog.get_logger().info("page_not_drawn", page=page, code=error.code.value, detail=error.detail)
                    slow += error.code is FailureCode.FILE_TOO_SLOW
            done += 1
            await progress.report(DocumentStatus.RECOGNISING, done=done, total=len(wanted))

        await progress.report(DocumentStatus.RECOGNISING, done=0, total=len(wanted))
        await together(*map(read, wanted))
        return {page: blocks for page, blocks in found.items() if blocks}


def _in_order(recognised: Recognised) -> list[Block]:
    """The blocks of all pages. Pages of plain paragraphs are joined across page breaks, as those of a PDF are."""
    plain = {page for page, blocks in recognised.items() if all(each.kind is BlockKind.PARAGRAPH for each in blocks)}
    lines = [
        plain_lines(
            [line for block in recognised[page] for line in (*block.text.split("\n"), "")] if page in plain else []
        )
        for page in range(1, max(recognised, default=0) + 1)
    ]
    paragraphs = [
        Block(
            kind=BlockKind.PARAGRAPH,
            text=each.text,
            locator=Locator(page=each.page, page_end=each.last_page if each.last_page != each.page else None),
        )
        for each in build_paragraphs(lines)
    ]
    shaped = [
        replace(block, locator=replace(block.locator, page=page))
        for page, blocks in sorted(recognised.items())
        if page not in plain
        for block in blocks
    ]
    return _merged(paragraphs, shaped)


def _merged(some: Sequence[Block], others: Sequence[Block]) -> list[Block]:
    """All blocks by page; within a page, the order is kept."""
    return sorted([*some, *others], key=lambda block: block.locator.page or 0)


def _with_blocks(parsed: Document, blocks: Sequence[Block], read: Recognised) -> Document:
    return replace(
        parsed,
        blocks=tuple(blocks),
        pages_without_text=tuple(page for page in parsed.pages_without_text if page not in read),
        language=detect_language("\n".join(block.text for block in blocks)),
    )

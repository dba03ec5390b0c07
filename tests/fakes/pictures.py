"""Doubles for reading pictures: a source of pages, and a recogniser that knows what is on them.

In: scripts by page. Out: what was asked, as plain lists.
"""

import asyncio
from collections.abc import Mapping, Sequence

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import Picture
from ingestion.parsers.process import ParseProcess
from ingestion.records import Block, BlockKind, FetchedFile


class FakePictureSource(ParseProcess):
    """A picture of a page is its number; pages that are `broken` cannot be drawn, `slow` ones not in time."""

    def __init__(self, *, pages: int = 1, broken: Sequence[int] = (), slow: Sequence[int] = ()) -> None:
        self._pages = pages
        self._broken = broken
        self._slow = slow
        self.drawn: list[int] = []

    async def draw_page(self, file: FetchedFile, page: int) -> Picture:
        """Remembered, counted from 1."""
        self.drawn.append(page + 1)
        if page + 1 in self._broken:
            raise SourceError(FailureCode.FILE_DAMAGED, name=file.name)
        if page + 1 in self._slow:
            raise SourceError(FailureCode.FILE_TOO_SLOW, name=file.name, seconds=60)
        return Picture(content=str(page + 1).encode(), pages=self._pages)

    async def open_picture(self, file: FetchedFile, page: int) -> Picture:
        """The same."""
        return await self.draw_page(file, page)


class FakeRecognizer:
    """Says of each page what it was told; lines of a paragraph are divided by line breaks. An error is raised."""

    def __init__(self, words: Mapping[int, str | Sequence[Block] | Exception]) -> None:
        self._words = words
        self.read: list[int] = []

    async def recognise(self, picture: bytes) -> list[Block]:
        """One paragraph, or the blocks that were given."""
        await asyncio.sleep(0)  # as whoever asks a service does
        page = int(picture)
        self.read.append(page)
        said = self._words.get(page, ())
        if isinstance(said, Exception):
            raise said
        return [Block(kind=BlockKind.PARAGRAPH, text=said)] if isinstance(said, str) else list(said)

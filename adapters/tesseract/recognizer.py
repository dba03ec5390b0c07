"""Reads pictures with tesseract; meets `ingestion.ports.Recognizer`.

In: a JPEG or PNG. Out: paragraphs in reading order; where a second recogniser is given, pages that tesseract is not
sure of are read by that one.
"""

from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from adapters.tesseract.program import Tesseract, program_pool, read_table
from adapters.tesseract.table import RUNNING_TEXT, SCATTERED, Floor, Page, read_page
from ingestion.errors import ServiceError
from ingestion.ports import Recognizer
from ingestion.records import Block, BlockKind
from sandbox.pool import Pool

WITH_ORIENTATION, AUTOMATIC, SPARSE = 1, 3, 11  # tesseract's --psm
FEWEST_LETTERS = 8  # a page with fewer is searched for scattered words, as on a photo
SURE = 75.0  # confidence; printed pages have 90 and more, handwriting and poor photos 30 to 70


@dataclass(frozen=True, kw_only=True)
class TesseractRecognizer:
    """One process for each picture; `page_s` bounds the wall clock and the processor time of one pass. `async with` or
    `close` ends all."""

    tesseract: Tesseract
    page_s: float
    second: Recognizer | None = None  # a vision model, for what tesseract cannot make out
    sure: float = SURE
    pool: Pool = field(default_factory=program_pool)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the process that the program is started from."""
        await self.pool.close()

    async def recognise(self, picture: bytes) -> list[Block]:
        """Raises ServiceError when tesseract is gone, or the second recogniser is away and tesseract saw nothing."""
        page = await self._look(picture)
        if self.second is None or page.confidence >= self.sure:
            return _to_blocks(page)
        try:
            return await self.second.recognise(picture) or _to_blocks(page)
        except ServiceError:
            if not page.paragraphs:
                raise
            return _to_blocks(page)

    async def _look(self, picture: bytes) -> Page:
        layout = WITH_ORIENTATION if self.tesseract.knows_orientation else AUTOMATIC
        page = await self._read(picture, layout, RUNNING_TEXT)
        if sum(map(len, page.paragraphs)) >= FEWEST_LETTERS:
            return page
        sparse = await self._read(picture, SPARSE, SCATTERED)
        return max(page, sparse, key=lambda read: sum(map(len, read.paragraphs)))

    async def _read(self, picture: bytes, layout: int, floor: Floor) -> Page:
        table = await read_table(self.pool, self.tesseract, picture, layout=layout, timeout_s=self.page_s)
        return read_page(table, floor)


def _to_blocks(page: Page) -> list[Block]:
    return [Block(kind=BlockKind.PARAGRAPH, text=text) for text in page.paragraphs]

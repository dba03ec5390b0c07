"""Keeps the heading path while a document is read from top to bottom.

In: headings with their levels, blocks in order. Out: blocks whose locators carry the path. It knows no format.
"""

from domain.locator import Locator
from ingestion.records import Block, BlockKind


class Outline:
    """Collects blocks; each gets the headings that it stands under, a heading those above it."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []

    def add_heading(self, text: str, level: int) -> None:
        """Open a section; level 1 is the outermost. An empty heading opens none."""
        if not text.strip():
            return
        self._path = [(above, heading) for above, heading in self._path if above < level]
        self._append(BlockKind.HEADING, " ".join(text.split()), level=level)
        self._path.append((level, " ".join(text.split())))

    def add(self, kind: BlockKind, text: str) -> None:
        """Add a block to the section that is open; one without any visible character is left out."""
        if text.strip():
            self._append(kind, text.strip("\n") if kind is BlockKind.CODE else text.strip(), level=None)

    def _append(self, kind: BlockKind, text: str, *, level: int | None) -> None:
        headings = tuple(heading for _, heading in self._path)
        self.blocks.append(Block(kind=kind, text=text, locator=Locator(headings=headings), level=level))

"""Tracks the heading path while a document is read from top to bottom.

In: headings with their levels, blocks and lines of lists or code in order. Out: blocks whose locators carry the path
and the rest of the place. It knows no format.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import BLOCKS, written_chars
from ingestion.records import Block, BlockKind
from ingestion.spool import Spool

INDENT = "  "  # per level of a list
MOST_CHARS = 50 * 1024 * 1024  # of a document: more bytes than a parsing process may send (`kept`)


class Outline:
    """Collects blocks; each gets the headings above it.

    Adding raises SourceError FILE_TOO_HEAVY, without a name, as soon as MOST_CHARS is exceeded.
    """

    def __init__(self) -> None:
        self._blocks: Spool[Block] = Spool(None, BLOCKS)
        self._chars_left = MOST_CHARS
        self.place = Locator()  # set before adding: what the format knows of the place besides headings
        self._path: list[tuple[int, str]] = []
        self._lines: list[str] = []
        self._lines_kind = BlockKind.LIST
        self._locator = self.place
        self._located: tuple[Locator, tuple[str, ...]] = (self.place, ())  # what `_locator` was made from

    def add_heading(self, text: str, level: int) -> None:
        """Open a section; level 1 is the outermost. An empty heading opens none."""
        if not text.strip():
            self.flush()
            return
        self.leave(level)
        self._append(BlockKind.HEADING, " ".join(text.split()), level=level)
        self._path.append((level, " ".join(text.split())))

    def leave(self, level: int) -> None:
        """Close the sections of this level and deeper ones, where the format says that they end."""
        self.flush()
        self._path = [(above, heading) for above, heading in self._path if above < level]

    def add(self, kind: BlockKind, text: str) -> None:
        """Add a block to the open section; one without any visible character is dropped."""
        self.flush()
        if text.strip():
            self._append(kind, text.strip("\n") if kind is BlockKind.CODE else text.strip(), level=None)

    def add_line(self, kind: BlockKind, line: str) -> None:
        """Add a list item or a line of code; adjacent ones of one kind become one block."""
        if self._lines and self._lines_kind is not kind:
            self.flush()
        self._lines_kind = kind
        self._lines.append(line)

    def flush(self) -> None:
        """End the block of collected lines."""
        if self._lines:
            lines, self._lines = self._lines, []
            self.add(self._lines_kind, "\n".join(lines))

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add finished blocks unchanged."""
        self.flush()
        for block in blocks:
            self._blocks.append(block, size=written_chars(block))

    def finish(self) -> Sequence[Block]:
        """All blocks, after the last one was added: a tuple, or a spool for a long document."""
        self.flush()
        return self._blocks.finish()

    def _append(self, kind: BlockKind, text: str, *, level: int | None) -> None:
        headings = tuple(heading for _, heading in self._path)
        if self._located != (self.place, headings):  # most blocks have the place of the one before
            self._located = (self.place, headings)
            self._locator = replace(self.place, headings=headings)
        self._chars_left -= len(text)
        if self._chars_left < 0:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, detail=f"more than {MOST_CHARS} characters")
        block = Block(kind=kind, text=text, locator=self._locator, level=level)
        self._blocks.append(block, size=written_chars(block))

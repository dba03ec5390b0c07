"""The stretch of a document that is being packed into passages: its pieces and its text.

In: blocks in order, as they are asked for. Out: pieces, and the document's text where they stand. What lies behind is
let go, so that a book needs no more room than some of its pages.
"""

from collections.abc import Iterable

from ingestion.chunking.pieces import Knife, Piece
from ingestion.records import BLOCK_SEPARATOR, Block

STRETCH_CHARS = 100_000  # read at a time; some thousand pieces


class Stretch:
    """Begins empty; `move_on` reads."""

    def __init__(self, blocks: Iterable[Block], *, piece_tokens: int) -> None:
        """`piece_tokens`: of the largest piece."""
        self.pieces: list[Piece] = []
        self.is_last = False  # nothing comes after it
        self._blocks = iter(blocks)
        self._knife = Knife(piece_tokens=piece_tokens)
        self._text = ""
        self._start = 0  # of `_text` in the document's text
        self._end = 0
        self._begins: list[int] = []  # where blocks begin in the document's text

    def text(self, start: int, end: int) -> str:
        """Of the document, from and to characters of the blocks that `pieces` are of."""
        return self._text[start - self._start : end - self._start]

    def move_on(self, behind: int) -> None:
        """Let the first `behind` pieces go and read on."""
        del self.pieces[:behind]
        texts = [self._kept_text()]
        read = 0
        while read < STRETCH_CHARS:
            block = next(self._blocks, None)
            if block is None:
                self.is_last = True
                break
            pieces = self._knife.cut(block)
            self.pieces.extend(pieces)
            self._begins.extend([self._end] * len(pieces))
            texts += (block.text, BLOCK_SEPARATOR)
            self._end += len(block.text) + len(BLOCK_SEPARATOR)
            read += len(block.text) + len(BLOCK_SEPARATOR)
        self._text = "".join(texts)

    def _kept_text(self) -> str:
        """From the beginning of the first block that still has a piece: a table's header stands there."""
        behind = len(self._begins) - len(self.pieces)
        del self._begins[:behind]
        first = self._begins[0] if self._begins else self._end
        kept = self._text[first - self._start :]
        self._start = first
        return kept

"""The part of a document that is being packed into passages: its pieces and its text.

In: blocks, read on demand. Out: pieces, and the document's text around them. What has been packed is dropped, so that a
book takes no more memory than some of its pages.
"""

from collections.abc import Iterable

from ingestion.chunking.pieces import Knife, Piece
from ingestion.records import BLOCK_SEPARATOR, Block

STRETCH_CHARS = 100_000  # read at once: some thousand pieces


class Stretch:
    """Empty at first; `move_on` reads the blocks."""

    def __init__(self, blocks: Iterable[Block], *, piece_tokens: int) -> None:
        """`piece_tokens` is the size of the largest piece."""
        self.pieces: list[Piece] = []
        self.is_last = False  # no piece comes after these
        self._blocks = iter(blocks)
        self._knife = Knife(piece_tokens=piece_tokens)
        self._text = ""
        self._start = 0  # offset of `_text` in the document's text
        self._end = 0
        self._begins: list[int] = []  # for each piece, the offset of its block in the document's text

    def text(self, start: int, end: int) -> str:
        """The document's text from `start` to `end`, which must lie in the blocks of `pieces`."""
        return self._text[start - self._start : end - self._start]

    def move_on(self, behind: int) -> None:
        """Drop the first `behind` pieces and read on."""
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
        """The text from the first block that still has a piece on: a table's header is there."""
        behind = len(self._begins) - len(self.pieces)
        del self._begins[:behind]
        first = self._begins[0] if self._begins else self._end
        kept = self._text[first - self._start :]
        self._start = first
        return kept

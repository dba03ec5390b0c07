"""Turns the text of an RTF file, paragraph by paragraph, into blocks.

In: pieces of text, paragraph properties, ends of paragraphs, cells and rows. Out: headings, lists, tables and
paragraphs on an outline; a note follows the paragraph that references it. It knows no control words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingestion.parsers.outline import INDENT, Outline
from ingestion.parsers.tables import render_table
from ingestion.records import Block, BlockKind

DEEPEST_LIST = 8
NO_HEADING = 9  # `\outlinelevel` of body text
BULLETS = frozenset("•·▪◦‣●○■–—-*\uf0b7\uf0a7\uf0d8o")


@dataclass(kw_only=True)
class RtfFlow:
    """The open paragraph, cell, row and table, and the finished blocks."""

    outline: Outline = field(default_factory=Outline)
    level: int = NO_HEADING  # of the open paragraph: an outline level, from 0
    depth: int = 0  # of its list
    in_table: bool = False
    _text: list[str] = field(default_factory=list)
    _bullet: list[str] = field(default_factory=list)
    _note: list[str] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _row: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)

    def add_text(self, text: str) -> None:
        """Add text to the open paragraph or cell."""
        self._text.append(text)

    def add_bullet(self, text: str) -> None:
        """Add to the bullet or number that the program shows before an item."""
        self._bullet.append(text)

    def add_note(self, text: str) -> None:
        """Add text to the footnote that is referenced here."""
        self._note.append(text)

    def end_note(self) -> None:
        """Finish the footnote."""
        note = " ".join("".join(self._note).split())
        self._note.clear()
        if note:
            self._notes.append(note)

    def reset_paragraph(self) -> None:
        """`\\pard`: reset the paragraph's properties."""
        self.level, self.depth, self.in_table = NO_HEADING, 0, False

    def end_paragraph(self) -> None:
        """Finish a paragraph; in a cell it becomes a line."""
        if self.in_table:
            self._text.append("\n")
            return
        self._end_table()
        text = "".join(self._text).strip()
        bullet = "".join(self._bullet).strip()
        self._text.clear()
        self._bullet.clear()
        if text and self.level < NO_HEADING:
            self.outline.add_heading(f"{bullet} {text}".strip(), self.level + 1)
        elif text and bullet:
            mark = "-" if bullet in BULLETS else bullet
            line = text.replace("\n", "\n" + INDENT)
            self.outline.add_line(BlockKind.LIST, f"{INDENT * min(self.depth, DEEPEST_LIST)}{mark} {line}")
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)
        self._add_notes()

    def end_cell(self) -> None:
        """The collected text becomes a cell."""
        self._row.append("".join((*self._bullet, *self._text)))
        self._text.clear()
        self._bullet.clear()

    def end_row(self) -> None:
        """The collected cells become a row."""
        self._rows.append(self._row)
        self._row = []

    def finish(self) -> Sequence[Block]:
        """All blocks, after the last piece of text."""
        self.in_table = False
        self.end_paragraph()
        return self.outline.finish()

    def _end_table(self) -> None:
        if self._row:
            self.end_row()
        if self._rows:
            self.outline.add(BlockKind.TABLE, render_table(self._rows))
            self._rows = []
            self._add_notes()

    def _add_notes(self) -> None:
        for note in self._notes:
            self.outline.add(BlockKind.PARAGRAPH, note)
        self._notes.clear()

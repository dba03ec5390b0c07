"""Renders rows of cells as a Markdown table, the form that all parsers use.

In: rows of plain texts. Out: one line for each row, with a rule under the first. Line breaks in cells become blanks.
"""

from collections.abc import Sequence

LONGEST_ROW_CELLS = 1_000  # a damaged file may claim millions


def render_table(rows: Sequence[Sequence[str]], *, has_head: bool = True) -> str:
    """Pads short rows with empty cells; drops rows and columns without text. A rule marks the first as a head."""
    cells = [[_tidy(cell) for cell in row[:LONGEST_ROW_CELLS]] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return ""
    width = max(len(row) for row in cells)
    padded = [row + [""] * (width - len(row)) for row in cells]
    kept = [column for column in range(width) if any(row[column] for row in padded)]
    lines = ["| " + " | ".join(row[column] for column in kept) + " |" for row in padded]
    if has_head:
        lines.insert(1, "|" + " --- |" * len(kept))
    return "\n".join(lines)


def _tidy(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")

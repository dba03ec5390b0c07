"""Rows of cells as a Markdown table, the form in which every parser hands tables on.

In: rows of plain texts. Out: one line a row, with a rule under the first. Cells keep no line breaks.
"""

from collections.abc import Sequence

LONGEST_ROW_CELLS = 1_000  # a damaged file may claim millions


def render_table(rows: Sequence[Sequence[str]]) -> str:
    """Shorter rows are filled up with empty cells; rows and columns without any text are left out."""
    cells = [[_tidy(cell) for cell in row[:LONGEST_ROW_CELLS]] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return ""
    width = max(len(row) for row in cells)
    padded = [row + [""] * (width - len(row)) for row in cells]
    kept = [column for column in range(width) if any(row[column] for row in padded)]
    lines = ["| " + " | ".join(row[column] for column in kept) + " |" for row in padded]
    lines.insert(1, "|" + " --- |" * len(kept))
    return "\n".join(lines)


def _tidy(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")

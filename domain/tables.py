"""A table as people get it: cells as text, the last column saying where each row stands.

In: nothing. Out: a frozen record. It knows no file format.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SourcedTable:
    """Every row has as many cells as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

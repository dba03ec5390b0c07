"""Finds the header of a table, which every passage of its rows repeats, and the numbers of its rows.

In: a TABLE block: Markdown lines, with a rule under the header if there is one. Lines of plain text above (the table's
name, its unit) belong to the header. Out: offsets and locators. Pure.
"""

import re
from dataclasses import replace

from domain.locator import Locator
from ingestion.chunking.sentences import Offsets
from ingestion.records import Block

HEADER = re.compile(r"\A(?:[^|\n][^\n]*\n)*+[^\n]+\n\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?=\n|\Z)")


def find_header(block: Block) -> Offsets | None:
    """The span of the header with the rule under it."""
    found = HEADER.match(block.text)
    return found.span() if found is not None else None


def row_locator(block: Block, number: int, *, rows: int, has_header: bool) -> Locator:
    """The locator of row `number` of `rows`; a header is number 0 and counts as a row.

    A block of 40 rows whose locator says «rows 1 to 40» counts its header too; «2 to 40» means only the rows under it.
    With any other count some rows were left out, and only the whole range is known.
    """
    locator = block.locator
    if locator.row is None:
        return locator
    named = (locator.row_end or locator.row) - locator.row + 1
    if named == rows:
        return replace(locator, row=locator.row + number, row_end=None)
    if has_header and named == rows - 1:
        return replace(locator, row=locator.row + max(number - 1, 0), row_end=None)
    return locator

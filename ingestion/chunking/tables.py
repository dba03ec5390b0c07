"""What cutting a table needs to know of it: its header, which every passage of its rows repeats, and its rows' numbers.

In: a TABLE block: lines of Markdown, the second one a rule when the first is a header. Out: offsets and locators. Pure.
"""

import re
from dataclasses import replace

from domain.locator import Locator
from ingestion.chunking.sentences import Offsets
from ingestion.records import Block

HEADER = re.compile(r"\A[^\n]+\n\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?=\n|\Z)")


def find_header(block: Block) -> Offsets | None:
    """The header with the rule under it."""
    found = HEADER.match(block.text)
    return found.span() if found is not None else None


def row_locator(block: Block, number: int, *, rows: int, has_header: bool) -> Locator:
    """Where row `number` of `rows` stands; a header is number 0 and counts as a row.

    A block that says «rows 1 to 40» of 40 counts its header too, one that says «2 to 40» means the rows under it. Any
    other count leaves rows out, so that only the whole range is known.
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

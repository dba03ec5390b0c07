"""Counts within an answer: how many things it lists, and how many more it says there are.

In: an answer's text. Out: those counts, and the text without its remainder line («ещё 10 из 20»). A count of listed
items is in no material, but is correct. Whether the items themselves are right is not checked here.
"""

import re
from decimal import Decimal

_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(?![ :|-]+$).*\|[ \t]*$", re.MULTILINE)
_TITLE = re.compile(r"^(?:\*\*[^*\n]+\*\*:?|#{1,6} .+)$", re.MULTILINE)
_LISTED_IN_LINE = re.compile(r":([^:\n]+?)(?:[.!?;](?:\s|$)|$)", re.MULTILINE)
_SEPARATOR = re.compile(r"[,;]\s+(?:и|а также|and)\s+|[,;]\s+|\s+(?:и|and)\s+")
# «ещё 10 (по запросу могу вывести)», «ещё 10 из 20», "10 more of 20", in a line of its own and without other numbers
_REMAINDER = re.compile(
    r"^[^\w\n]*(?:и |and )?(?:(?:ещё|еще)\s+(\d{1,4})(?:\s+из\s+(\d{1,4}))?|(\d{1,4}) more(?:\s+of\s+(\d{1,4}))?)"
    r"\b[^\d\n]{0,60}$",
    re.MULTILINE | re.IGNORECASE,
)


def without_remainder(text: str) -> str:
    """The text without the line that says how many items are left."""
    return _REMAINDER.sub("", text)


def said_to_be_left(text: str) -> frozenset[int]:
    """The numbers of further items that the text mentions."""
    return frozenset(int(next(filter(None, match.groups()))) for match in _REMAINDER.finditer(text))


def left_and_total(text: str) -> tuple[int, int] | None:
    """Both numbers of the last line that has both: «ещё 8 из 20» gives (8, 20)."""
    said = [next((match[n], match[n + 1]) for n in (1, 3) if match[n]) for match in _REMAINDER.finditer(text)]
    return next(((int(left), int(total)) for left, total in reversed(said) if total), None)


def listed_items(text: str) -> int:
    """The number of list items or table rows."""
    return max(len(_ITEM.findall(text)), len(_ROW.findall(text)) - 1, 0)


def own_counts(text: str) -> frozenset[Decimal]:
    """The numbers of items, table rows and titles, the number of items said to be left, and their sums."""
    rows = len(_ROW.findall(text))
    listed = {len(_ITEM.findall(block)) for block in re.split(r"\n\s*\n", text)}
    listed |= {len(_ITEM.findall(text)), max(rows - 1, 0), len(_TITLE.findall(text))}
    listed |= {len(_SEPARATOR.split(match[1])) for match in _LISTED_IN_LINE.finditer(text)}
    left = said_to_be_left(text)
    counts = {*listed, *left, *(before + more for before in listed for more in left)}
    return frozenset(Decimal(count).normalize() for count in counts if count)

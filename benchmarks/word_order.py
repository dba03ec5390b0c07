"""How much of a text was found, and in its order.

In: two texts. Out: shares of words. The longest common subsequence is computed bit by bit, so that books can be
compared.
"""

import re
from dataclasses import dataclass

WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Found:
    """What became of a text."""

    words: int  # of the gold text
    in_order: float  # share of them that stands in the other text, in the same order
    extra: float  # words of the other text beyond those, by the gold's words


def compare_words(gold: str, other: str) -> Found:
    """Words are runs of letters and digits, in small letters."""
    wanted, found = WORD.findall(gold.lower()), WORD.findall(other.lower())
    common = longest_common(wanted, found)
    most = max(len(wanted), 1)
    return Found(words=len(wanted), in_order=common / most, extra=(len(found) - common) / most)


def longest_common(first: list[str], second: list[str]) -> int:
    """Length of the longest common subsequence (Crochemore and others 2001: a row of the table is one number)."""
    places: dict[str, int] = {}
    for index, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << index
    whole = (1 << len(first)) - 1
    row = whole
    for word in second:
        matches = row & places.get(word, 0)
        row = ((row + matches) | (row - matches)) & whole
    return len(first) - row.bit_count()

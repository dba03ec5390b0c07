"""Groups neighbouring passages of one document into windows that are embedded together (late chunking).

In: the chunks of one document. Out: windows within a budget; every chunk gets its vector in exactly one of them, and
the chunks around it give context. Tokens are estimated from characters, on the high side; a window that a service
refuses goes through `split_window`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ingestion.errors import WindowTooLarge
from ingestion.records import Chunk, Window

HUNDREDTHS = 100  # weights are integers, so that sums are exact wherever a text is cut
# Derivation: an XLM-RoBERTa vocabulary yields about 1.5-1.7 tokens for a Russian word (5-6 letters) and 1.2-1.3 for an
# English one (4-5 letters); with the space before it a word costs 1.9 and 1.6 here. Random letters (keys, hashes) are
# the worst real case, a token for about 1.8 letters: at 0.29 a letter the estimate is never below half.
SPACE_WEIGHT = 25
COMMON_CHARACTERS = "cp1251"  # Russian and English with punctuation: weighing bytes takes half the time
CONTEXT_CHUNKS = 2
"""Neighbours on each side that are embedded again as context, if they fit."""


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, rounded up. The estimate of joined texts never exceeds the sum of their estimates."""
    return -(-weigh_text(text) // HUNDREDTHS)


def weigh_text(text: str) -> int:
    """The same in hundredths of a token; exactly additive over characters."""
    codec = "ascii" if text.isascii() else COMMON_CHARACTERS  # the same bytes sooner
    common = text.encode(codec, "ignore")
    weight = sum(common.translate(_COMMON_WEIGHTS))
    return weight if len(common) == len(text) else weight + sum(map(_weigh_character, _RARE.findall(text)))


@cache
def _weigh_character(character: str) -> int:
    code = ord(character)
    if character.isspace():
        return SPACE_WEIGHT
    if code > 0xFFFF:
        return 300  # beyond the basic plane: byte-level vocabularies need up to three or four tokens for an emoji
    if character.isdigit():
        return 50
    is_ideograph = any(start <= code <= end for start, end in ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF)))
    if is_ideograph or not unicodedata.category(character).startswith("L"):
        return 100  # also punctuation, symbols, combining marks
    if code >= 0x0530:
        return 60  # alphabets behind Latin, Greek and Cyrillic, which the vocabulary covers less
    return 29 if character.islower() else 50  # words in capitals are split into pieces of about two letters


_COMMON_WEIGHTS = bytes(
    _weigh_character(bytes([code]).decode(COMMON_CHARACTERS, errors="replace")) for code in range(256)
)
_RARE = re.compile(f"[^{re.escape(bytes(range(256)).decode(COMMON_CHARACTERS, errors='ignore'))}]")


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowPlace:
    """Ordinals of chunks: the window is [start, reach), its own chunks are [own, end)."""

    start: int
    own: int
    end: int
    reach: int


def cost_of(chunk: Chunk) -> int:
    """Estimated tokens that the chunk takes in a window."""
    return estimate_tokens(chunk.text_under_headings)


def plan_windows(costs: Sequence[int], *, window_tokens: int) -> Iterator[WindowPlace]:
    """Windows for chunks of these costs, in order, of at most `window_tokens`; a larger chunk is alone. Each has as
    many own chunks as leave room for the context after them, at least one."""
    own = 0
    while own < len(costs):
        start, used = own, costs[own]
        while start > max(0, own - CONTEXT_CHUNKS) and used + costs[start - 1] <= window_tokens:
            start -= 1
            used += costs[start]
        end = own + 1
        while end < len(costs) and used + sum(costs[end : end + 1 + CONTEXT_CHUNKS]) <= window_tokens:
            used += costs[end]
            end += 1
        reach = end
        while reach < min(len(costs), end + CONTEXT_CHUNKS) and used + costs[reach] <= window_tokens:
            used += costs[reach]
            reach += 1
        yield WindowPlace(start=start, own=own, end=end, reach=reach)
        own = end


def split_window(window: Window) -> tuple[Window, ...]:
    """The same own chunks in smaller windows: two halves, or a single own chunk without its context. Raises
    WindowTooLarge when the window is a single chunk already."""
    chunks = window.chunks
    if len(window.own) > 1:
        middle = (window.own_start + window.own_end) // 2
        left = replace(window, chunks=chunks[:middle], own_end=middle)
        right = replace(window, chunks=chunks[middle:], own_start=0, own_end=window.own_end - middle)
        return left, right
    if len(chunks) > 1:
        return (replace(window, chunks=window.own, own_start=0, own_end=1),)
    raise WindowTooLarge(f"chunk {chunks[0].ordinal} is refused even alone")

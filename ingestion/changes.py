"""Compares two versions of a document by their blocks.

In: the blocks of both versions. Out: headings that were added and removed, and how many other blocks changed. Pure; it
compares words, not meanings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.records import Block, BlockKind


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What is different; empty when only the layout is."""

    added: tuple[str, ...] = ()  # headings, in order
    removed: tuple[str, ...] = ()
    paragraphs: int = 0  # blocks other than headings with new words: the larger of those that came and those that went

    def __bool__(self) -> bool:
        """False when nothing can be named."""
        return bool(self.added or self.removed or self.paragraphs)


def compare(before: Sequence[Block], after: Sequence[Block]) -> Changes:
    """Two blocks are equal when their words are, wherever they stand."""
    old_headings, new_headings = _headings(before), _headings(after)
    old_words, new_words = _words(before), _words(after)
    added = tuple(heading for key, heading in new_headings.items() if key not in old_headings)
    removed = tuple(heading for key, heading in old_headings.items() if key not in new_headings)
    changed = max(len(new_words - old_words), len(old_words - new_words))
    return Changes(added=added, removed=removed, paragraphs=changed)


def _headings(blocks: Sequence[Block]) -> dict[str, str]:
    return {_plain(block.text): block.text for block in blocks if block.kind is BlockKind.HEADING}


def _words(blocks: Sequence[Block]) -> set[str]:
    return {_plain(block.text) for block in blocks if block.kind is not BlockKind.HEADING}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())

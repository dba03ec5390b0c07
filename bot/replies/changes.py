"""«Что изменилось: …» under the receipt of a new version.

In: `Changes`. Out: HTML of one line, empty when nothing can be named.
"""

from collections.abc import Sequence

from bot.replies.names import shortened
from bot.texts import Words
from ingestion.changes import Changes

NAMED = 3
HEADING_CHARACTERS = 40


def changes_line(changes: Changes, words: Words) -> str:
    """Added and removed sections, then the number of changed paragraphs."""
    parts = [
        _sections("changes-added", changes.added, words),
        _sections("changes-removed", changes.removed, words),
        words.plain("changes-paragraphs", count=changes.paragraphs) if changes.paragraphs else "",
    ]
    listed = ", ".join(filter(None, parts))
    return words("changes", list=listed) if listed else ""


def _sections(key: str, headings: Sequence[str], words: Words) -> str:
    if not headings:
        return ""
    named = ", ".join(f"«{shortened(heading, HEADING_CHARACTERS)}»" for heading in headings[:NAMED])
    if len(headings) > NAMED:
        named = words.plain("list-more", first=named, count=len(headings) - NAMED)
    return words.plain(key, count=len(headings), names=named)

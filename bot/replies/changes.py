"""«Что изменилось: …» under the receipt of a new version.

In: `Changes`. Out: HTML of one line, empty when nothing can be named.
"""

from collections.abc import Sequence

from bot.replies.names import shortened
from bot.texts import Words
from ingestion.changes import Changes, Edit

NAMED = 3
HEADING_CHARACTERS = 40


def changes_line(changes: Changes, words: Words) -> str:
    """Added and removed sections, then replaced words, then the number of other changed paragraphs."""
    others = changes.paragraphs + max(len(changes.edits) - NAMED, 0)
    parts = [
        _sections("changes-added", changes.added, words),
        _sections("changes-removed", changes.removed, words),
        *(_edit(edit, words) for edit in changes.edits[:NAMED]),
        words.plain("changes-paragraphs", count=others) if others else "",
    ]
    listed = ", ".join(filter(None, parts))
    return words("changes", list=listed) if listed else ""


def _edit(edit: Edit, words: Words) -> str:
    """«в п. 3.2 теперь «120 000 рублей» вместо «100 000 рублей»»"""
    kind, name = next(
        ((kind, name) for kind in ("clause", "row", "section") if (name := getattr(edit, kind))), ("nowhere", "")
    )
    return words.plain(
        "changes-edit",
        kind=kind,
        name=shortened(name, HEADING_CHARACTERS),
        before=shortened(edit.before, HEADING_CHARACTERS),
        after=shortened(edit.after, HEADING_CHARACTERS),
    )


def _sections(key: str, headings: Sequence[str], words: Words) -> str:
    if not headings:
        return ""
    named = ", ".join(f"«{shortened(heading, HEADING_CHARACTERS)}»" for heading in headings[:NAMED])
    if len(headings) > NAMED:
        named = words.plain("list-more", first=named, count=len(headings) - NAMED)
    return words.plain(key, count=len(headings), names=named)

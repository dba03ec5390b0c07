"""The text of a rich message (Bot API 10): headings, lists and tables as lines.

In: aiogram's `RichMessage`, which other bots send and people forward. Out: plain text. Pictures, maps and buttons are
left out; their captions are not.
"""

from typing import Any

from aiogram.types import RichMessage

_OWN = ("summary", "text", "expression")
_BELOW = ("caption", "credit")
_SPOKEN = ("text", "expression", "alternative_text")


def rich_words(message: RichMessage) -> str:
    """The message's blocks, separated by empty lines."""
    return "\n\n".join(filter(None, map(_block, message.blocks)))


def _block(block: Any) -> str:
    """`block` is one of twenty types, which keep their text in a few common fields."""
    if block.type == "thinking":
        return ""
    own = [_inline(getattr(block, field, None)) for field in _OWN]
    inner = [_block(each) for each in getattr(block, "blocks", None) or ()]
    items = [_item(item) for item in getattr(block, "items", None) or ()]
    lines = [" | ".join(_inline(cell.text) for cell in row) for row in getattr(block, "cells", None) or ()]
    below = [_inline(getattr(block, field, None)) for field in _BELOW]
    return "\n".join(filter(None, (*own, *inner, *items, *lines, *below)))


def _item(item: Any) -> str:
    """A list item; its label is «1.» or a bullet."""
    return " ".join(filter(None, (item.label, "\n".join(map(_block, item.blocks)))))


def _inline(text: Any) -> str:
    """The plain text of `text`: a string, a list of pieces, or a formatted piece (a caption is one, too)."""
    if text is None or isinstance(text, str):
        return text or ""
    if isinstance(text, list):
        return "".join(map(_inline, text))
    said = next((found for field in _SPOKEN if (found := getattr(text, field, None)) is not None), None)
    return " ".join(filter(None, (_inline(said), _inline(getattr(text, "credit", None)))))

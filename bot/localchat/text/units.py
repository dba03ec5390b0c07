"""UTF-16 units, in which Telegram counts: a character outside the basic multilingual plane has two.

In: text. Out: lengths and offsets. Pure.
"""


def utf16_length(text: str) -> int:
    """How many UTF-16 units `text` has."""
    return len(text) + sum(char > "\uffff" for char in text)


def cut(text: str, start: int, end: int) -> str:
    """The part of `text` between two UTF-16 offsets."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", errors="replace")


def boundaries(text: str) -> set[int]:
    """Every UTF-16 offset at which a character begins, and the end of the text."""
    found, offset = {0}, 0
    for char in text:
        offset += utf16_length(char)
        found.add(offset)
    return found

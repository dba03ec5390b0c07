"""Markdown that is still being written, closed so that it can be shown already.

In: the beginning of an answer. Out: Markdown whose open marks are closed and whose half-written ends are held back,
so that the text grows without a mark flashing up as characters. It does not render.
"""

import re

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)", re.MULTILINE)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_MARKS = ("**", "__", "~~", "`")
_HALF_LINK = re.compile(r"!?\[([^\[\]]*)(?:\]\([^()\s]*)?\Z")
_HALF_MARK = re.compile(r"(?:(?:\A|(?<=\n))(?:[#>*+-]+|\d+\.)|(?:\A|(?<=\s))[*_~`]+)[ \t]*\Z")
_TABLE_ROW = re.compile(r"(?:^\|[^\n]*\n)*^\|[^\n]*\Z", re.MULTILINE)
_TABLE_RULE = re.compile(r"^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?$", re.MULTILINE)


def close_unfinished(markdown: str) -> str:
    """What can be shown of it now. Text that is finished comes back unchanged."""
    if len(_FENCE.findall(markdown)) % 2:
        return markdown  # inside a code block everything is itself; the parser closes the block
    head, separator, tail = markdown.rpartition("\n\n")
    return head + separator + _close_paragraph(_without_half_table(tail))


def _without_half_table(paragraph: str) -> str:
    """A table is shown once its rule is there, and row by row from then on."""
    rows = _TABLE_ROW.search(paragraph)
    if not rows:
        return paragraph
    if not _TABLE_RULE.search(rows.group()):
        return paragraph[: rows.start()]
    return paragraph if paragraph.endswith("|") else paragraph.rpartition("\n")[0]


def _close_paragraph(paragraph: str) -> str:
    shown = _HALF_MARK.sub("", _HALF_LINK.sub(r"\1", paragraph))
    outside_code = _CODE_SPAN.sub("", shown)
    for mark in _MARKS:
        if outside_code.count(mark) % 2:
            shown = _closed(shown, mark)
    return shown


def _closed(text: str, mark: str) -> str:
    """An opening mark that is last of all is dropped; half of a closing one is made whole."""
    trimmed = text.rstrip()
    if trimmed.endswith(mark):
        return trimmed.removesuffix(mark)
    return trimmed.removesuffix(mark[0]) + mark

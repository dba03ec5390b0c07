"""Closes Markdown that is still being written, so that it can be shown.

In: the beginning of an answer. Out: Markdown with its open marks closed and a half-written end held back, so that no
mark is ever shown as characters while the text grows. It does not render.
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
    """The part that can be shown now. Finished text is returned unchanged."""
    if len(_FENCE.findall(markdown)) % 2:
        return markdown  # inside a code block marks are plain text; the parser closes the block
    head, separator, tail = markdown.rpartition("\n\n")
    return head + separator + _close_paragraph(_without_half_table(tail))


def _without_half_table(paragraph: str) -> str:
    """Holds a table back until its rule (`|---|`) is there; from then on it is shown row by row."""
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
    """Drops an opening mark at the very end; completes a half-written closing mark."""
    trimmed = text.rstrip()
    if trimmed.endswith(mark):
        return trimmed.removesuffix(mark)
    return trimmed.removesuffix(mark[0]) + mark

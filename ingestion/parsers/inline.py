"""Renders the inside of a Markdown paragraph as plain text: no stars, no tags, addresses only where they add something.

In: markdown-it's inline tokens, or a piece of HTML. Out: text.
"""

import html
import re
from collections.abc import Callable, Mapping, Sequence

from markdown_it.token import Token

TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^>]*>|<![^>]*>", re.DOTALL)
UNREAD_ELEMENT = re.compile(r"<(script|style)\b.*?(</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
LINE_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
WORTHWHILE_ADDRESS = ("http://", "https://", "mailto:", "tel:")


def render_inline(tokens: Sequence[Token]) -> str:
    """A link becomes its text, followed by an external address in brackets; an image becomes its description."""
    parts: list[str] = []
    links: list[tuple[str, int]] = []  # address, and the index of the first part of its text
    for token in tokens:
        if token.type == "link_open":
            links.append((str(token.attrs.get("href", "")), len(parts)))
        elif token.type == "link_close":
            address, first = links.pop()
            parts.append(_show_address(address, "".join(parts[first:])))
        else:
            parts.append(_render(token))
    return "".join(parts)


def strip_tags(text: str) -> str:
    """The text of a piece of HTML, without scripts, styles and comments."""
    text = UNREAD_ELEMENT.sub(" ", text)
    text = LINE_BREAK_TAG.sub("\n", text)
    lines = (line.strip() for line in html.unescape(TAG.sub("", text)).split("\n"))
    return "\n".join(line for line in lines if line)


def _show_address(address: str, text: str) -> str:
    shown = address.removeprefix("mailto:").removeprefix("tel:")
    if not address.startswith(WORTHWHILE_ADDRESS) or shown in text:
        return ""
    return f" ({shown})"


def _render(token: Token) -> str:
    render = RENDERERS.get(token.type)
    return render(token) if render is not None else ""


def _render_html(token: Token) -> str:
    return "\n" if LINE_BREAK_TAG.fullmatch(token.content) else ""


RENDERERS: Mapping[str, Callable[[Token], str]] = {
    "text": lambda token: token.content,
    "text_special": lambda token: token.content,
    "code_inline": lambda token: f"`{token.content}`",
    "softbreak": lambda _: " ",
    "hardbreak": lambda _: "\n",
    "image": lambda token: render_inline(token.children or []),
    "html_inline": _render_html,
}
"""Other tokens (such as those of emphasis) have no text of their own."""

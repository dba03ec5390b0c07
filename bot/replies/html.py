"""Rich text as Telegram HTML.

In: `RichText`. Out: HTML in the grammar of https://core.telegram.org/bots/api#html-style, always balanced.
It does not cut: `bot.replies.split` does.
"""

import html
from collections.abc import Callable, Mapping

from bot.replies.rich import Kind, RichText, Style
from domain.visible import visible

_Tags = tuple[str, str]


def _pre(language: str) -> _Tags:
    if not language:
        return "<pre>", "</pre>"
    return f'<pre><code class="language-{html.escape(language)}">', "</code></pre>"


_TAGS: Mapping[Kind, Callable[[str], _Tags]] = {
    Kind.BOLD: lambda _: ("<b>", "</b>"),
    Kind.ITALIC: lambda _: ("<i>", "</i>"),
    Kind.STRIKE: lambda _: ("<s>", "</s>"),
    Kind.CODE: lambda _: ("<code>", "</code>"),
    Kind.PRE: _pre,
    Kind.LINK: lambda address: (f'<a href="{html.escape(address)}">', "</a>"),
    Kind.QUOTE: lambda _: ("<blockquote>", "</blockquote>"),
    Kind.FOLDED_QUOTE: lambda _: ("<blockquote expandable>", "</blockquote>"),
}


def to_html(text: RichText) -> str:
    """Tags stay open over runs that share them, so nested formatting comes out nested."""
    parts: list[str] = []
    open_styles: tuple[Style, ...] = ()
    for run in text.runs:
        shared = _shared_length(open_styles, run.styles)
        parts.extend(_closing(open_styles[shared:]))
        parts.extend(_tags(style)[0] for style in run.styles[shared:])
        parts.append(html.escape(visible(run.text), quote=False))
        open_styles = run.styles
    parts.extend(_closing(open_styles))
    return "".join(parts)


def _tags(style: Style) -> _Tags:
    return _TAGS[style.kind](style.value)


def _closing(styles: tuple[Style, ...]) -> list[str]:
    return [_tags(style)[1] for style in reversed(styles)]


def _shared_length(before: tuple[Style, ...], after: tuple[Style, ...]) -> int:
    length = 0
    for left, right in zip(before, after, strict=False):
        if left != right:
            break
        length += 1
    return length

"""Rich text for a terminal.

In: `RichText`. Out: plain text in which quotes are marked and links keep their addresses. It wraps no lines and uses
no colours, so that the output is the same in a pipe.
"""

from collections.abc import Iterable
from itertools import groupby

from bot.replies.rich import Kind, RichText, Run, Style

QUOTE_MARK = "│ "
_QUOTES = frozenset({Kind.QUOTE, Kind.FOLDED_QUOTE})


def to_terminal(text: RichText) -> str:
    """The same text without formatting."""
    return "".join(_passage(runs, quoted=quoted) for quoted, runs in groupby(text.runs, key=_is_quoted))


def _is_quoted(run: Run) -> bool:
    return bool(run.kinds & _QUOTES)


def _passage(runs: Iterable[Run], *, quoted: bool) -> str:
    shown = "".join(_linked(link, runs) for link, runs in groupby(runs, key=_link_of))
    return QUOTE_MARK + shown.replace("\n", f"\n{QUOTE_MARK}") if quoted else shown


def _link_of(run: Run) -> Style | None:
    return next((style for style in run.styles if style.kind is Kind.LINK), None)


def _linked(link: Style | None, runs: Iterable[Run]) -> str:
    label = "".join(run.text for run in runs)
    return f"{label} ({link.value})" if link and link.value != label else label

"""What of an answer can be pressed: only addresses that its facts, the question or the dialogue hold.

In: rich text of a model, and the keys of known addresses. Out: the same, with every other address written so that no
client makes a link of it, and with no label that shows another site than its link leads to.
"""

from collections.abc import Iterator, Set
from itertools import groupby

from bot.replies.rich import Kind, RichText, Run, Style, rich
from rag.addresses import addresses, broken, defanged


def without_strange_links(text: RichText, known: Set[str]) -> RichText:
    """`known`: keys as `rag.addresses.keys` gives them."""
    safe = RichText()
    for (link, is_literal), runs in groupby(text.runs, key=_part_of):
        part = RichText(tuple(runs))
        safe += _linked(part, link.value, known) if link else _plain(part, known, in_code=is_literal)
    return safe


def _part_of(run: Run) -> tuple[Style | None, bool]:
    return next((style for style in run.styles if style.kind is Kind.LINK), None), run.is_literal


def _plain(part: RichText, known: Set[str], *, in_code: bool) -> RichText:
    safe, at, text = RichText(), 0, part.text
    for address in addresses(text, in_code=in_code):
        if address.key not in known:
            styles = part.cut(address.start, address.start + 1).runs[0].styles
            safe += part.cut(at, address.start) + rich(broken(text[address.start : address.end]), *styles)
            at = address.end
    return safe + part.cut(at, len(text))


def _linked(label: RichText, target: str, known: Set[str]) -> RichText:
    """The link, if it is known and its label names no other site; else the label, and the address beside it."""
    leads = next(addresses(target), None)
    named = list(_hosts(label.text))
    is_honest = leads is not None and all(host == leads.host for host in named)
    if leads is not None and leads.key in known and is_honest:
        return label
    bare = _plain(RichText(tuple(_without_link(run) for run in label.runs)), known, in_code=False)
    shown = target if leads is not None and leads.key in known else defanged(target, frozenset())
    return bare if label.text.strip() == target else bare + rich(f" ({shown})")


def _hosts(label: str) -> Iterator[str]:
    return (address.host for address in addresses(label) if address.host)


def _without_link(run: Run) -> Run:
    return Run(run.text, tuple(style for style in run.styles if style.kind is not Kind.LINK))

"""Parses the markup of a page into a tree, without what no visitor would see.

In: the text of a page. Out: lxml's tree for trafilatura, and the texts to try when the main text is missing. Hidden
text is where pages put words for machines, so it is removed before extraction.
"""

import re
from collections import Counter

from lxml.html import HtmlElement, tostring  # type: ignore[import-untyped] # lxml brings no types
from trafilatura import load_html

HIDDEN_SHARE = 0.5
"""A hidden element with more than this share of the page's text is the page itself, hidden until a script has run."""

FOLDS = 3
"""This many hidden elements of one class are tabs, slides or answers that open on a tap: the page's own text."""

WIDEST_SPAN_DIGITS = 2  # of a cell's span: no table on a screen has a hundred columns or rows

_HIDDEN_STYLE = re.compile(
    r"(^|;)\s*(display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(\.0+)?\s*(;|!|$)"
    r"|font-size\s*:\s*0(px|em|rem|pt|%)?\s*(;|!|$)|text-indent\s*:\s*-\d{3,}|(left|top)\s*:\s*-\d{4,}px)",
    re.IGNORECASE,
)
_COLOURS = re.compile(r"(?:^|;)\s*(color|background(?:-color)?)\s*:\s*([^;!]+)", re.IGNORECASE)
_NEVER_PRUNED = frozenset({"html", "body", "main", "article"})


def load_page(text: str) -> HtmlElement | None:
    """The tree without hidden elements; None when the text has no markup."""
    tree = load_html(text)
    if tree is None:
        return None
    _prune_hidden(tree)
    _limit_spans(tree)
    return tree


def words_of(element: HtmlElement) -> str:
    """All text of the element on one line, with blanks between blocks, without scripts and styles."""
    pieces = element.xpath(".//text()[not(ancestor::script or ancestor::style or ancestor::template)]")
    return " ".join(" ".join(map(str, pieces)).split())


def noscript_pages(text: str) -> str:
    """The page's <noscript> content as a page of its own, or an empty text."""
    tree = load_html(text)
    if tree is None:
        return ""
    inside = "".join(_markup(noscript) for noscript in tree.iter("noscript"))
    return f"<html><body>{inside}</body></html>" if inside else ""


def _markup(element: HtmlElement) -> str:
    return (element.text or "") + "".join(tostring(child, encoding="unicode") for child in element)


def _limit_spans(tree: HtmlElement) -> None:
    """Drop absurd spans: a cell that claims a thousand columns and rows would be filled in place by place."""
    for attribute in ("colspan", "rowspan"):
        for cell in tree.xpath(f"//*[@{attribute}]"):
            if len(cell.get(attribute).strip()) > WIDEST_SPAN_DIGITS:
                del cell.attrib[attribute]


def _prune_hidden(tree: HtmlElement) -> None:
    hidden = [element for element in tree.xpath("//*[@hidden or @style]") if _is_hidden(element)]
    if not hidden:
        return
    alike = Counter(map(_likeness, hidden))
    most = len(words_of(tree)) * HIDDEN_SHARE
    for element in hidden:
        is_fold = alike[_likeness(element)] >= FOLDS
        if is_fold or element.getparent() is None or len(words_of(element)) > most:
            _show(element)
        else:
            element.drop_tree()


def _show(element: HtmlElement) -> None:
    """Unhide the element, so that trafilatura's own rules for hidden elements do not drop it."""
    element.attrib.pop("style", None)
    element.attrib.pop("hidden", None)


def _likeness(element: HtmlElement) -> tuple[str, str]:
    return str(element.tag), element.get("class", "")


def _is_hidden(element: HtmlElement) -> bool:
    if element.tag in _NEVER_PRUNED:
        return False
    style = element.get("style", "")
    return element.get("hidden") is not None or bool(_HIDDEN_STYLE.search(style)) or _is_unreadable(style)


def _is_unreadable(style: str) -> bool:
    """White on white: text and background have the same colour."""
    colours = {name.lower().removesuffix("-color"): value.strip().lower() for name, value in _COLOURS.findall(style)}
    return "color" in colours and colours["color"] == colours.get("background")

"""The markup of a page as a tree, without what no visitor would see.

In: the text of a page. Out: lxml's tree for trafilatura, and what of it is read when the main text is missing. Hidden
text is a place for words that are meant for machines; it goes before anything is extracted.
"""

import re
from collections import Counter

from lxml.html import HtmlElement, tostring  # type: ignore[import-untyped] # lxml brings no types
from trafilatura import load_html

HIDDEN_SHARE = 0.5
"""An element with more of the page's text than this is the page itself, hidden until a script has run."""

FOLDS = 3
"""So many hidden elements of one class are tabs, slides or answers that open at a touch: the page's own text."""

WIDEST_SPAN_DIGITS = 2  # of how many columns or rows a cell may take: no table on a screen has a hundred

_HIDDEN_STYLE = re.compile(
    r"(^|;)\s*(display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(\.0+)?\s*(;|!|$)"
    r"|font-size\s*:\s*0(px|em|rem|pt|%)?\s*(;|!|$)|text-indent\s*:\s*-\d{3,}|(left|top)\s*:\s*-\d{4,}px)",
    re.IGNORECASE,
)
_COLOURS = re.compile(r"(?:^|;)\s*(color|background(?:-color)?)\s*:\s*([^;!]+)", re.IGNORECASE)
_NEVER_PRUNED = frozenset({"html", "body", "main", "article"})


def load_page(text: str) -> HtmlElement | None:
    """The tree with hidden elements taken out; None when there is no markup in it."""
    tree = load_html(text)
    if tree is None:
        return None
    _prune_hidden(tree)
    _limit_spans(tree)
    return tree


def words_of(element: HtmlElement) -> str:
    """All its text on one line, blocks apart, without scripts and styles."""
    pieces = element.xpath(".//text()[not(ancestor::script or ancestor::style or ancestor::template)]")
    return " ".join(" ".join(map(str, pieces)).split())


def noscript_pages(text: str) -> str:
    """What the page says to browsers without scripts: a page of its own, or nothing."""
    tree = load_html(text)
    if tree is None:
        return ""
    inside = "".join(_markup(noscript) for noscript in tree.iter("noscript"))
    return f"<html><body>{inside}</body></html>" if inside else ""


def _markup(element: HtmlElement) -> str:
    return (element.text or "") + "".join(tostring(child, encoding="unicode") for child in element)


def _limit_spans(tree: HtmlElement) -> None:
    """A cell that claims a thousand columns and rows would be filled up place by place, over and over."""
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
    """trafilatura has rules of its own for hidden elements; this one is not for them."""
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
    """White on white: the letters have the colour of their own background."""
    colours = {name.lower().removesuffix("-color"): value.strip().lower() for name, value in _COLOURS.findall(style)}
    return "color" in colours and colours["color"] == colours.get("background")

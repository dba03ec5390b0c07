"""Turns the main text that trafilatura found into blocks, without a detour over Markdown, whose signs pages use as
text.

In: trafilatura's `body` element (its vocabulary is TEI's: head, p, list/item, table/row/cell, code, quote, lb). Out:
blocks under their headings. It drops what typically surrounds articles and is not about their subject.
"""

import re
from collections.abc import Iterator

from lxml.etree import _Element  # type: ignore[import-untyped] # lxml brings no types

from ingestion.parsers.outline import Outline, render_table
from ingestion.records import Block, BlockKind

UNSTATED_LEVEL = 3  # of a heading without a level, such as the summary of a <details>
INDENT = "  "
SURROUNDINGS_CHARACTERS = 300
"""A shorter block that matches one of SURROUNDINGS is dropped; prose about the same subject is longer."""

SURROUNDINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(©|\(c\)|copyright\b).*",
        r".*\b(all rights reserved|все права защищены)[.!]?$",
        r"^(never|don.t) miss\b.*\b(news|stor(y|ies)|update).*\bsign(ing)? up\b.*",
        r"^(sign up|subscribe)\b.*\bnewsletter.*",
        r"^(to (view|read|continue)\b.*\b|please )(subscribe|log in|sign in)\b.*",
        r"^already a subscriber.*\blog in\b.*",
        r"^.*подпи(шитесь|сывайтесь|саться) на (нас|наш|рассылку|канал|новости).*",
        r"^(поделиться|поделитесь|share|tweet|leave a comment|оставить комментарий)(\W.{0,40})?$",
    )
)

_BLANKS = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r"\n\s*\n")  # old pages separate paragraphs by two line breaks
_GATHERED = frozenset({"list", "table", "code", "quote", "p", "head"})  # inside an item or a cell: lines of their own


def read_body(body: _Element) -> tuple[Block, ...]:
    """Blocks in reading order."""
    outline = Outline()
    _read_children(body, outline)
    return tuple(outline.finish())


def _read_children(parent: _Element, outline: Outline) -> None:
    _add_paragraph(outline, parent.text or "")
    for element in parent:
        _read(element, outline)
        _add_paragraph(outline, element.tail or "")


def _read(element: _Element, outline: Outline) -> None:
    match element.tag:
        case "head":
            level = (element.get("rend") or "").removeprefix("h")
            outline.add_heading(_words(element), int(level) if level.isdecimal() else UNSTATED_LEVEL)
        case "code":
            outline.add(BlockKind.CODE, "".join(element.itertext()))
        case "list":
            outline.add(BlockKind.LIST, "\n".join(_lines(element, indent="")))
        case "table":
            _add_table(outline, [[_flat(cell) for cell in row] for row in element.iter("row")])
        case "p" | "item" if not _holds_blocks(element):
            for paragraph in _BREAKS.split("".join(_pieces(element))):
                _add_paragraph(outline, _tidy(paragraph))
        case str():
            _read_children(element, outline)
        case _:  # a comment or a processing instruction
            pass


def _add_paragraph(outline: Outline, text: str) -> None:
    text = text.strip()
    if len(text) < SURROUNDINGS_CHARACTERS and any(pattern.match(text) for pattern in SURROUNDINGS):
        return
    outline.add(BlockKind.PARAGRAPH, text)


def _add_table(outline: Outline, rows: list[list[str]]) -> None:
    """Add a table; its first row may be a caption, as trafilatura writes one."""
    if len(rows) > 1 and len(rows[0]) > 1 and not any(rows[0][1:]):
        outline.name_table(rows.pop(0)[0])
    outline.add(BlockKind.TABLE, render_table(rows))


def _holds_blocks(element: _Element) -> bool:
    return any(
        child.tag in _GATHERED and (child.tag != "code" or "\n" in "".join(child.itertext())) for child in element
    )


def _lines(listing: _Element, *, indent: str) -> Iterator[str]:
    """One line for each item, followed by the lines of its nested lists."""
    ordered = listing.get("rend") == "ol"
    for number, item in enumerate(listing.iterchildren("item"), start=1):
        bullet = f"{number}. " if ordered else "- "
        hanging = "\n" + indent + " " * len(bullet)
        if text := _words(item):
            yield indent + bullet + text.replace("\n", hanging)
        for inner in item.iterchildren("list"):
            yield from _lines(inner, indent=indent + INDENT)


def _words(element: _Element) -> str:
    """The text of an element without its nested lists; explicit line breaks stay."""
    return _tidy("".join(_pieces(element)))


def _tidy(text: str) -> str:
    lines = (_BLANKS.sub(" ", line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _flat(element: _Element) -> str:
    return " ".join("".join(_pieces(element, lists=True)).split())


def _pieces(element: _Element, *, lists: bool = False) -> Iterator[str]:
    if not isinstance(element.tag, str):
        return
    yield _on_one_line(element.text)
    for child in element:
        if child.tag == "lb":
            yield "\n"
        elif child.tag == "code":
            yield "".join(child.itertext()).strip("\n")
        elif lists or child.tag != "list":
            separator = "\n" if child.tag in _GATHERED or child.tag == "item" else ""
            yield separator
            yield from _pieces(child, lists=lists)
            yield separator
        yield _on_one_line(child.tail)


def _on_one_line(text: str | None) -> str:
    """In HTML, a line break in the source is a blank."""
    return (text or "").replace("\n", " ").replace("\u00ad", "")

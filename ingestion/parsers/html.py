"""Reads web pages: the main text without menus, advertisements and comments.

In: an HTML file. Out: a `Document` with the page's own title, author and day. trafilatura extracts the main text; where
it finds too little, the page's noscript content and summary are tried. Pages that show no text without scripts or a
login are refused with that reason. trafilatura needs about 27 bytes of memory per byte, so pages longer than any
article are read whole, like a book.
"""

import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path

from lxml.html import HtmlElement  # type: ignore[import-untyped] # lxml brings no types
from trafilatura import bare_extraction

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.language import language_of
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.markup import add_markup
from ingestion.parsers.outline import Outline
from ingestion.parsers.page_body import read_body
from ingestion.parsers.page_charset import decode_page
from ingestion.parsers.page_facts import PageFacts, read_facts
from ingestion.parsers.page_layouts import read_posts, remove_furniture
from ingestion.parsers.page_tree import load_page, noscript_pages, words_of
from ingestion.parsers.page_walls import REMARK_CHARACTERS, find_wall
from ingestion.parsers.titles import choose_title
from ingestion.records import Block, BlockKind, Document

MEDIA_TYPES = frozenset({"text/html", "application/xhtml+xml"})
LONGEST_ARTICLE_BYTES = 10_000_000  # 320 MB of memory; longer pages are exports of chats and one-page manuals
ENOUGH_CHARACTERS = 250  # shorter main texts are compared with the page's other text
STANDFIRST_CHARACTERS = 40  # shorter summaries are slogans
WHOLE_SUMMARY_CHARACTERS = 300  # longer summaries are the text itself; search engines show 160
TITLE_WITHIN_CHARS = 64 * 1024

_PICTURE = re.compile(rb"data:[\w.+/-]{1,100};base64,[A-Za-z0-9+/=]{200,}")
"""Pictures embedded in saved pages: most of such a file, and useless to us."""
_TITLE = re.compile(r"<title[^>]*>([^<]*)</title", re.IGNORECASE)


def accepts(file: FileInfo) -> bool:
    """Pages by their beginning, or text that the server declares a page."""
    return file.kind is FileKind.HTML or (file.kind is FileKind.TEXT and file.media_type in MEDIA_TYPES)


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError FILE_WITHOUT_TEXT, FILE_NEEDS_SCRIPT, FILE_NEEDS_LOGIN."""
    text, size_bytes = _decode(path)
    return (_read_whole if size_bytes > LONGEST_ARTICLE_BYTES else read_page)(text, name=info.name)


def _decode(path: Path) -> tuple[str, int]:
    """The page without embedded pictures, and its size."""
    body = _PICTURE.sub(b"data:,", path.read_bytes())
    return decode_page(body), len(body)


def _read_whole(text: str, *, name: str) -> Document:
    """Read without extraction; the menus are negligible in so much text."""
    stated = _TITLE.search(text[:TITLE_WITHIN_CHARS])
    outline = Outline()
    add_markup(outline, text)
    blocks = outline.finish()
    title = choose_title(unescape(stated.group(1)) if stated else None, blocks, name=name)
    return Document(title=title, blocks=blocks, language=language_of(blocks))


def read_page(text: str, *, name: str) -> Document:
    """Parse a page that is in memory already; `name` is the title when the page has none."""
    tree = load_page(text)
    if tree is None:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=name, detail="no markup")
    remove_furniture(tree)
    facts = read_facts(tree)
    blocks = read_posts(tree, facts) or _main_text(tree, text, facts, name=name)
    return Document(
        title=choose_title(facts.title, blocks, name=name),
        blocks=blocks,
        language=language_of(blocks),
        author=facts.author,
        published_at=facts.published_at,
    )


def _main_text(tree: HtmlElement, text: str, facts: PageFacts, *, name: str) -> tuple[Block, ...]:
    blocks = _extract(tree)
    if _length(blocks) < REMARK_CHARACTERS:
        blocks = _scarce_text(blocks, tree, text, facts, name=name)
    return _with_standfirst(blocks, tree, facts.summary or "")


def _scarce_text(
    blocks: tuple[Block, ...], tree: HtmlElement, text: str, facts: PageFacts, *, name: str
) -> tuple[Block, ...]:
    """The longest text the page offers, unless it only says why there is no more. Raises SourceError."""
    fallback = noscript_pages(text)
    if _length(blocks) < ENOUGH_CHARACTERS:
        inside = load_page(fallback) if fallback else None
        blocks = max(blocks, _extract(inside) if inside is not None else (), _summary_alone(facts), key=_length)
    shown = "\n".join(block.text for block in blocks)
    if wall := find_wall(tree, shown, remark=f"{shown}\n{fallback}"):
        raise SourceError(wall, name=name, detail=f"{len(shown)} characters without it")
    if not blocks:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=name, detail="no main text in the page")
    return blocks


def _extract(tree: HtmlElement) -> tuple[Block, ...]:
    found = bare_extraction(tree, include_comments=False, include_formatting=False)
    return () if found is None else read_body(found.body)  # type: ignore[union-attr] # a dict only when it is asked for


def _summary_alone(facts: PageFacts) -> tuple[Block, ...]:
    """The summary, if it is long enough to be the text itself."""
    summary = facts.summary or ""
    return (Block(kind=BlockKind.PARAGRAPH, text=summary),) if len(summary) >= WHOLE_SUMMARY_CHARACTERS else ()


def _with_standfirst(blocks: tuple[Block, ...], tree: HtmlElement, summary: str) -> tuple[Block, ...]:
    """Insert the line under the title, which extraction drops, if the page both declares and shows it."""
    if not blocks or len(summary) < STANDFIRST_CHARACTERS or summary in _one_line(blocks):
        return blocks
    if summary not in words_of(tree.find(".//body")):
        return blocks
    first = 1 if blocks[0].kind is BlockKind.HEADING else 0
    locator = blocks[first].locator if first < len(blocks) else Locator()
    return (*blocks[:first], Block(kind=BlockKind.PARAGRAPH, text=summary, locator=locator), *blocks[first:])


def _one_line(blocks: Iterable[Block]) -> str:
    return " ".join(" ".join(block.text for block in blocks).split())


def _length(blocks: Iterable[Block]) -> int:
    return sum(len(block.text) for block in blocks)

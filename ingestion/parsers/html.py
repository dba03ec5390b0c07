"""Reads web pages, one or a section of a site: the main text without menus, advertisements and comments.

In: an HTML file, or pages of `ingestion.files`. Out: a `Document` with the page's own title, author and day, from its
markup only: a guessed date is worse than none. Hidden text, where pages put words for machines, goes first; a page that
has nothing around its text is read whole; of others trafilatura extracts the main text; where it finds too little, the
page's noscript content and summary are tried. Pages that show no text without scripts or a login are refused with that
reason. trafilatura needs about 27 bytes of memory per byte, so pages longer than any article are read whole, like a
book. What it has found is turned into HTML again and read by `markup`; not into Markdown, whose signs pages use as
text. Short notices that surround articles are dropped.
"""

import math
import re
import resource
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

from lxml.etree import SubElement  # type: ignore[import-untyped] # lxml brings no types
from lxml.html import HtmlElement, tostring  # type: ignore[import-untyped] # lxml brings no types
from trafilatura import bare_extraction, extract_metadata, load_html
from trafilatura.htmlprocessing import convert_to_html

from domain.documents import UnreadPart
from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.files import read_site
from ingestion.language import language_of
from ingestion.parsers.encodings import decode_page
from ingestion.parsers.markup import add_markup, add_tree, is_hidden
from ingestion.parsers.outline import Outline, chapter, choose_author, choose_title
from ingestion.records import Block, BlockKind, Document

NOTICE_CHARACTERS = 300
"""A shorter block that begins as one of NOTICES is dropped; prose about the same subject is longer."""

NOTICES = re.compile(
    r"(©|\(c\)|copyright\b)"
    r"|.*\b(all rights reserved|все права защищены)[.!]?$"
    r"|(never|don.t) miss\b.*\b(news|stor(y|ies)|update).*\bsign(ing)? up\b"
    r"|(sign up|subscribe)\b.*\bnewsletter"
    r"|(to (view|read|continue)\b.*\b|please )(subscribe|log in|sign in)\b"
    r"|already a subscriber.*\blog in\b"
    r"|.*подпи(шитесь|сывайтесь|саться) на (нас|наш|рассылку|канал|новости)"
    r"|(поделиться|поделитесь|share|tweet|leave a comment|оставить комментарий)(\W.{0,40})?$",
    re.IGNORECASE,
)

HIDDEN_SHARE = 0.5
"""A hidden element with more than this share of the page's text is the page itself, hidden until a script has run."""
FOLDS = 3
"""This many hidden elements of one class are tabs, slides or answers that open on a tap: the page's own text."""
SURROUNDINGS = "//script | //nav | //aside | //header | //footer | //form | //iframe | //noscript"
LINKED_SHARE = 0.3
"""A page with none of these, and with less than this share of its words in links, is a document that somebody saved as
HTML: there is nothing around its text, and extraction would lose short lists and headings."""
WIDEST_SPAN_DIGITS = 2  # of a cell's span: no table on a screen has a hundred columns or rows
_NO_AUTHOR = re.compile(
    r"no author|редакция|guest|https?:.*|.*\b(?:says|edited by|comments?)\b.*|[\W\d_]*", re.IGNORECASE
)
REMARK_CHARACTERS = 400
"""A shorter text that mentions scripts, cookies or passwords is not the page's subject."""
FEWEST_WORDS = 5
SHELL_CHARACTERS = 80  # what remains of a page whose root a script fills: a name, "Loading…"
_SCRIPT_REMARK = re.compile(
    r"(enable|requires?|turn on|activate|without|need)\s+(you to\s+)?java ?script"
    r"|java ?script\s+(is\s+)?(required|disabled)"
    r"|(включит[еь]|без|требуется|необходим|отключ[её]н)\s+(поддержк\w+\s+)?java ?script"
    r"|java ?script\s+(отключ|выключ)",
    re.IGNORECASE,
)
_CLOSED_REMARK = re.compile(
    r"(accept|use[sd]?|согласие|использу(ет|ем|ют)|примите)\s+(all\s+|our\s+|на\s+|файлы\s+|все\s+)*cookie"
    r"|checking your browser|verify (that )?you are (a )?human|are you a robot|unusual traffic|access denied"
    r"|подтвердите, что (вы не робот|запросы отправляли вы)|вы не робот|доступ (ограничен|запрещ[её]н)"
    r"|(log|sign) in (to|with)|(you must|please) (log|sign) in|join (now|to view)"
    r"|войдите|авторизуйтесь|войти через|вход в (личный кабинет|аккаунт|систему)|требуется авторизация",
    re.IGNORECASE,
)
_ROOTS = (
    "//*[self::div or self::main][contains(' root app __next __nuxt main-app app-root q-app ', concat(' ', @id, ' '))]"
)
_LOGIN_FIELD = "//input[translate(@type, 'PASWORD', 'pasword')='password']"
FURNITURE = (
    "//*[contains(concat(' ', @class, ' '), ' mw-editsection ')]"  # MediaWiki: "[edit]" beside headings
    "|//sup[contains(concat(' ', @class, ' '), ' reference ')]"  # MediaWiki: "[1]"
    "|//*[@id='toc' or @id='siteSub' or @id='catlinks']"  # MediaWiki: contents, "From Wikipedia", categories
    "|//relative-time"  # GitHub: when a file was last changed, which is not the day of the page
)
POSTS = "//div[contains(concat(' ', @class, ' '), ' tgme_widget_message_text ')]"  # Telegram: a channel's posts
LONGEST_ARTICLE_BYTES = 10_000_000  # 320 MB of memory; longer pages are exports of chats and one-page manuals
ENOUGH_CHARACTERS = 250  # shorter main texts are compared with the page's other text
STANDFIRST_CHARACTERS = 40  # shorter summaries are slogans
WHOLE_SUMMARY_CHARACTERS = 300  # longer summaries are the text itself; search engines show 160
_PICTURE = re.compile(rb"data:[\w.+/-]{1,100};base64,[A-Za-z0-9+/=]{200,}")
"""Pictures embedded in saved pages: most of such a file, and useless to us."""
_TITLE = re.compile(r"<title[^>]*>([^<]*)</title", re.IGNORECASE)
SHINGLE_WORDS = 5
ALIKE = 0.9  # share of common shingles: the same page with another date or counter
FEWEST_PAGES = 4  # fewest pages of a site for which repeated blocks are looked for
REPEATED_ON = 0.6  # share of the pages
TIME_SHARE = 0.7  # of a section: of the process's time limit; the rest is for assembling and sending

Page = tuple[str, Document]
"""Its address, and what it says."""


def read_body(body: HtmlElement) -> tuple[Block, ...]:
    """Blocks in reading order, without notices; `body` is changed."""
    for table in body.iter("table"):  # trafilatura writes a caption as the first row
        first, *others = [*table.iter("row")] or [()]
        if others and len(first) > 1 and not any("".join(cell.itertext()).strip() for cell in first[1:]):
            first.tag = "caption"
    for quote in body.xpath(".//quote[not(*)]"):  # may be what was set in lines, such as code
        quote.text, *others = (quote.text or "").strip().split("\n")
        for line in others:
            SubElement(quote, "lb").tail = line
    for element in body.iter("list", "code"):  # trafilatura's HTML has no numbers, and no code inside a line
        if element.get("rend") == "ol":
            element.tag = "ol"
        elif element.tag == "code" and "\n" not in "".join(element.itertext()):
            element.tag = "tt"
    outline = Outline()
    add_tree(outline, convert_to_html(body))
    return tuple(block for block in outline.finish() if not _is_notice(block))


def _is_notice(block: Block) -> bool:
    is_brief = block.kind is not BlockKind.HEADING and len(block.text) < NOTICE_CHARACTERS
    return is_brief and NOTICES.match(block.text) is not None


def load_page(text: str) -> HtmlElement | None:
    """The tree without hidden elements; None when the text has no markup."""
    tree = load_html(text)
    if tree is None:
        return None
    _prune_hidden(tree)
    for span in tree.xpath("//@colspan | //@rowspan"):  # one that claims a million places would be filled in, each
        if len(span.strip()) > WIDEST_SPAN_DIGITS:
            del span.getparent().attrib[span.attrname]
    return tree


def words_of(element: HtmlElement) -> str:
    """All text of the element on one line, with blanks between blocks, without scripts and styles."""
    pieces = element.xpath(".//text()[not(ancestor::script or ancestor::style or ancestor::template)]")
    return " ".join(" ".join(map(str, pieces)).split())


def _prune_hidden(tree: HtmlElement) -> None:
    hidden = [
        (element, (element.tag, element.get("class", "")))
        for element in tree.xpath("//*[@hidden or @style]")
        if element.tag not in ("html", "body", "main", "article") and is_hidden(element)
    ]
    alike = Counter(likeness for _, likeness in hidden)
    most = len(words_of(tree)) * HIDDEN_SHARE if hidden else 0
    for element, likeness in hidden:
        if alike[likeness] >= FOLDS or element.getparent() is None or len(words_of(element)) > most:
            for attribute in ("style", "hidden"):  # trafilatura has rules of its own for hidden elements
                element.attrib.pop(attribute, None)
        else:
            element.drop_tree()


def find_wall(tree: HtmlElement, text: str, *, remark: str) -> FailureCode | None:
    """`text` is the main text that was found, `remark` everything that the page shows, including its `<noscript>`."""
    if len(text) >= REMARK_CHARACTERS:
        return None
    roots = tree.xpath(_ROOTS)  # a script builds the page: its root has hardly any words, or it has only a script
    is_empty = all(len(words_of(root).split()) < FEWEST_WORDS for root in roots) if roots else not text
    is_shell = len(text) < SHELL_CHARACTERS and is_empty and bool(tree.xpath("//script"))
    if is_shell or _SCRIPT_REMARK.search(remark):
        return FailureCode.FILE_NEEDS_SCRIPT
    return FailureCode.FILE_NEEDS_LOGIN if _CLOSED_REMARK.search(remark) or tree.xpath(_LOGIN_FIELD) else None


def parse(path: Path, name: str) -> Document:
    """Raises SourceError FILE_WITHOUT_TEXT, FILE_NEEDS_SCRIPT, FILE_NEEDS_LOGIN."""
    body = _PICTURE.sub(b"data:,", path.read_bytes())
    text = decode_page(body)
    if len(body) <= LONGEST_ARTICLE_BYTES:
        return read_page(text, name=name)
    stated = _TITLE.search(text[: 64 * 1024])  # read whole: the menus are negligible in so much text
    outline = Outline()
    add_markup(outline, text)
    return outline.document(name, unescape(stated.group(1)) if stated else None)


def read_page(text: str, *, name: str) -> Document:
    """Parse a page that is in memory already; `name` is the title when the page has none."""
    tree = load_page(text)
    if tree is None:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, detail="no markup")
    for furniture in tree.xpath(FURNITURE):
        if furniture.getparent() is not None:
            furniture.drop_tree()
    stated = extract_metadata(tree, extensive=False)  # htmldate's extensive search would guess
    summary = " ".join((stated.description or "").split())
    blocks = tuple(block for post in tree.xpath(POSTS) for block in read_body(post))
    if not blocks and stated.sitename == "Telegram" and summary:  # a page that lacks the post itself
        blocks = (Block(kind=BlockKind.PARAGRAPH, text=summary),)
    blocks = blocks or _main_text(tree, text, summary)
    day = (stated.date or "").replace("-01-01", "")  # that is also written for a year without a day
    site, author = stated.sitename or "", (stated.author or "").replace(";", ",")
    behind = rf"(?<=\S)\s+(?:[|/—–·»-]|::)\s+{re.escape(site)}\s*$"  # `Rules | Bank` becomes `Rules` on the site Bank
    title = re.sub(behind, "", stated.title or "", flags=re.IGNORECASE) if site else stated.title
    return Document(
        title=choose_title(title or site, blocks, name=name),
        blocks=blocks,
        language=language_of(blocks),
        author=None if _NO_AUTHOR.fullmatch(author) else choose_author(author, blocks),
        published_at=datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC) if "-" in day else None,
    )


def _main_text(tree: HtmlElement, text: str, summary: str) -> tuple[Block, ...]:
    linked = sum(len(words_of(link)) for link in tree.iter("a"))
    is_alone = not tree.xpath(SURROUNDINGS) and linked < LINKED_SHARE * len(words_of(tree))
    outline = Outline()
    if is_alone:
        add_tree(outline, tree)
    blocks = tuple(outline.finish()) or _extract(tree)  # without a <body> libxml2 leaves an <article> in the head
    if _length(blocks) < REMARK_CHARACTERS:
        blocks = _scarce_text(blocks, tree, text, summary)
    return _with_standfirst(blocks, tree, summary)


def _scarce_text(blocks: tuple[Block, ...], tree: HtmlElement, text: str, summary: str) -> tuple[Block, ...]:
    """The longest text the page offers, its <noscript> content included, unless it only says why there is no more.
    Raises SourceError."""
    pieces: list[str] = []
    original = load_html(text)
    for noscript in original.iter("noscript") if original is not None else ():
        pieces += [noscript.text or "", *(tostring(child, encoding="unicode") for child in noscript)]
    fallback = f"<html><body>{''.join(pieces)}</body></html>" if any(pieces) else ""
    if _length(blocks) < ENOUGH_CHARACTERS:
        inside = load_page(fallback) if fallback else None
        is_whole = len(summary) >= WHOLE_SUMMARY_CHARACTERS
        alone = (Block(kind=BlockKind.PARAGRAPH, text=summary),) if is_whole else ()
        blocks = max(blocks, _extract(inside) if inside is not None else (), alone, key=_length)
    shown = "\n".join(block.text for block in blocks)
    if wall := find_wall(tree, shown, remark=f"{shown}\n{fallback}"):
        raise SourceError(wall, detail=f"{len(shown)} characters without it")
    if not blocks:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, detail="no main text in the page")
    return blocks


def _extract(tree: HtmlElement) -> tuple[Block, ...]:
    found = bare_extraction(tree, include_comments=False, include_formatting=False)
    return () if found is None else read_body(found.body)  # type: ignore[union-attr] # a dict only when it is asked for


def _with_standfirst(blocks: tuple[Block, ...], tree: HtmlElement, summary: str) -> tuple[Block, ...]:
    """Insert the line under the title, which extraction drops, if the page both declares and shows it."""
    shown = " ".join(" ".join(block.text for block in blocks).split())
    is_lost = bool(blocks) and len(summary) >= STANDFIRST_CHARACTERS and summary not in shown
    if not is_lost or summary not in words_of(tree.find(".//body")):
        return blocks
    first = 1 if blocks[0].kind is BlockKind.HEADING else 0
    locator = blocks[first].locator if first < len(blocks) else Locator()
    return (*blocks[:first], Block(kind=BlockKind.PARAGRAPH, text=summary, locator=locator), *blocks[first:])


def _length(blocks: Iterable[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def parse_section(path: Path, name: str) -> Document:
    """A crawled section of a site, page after page, each below its title and with its address. Near-duplicate pages and
    blocks that most pages repeat are left out; pages that the process has no time for are listed as unread.

    Raises SourceError FILE_WITHOUT_TEXT, ValueError for a file that the crawler did not write.
    """
    unread: list[UnreadPart] = []
    pages = _without_repetitions(_distinct(_read_pages(path, unread)))
    if not pages:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, detail=f"{len(unread)} pages unread")
    blocks = tuple(block for url, page in pages for block in chapter(page, url=url))
    authors = {page.author for _, page in pages}
    return Document(
        title=pages[0][1].title,
        blocks=blocks,
        language=language_of(blocks),
        author=authors.pop() if len(authors) == 1 else None,
        parts=len(pages),
        unread=tuple(unread),
    )


def _read_pages(path: Path, unread: list[UnreadPart]) -> Iterator[Page]:
    """Pages with text; galleries and the like are skipped, and pages behind a wall are added to `unread`."""
    soft, _ = resource.getrlimit(resource.RLIMIT_CPU)  # what the parsing process has set itself; none in tests
    ends_at = math.inf if soft == resource.RLIM_INFINITY else time.monotonic() + soft * TIME_SHARE
    for record in read_site(path):
        if isinstance(record, UnreadPart):
            unread.append(record)
            continue
        if time.monotonic() > ends_at:
            unread.append(UnreadPart(name=record.url, code=FailureCode.FILE_TOO_SLOW))
            continue
        try:
            yield record.url, read_page(record.html, name=urlsplit(record.url).path.strip("/") or record.url)
        except SourceError as error:
            if error.code is not FailureCode.FILE_WITHOUT_TEXT:
                unread.append(UnreadPart(name=record.url, code=error.code))


def _distinct(pages: Iterable[Page]) -> list[Page]:
    kept: list[tuple[Page, frozenset[int]]] = []
    for url, page in pages:
        words = " ".join(block.text for block in page.blocks).casefold().split()
        starts = range(max(1, len(words) - SHINGLE_WORDS + 1))
        shingles = frozenset(hash(tuple(words[start : start + SHINGLE_WORDS])) for start in starts)
        if not any(len(shingles & others) >= ALIKE * len(shingles | others) for _, others in kept):
            kept.append(((url, page), shingles))
    return [page for page, _ in kept]


def _without_repetitions(pages: Sequence[Page]) -> list[Page]:
    """Drop blocks that stand on most pages: offers, addresses, notices that extraction took for text."""
    if len(pages) < FEWEST_PAGES:
        return list(pages)
    seen = Counter(text for _, page in pages for text in {block.text for block in page.blocks})
    repeated = {text for text, times in seen.items() if times > REPEATED_ON * len(pages)}
    own = ((url, page, tuple(each for each in page.blocks if each.text not in repeated)) for url, page in pages)
    return [(url, replace(page, blocks=blocks)) for url, page, blocks in own if blocks]

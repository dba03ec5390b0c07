"""Tracks the heading path while a document is read, renders its tables, cuts long blocks, and chooses its title.

In: headings with their levels, blocks and lines of lists or code in order; what a file states of itself, and its name.
Out: blocks whose locators carry the path and the rest of the place; title and author, none of them invented. The lines
above a table that name it or its unit become its first, so that every passage of it repeats them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath

from domain.locator import Locator
from ingestion.chunking.pieces import HEADER
from ingestion.errors import FailureCode, SourceError
from ingestion.language import language_of
from ingestion.parsers.codec import BLOCKS
from ingestion.records import LARGEST_BLOCK_CHARS, Block, BlockKind, Document
from ingestion.spool import Spool

LONGEST_ROW_CELLS = 1_000  # a damaged file may claim millions
INDENT = "  "  # per level of a list
DEEPEST_LIST = 8  # Word has nine levels; a damaged file may claim any number
MOST_NAMES = 3  # paragraphs above a table that become part of it
LONGEST_NAME_CHARS = 200
NAMES_TABLE = re.compile(
    r"(?:таблица|табл\.|table)\s.*"
    r"|.*:"
    r"|\(?[^.\d]{0,50}\b(?:тыс|млн|млрд|руб|thousands|millions|billions)\b\.?[^.]{0,20}\.?\)?",
    re.IGNORECASE | re.DOTALL,
)
"""Matched against the whole paragraph: «Таблица 2. Тарифы», «Цены на мебель:», «(тыс. руб.)»."""
MOST_CHARS = 50 * 1024 * 1024  # of a document: more bytes than a parsing process may send (`kept`)

LONGEST_TITLE_CHARS = 200
OPENING_CHARS = 1_000  # a heading after more text than this names a part, not the document

SECTION_NUMBER = re.compile(r"\d+(?:\.\d+)*[.)]\s")  # «1. Предмет договора» names no contract
MEANINGLESS_TITLES = re.compile(  # that no person wrote; matched against the whole title
    r"(untitled|без (имени|названия))( document|\d| )*"
    r"|(document|документ|presentation|презентация|book|книга|лист|sheet)\s*\d*"
    r"|(powerpoint presentation|презентация powerpoint|word document|документ (microsoft )?word)"
    r"|microsoft (word|powerpoint|excel|office)\b.*"  # from a printer driver: "Microsoft Word - x.doc"
    r"|.*\.(docx?|pdf|rtf|odt|txt|tex|dvi|indd|qxd|pptx?|xlsx?|html?|p65|fm|cdr|wpd)"  # the name of another file
    r"|(title|заголовок|название)( here)?"
    r"|((table of )?contents|содержание|оглавление)"
    r"|[\W\d_]*"  # no letter at all
    r"|.*\ufffd.*",
    re.IGNORECASE,
)

NOBODY = re.compile(  # what programs write into files when the user has never set a name
    r"(?:(?:microsoft |ms )?office )?user|windows user|user name|users|(?:администратор|пользователь)(?: windows)?"
    r"|admin(?:istrator)?|author|автор|unknown|неизвестн\w+|anonymous|un-?named|python-docx|openpyxl|apache poi|root"
    r"|owner|pc|пк",
    re.IGNORECASE,
)

NAME_WORD = re.compile(r"(?:[^\W\d_]|[.'’-])+")
BETWEEN_NAMES = re.compile(r"[,;/&\n]|\s(?:and|и)\s")


def render_table(rows: Sequence[Sequence[str]], *, has_head: bool = True) -> str:
    """Pads short rows with empty cells; drops rows and columns without text. A rule marks the first as a head."""
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row[:LONGEST_ROW_CELLS]] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return ""
    width = max(len(row) for row in cells)
    padded = [row + [""] * (width - len(row)) for row in cells]
    kept = [column for column in range(width) if any(row[column] for row in padded)]
    lines = ["| " + " | ".join(row[column] for column in kept) + " |" for row in padded]
    if has_head:
        lines.insert(1, "|" + " --- |" * len(kept))
    return "\n".join(lines)


def in_blocks(text: str, kind: BlockKind) -> Iterator[str]:
    """Parts of a text that is too long for one; each of a table has its header."""
    is_table = kind is BlockKind.TABLE
    found = HEADER.match(text, 0, LARGEST_BLOCK_CHARS // 10) if is_table else None  # no longer header is repeated
    header = f"{found[0]}\n" if found else ""
    start = 0
    while start < len(text):
        lead = header if start else ""
        end = start + LARGEST_BLOCK_CHARS - len(lead)
        if end < len(text):
            after = (text.rfind(mark, end - LARGEST_BLOCK_CHARS // 2, end) + 1 for mark in ("\n", " "))
            end = next((place for place in after if place > start + 1), end)
        yield lead + text[start:end].strip("\n")
        start = end


class Outline:
    """Collects blocks under their headings. Adding raises SourceError FILE_TOO_HEAVY, without a name, at MOST_CHARS."""

    def __init__(self) -> None:
        self._blocks = Spool(None, BLOCKS)
        self._chars_left = MOST_CHARS
        self.place = Locator()  # set before adding: what the format knows of the place besides headings
        self._path: list[tuple[int, str]] = []
        self._headings: tuple[str, ...] = ()  # of the path
        self._lines: list[str] = []
        self._lines_kind = BlockKind.LIST
        self._rows: list[Sequence[str]] = []  # of the open table
        self._locator = self.place
        self._names: list[Block] = []  # paragraphs that name the table below them, if one is
        self._located: tuple[Locator, tuple[str, ...]] = (self.place, ())  # what `_locator` was made from

    def add_heading(self, text: str, level: int) -> None:
        """Open a section; level 1 is the outermost. An empty heading opens none."""
        if not text.strip():
            self.flush()
            return
        self.leave(level)
        heading = " ".join(text.split())
        self._append(BlockKind.HEADING, heading, level=level)
        self._path.append((level, heading))
        self._headings = (*self._headings, heading)

    def leave(self, level: int) -> None:
        """Close the sections of this level and deeper ones, where the format says that they end."""
        self.flush()
        self._path = [(above, heading) for above, heading in self._path if above < level]
        self._headings = tuple(heading for _, heading in self._path)

    def add(self, kind: BlockKind, text: str, *, is_name: bool = False) -> None:
        """Add a block to the open section; one without any visible character is dropped. `is_name`: a paragraph of
        which the format knows that it names the table that follows."""
        self.flush()
        if text.strip():
            self._append(kind, text.strip("\n") if kind is BlockKind.CODE else text.strip(), is_name=is_name)

    def add_line(self, kind: BlockKind, line: str) -> None:
        """Add a list item or a line of code; adjacent ones of one kind become one block."""
        if self._rows or (self._lines and self._lines_kind is not kind):
            self.flush()
        self._lines_kind = kind
        self._lines.append(line)

    def add_item(self, text: str, *, depth: int = 0, mark: str = "-") -> None:
        """Add a list item, the outermost of depth 0; its further lines hang below its first."""
        lead = INDENT * min(depth, DEEPEST_LIST)
        hanging = f"\n{lead}{' ' * len(mark)} "
        self.add_line(BlockKind.LIST, f"{lead}{mark} {text.strip().replace(chr(10), hanging)}")

    def add_row(self, cells: Sequence[str]) -> None:
        """Add a row; adjacent ones become one table."""
        if not self._rows:
            self.flush()
        self._rows.append(cells)

    def flush(self) -> None:
        """End the block of collected lines or rows."""
        lines, rows, self._lines, self._rows = self._lines, self._rows, [], []
        if lines:
            self.add(self._lines_kind, "\n".join(lines))
        elif rows:
            self.add(BlockKind.TABLE, render_table(rows))

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add finished blocks unchanged."""
        self.flush()
        self._release(0)
        self._blocks.extend(blocks)

    def finish(self) -> Sequence[Block]:
        """All blocks, after the last one was added: a tuple, or a spool for a long document."""
        self.flush()
        self._release(0)
        return self._blocks.finish()

    def document(
        self,
        name: str,
        title: str | None = None,
        *,
        is_sheets: bool = False,
        author: str | None = None,
        published_at: datetime | None = None,
        pages: int | None = None,
    ) -> Document:
        """The whole document, after the last block. The headings of a book's sheets do not name it."""
        blocks = self.finish()
        return Document(
            title=choose_title(title, () if is_sheets else blocks, name=name),
            blocks=blocks,
            language=language_of(blocks),
            author=author,
            published_at=published_at,
            pages=pages,
        )

    def _append(self, kind: BlockKind, text: str, *, level: int | None = None, is_name: bool = False) -> None:
        if self._located != (self.place, self._headings):  # most blocks have the place of the one before
            self._located = (self.place, self._headings)
            self._locator = replace(self.place, headings=self._headings)
        self._chars_left -= len(text)
        if self._chars_left < 0:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, detail=f"more than {MOST_CHARS} characters")
        block = Block(kind=kind, text=text, locator=self._locator, level=level)
        is_brief = kind is BlockKind.PARAGRAPH and len(text) <= LONGEST_NAME_CHARS and not text.startswith("|")
        if is_brief and (is_name or NAMES_TABLE.fullmatch(text)):
            self._names.append(block)
            self._release(MOST_NAMES)
            return
        if kind is BlockKind.TABLE:  # the lines that name it at its place become its first
            place = _without_rows(block.locator)
            lines = [" ".join(each.text.split()) for each in self._names if _without_rows(each.locator) == place]
            self._release(len(lines))
            self._names.clear()
            block = replace(block, text="\n".join((*lines, text)))
        self._release(0)
        self._store(block)

    def _release(self, kept: int) -> None:
        """Add all but the last `kept` names as paragraphs."""
        while len(self._names) > kept:
            self._store(self._names.pop(0))

    def _store(self, block: Block) -> None:
        if len(block.text) <= LARGEST_BLOCK_CHARS:
            self._blocks.append(block)
            return
        for text in filter(str.strip, in_blocks(block.text, block.kind)):
            self._blocks.append(replace(block, text=text))


def _without_rows(place: Locator) -> Locator:
    return replace(place, row=None, row_end=None)


def choose_title(stated: str | None, blocks: Iterable[Block], *, name: str) -> str:
    """The stated title if meaningful, else the first such heading of the opening, else the file's name without its
    ending."""
    titles, chars = [stated or ""], 0
    for block in blocks:
        if block.kind is BlockKind.HEADING and not SECTION_NUMBER.match(block.text):
            titles.append(block.text)
        chars += len(block.text)
        if chars > OPENING_CHARS:
            break
    meaningful = (title for title in map(_on_one_line, titles) if not MEANINGLESS_TITLES.fullmatch(title))
    return next(meaningful, None) or _on_one_line(PurePath(name).stem) or name


def choose_author(stated: str | None, blocks: Iterable[Block]) -> str | None:
    """The stated author; None for a placeholder, and for what is no person's name and does not occur in the document:
    programs and services sign files too («EDGAR Online, a division of …»)."""
    author = " ".join((stated or "").split())
    if not author or NOBODY.fullmatch(author):
        return None
    names = [name.split() for name in BETWEEN_NAMES.split(author) if name.strip()]
    return author if all(map(_is_name, names)) or any(author in block.text for block in blocks) else None


def _is_name(words: Sequence[str]) -> bool:
    """«Rafael Teixeira de Lima», «Иванов И. И.», a login."""
    if len(words) == 1 and words[0].isalnum():
        return True
    is_capitalised = not (words[0][0].islower() or words[-1][0].islower())
    return is_capitalised and len(words) <= 5 and all(map(NAME_WORD.fullmatch, words))


def _on_one_line(title: str) -> str:
    line = " ".join("".join(character if character.isprintable() else " " for character in title).split())
    if len(line) <= LONGEST_TITLE_CHARS:
        return line
    return line[: LONGEST_TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"


def chapter(document: Document, *, url: str) -> Iterator[Block]:
    """The title of a page or file as a level-1 heading, with its own headings below; all blocks get its address."""
    title = document.title
    yield Block(kind=BlockKind.HEADING, text=title, level=1, locator=Locator(url=url))
    for block in document.blocks:
        if block.kind is BlockKind.HEADING and block.text == title:
            continue
        above = tuple(heading for heading in block.locator.headings if heading != title)
        locator = replace(block.locator, url=url, headings=(title, *above))
        yield replace(block, locator=locator, level=block.level + 1 if block.level else None)

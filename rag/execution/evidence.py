"""Grounding: ties what a model has read out, statements and rows, to the passages that support it.

In: a statement, the model's reason for it, passages; or a reply with rows, and the columns. Out: the supporting
passage, or None: then the statement was made up; rows, each with the passage that holds its quotation, and cells that
the document supports; the rest is dropped and counted. Pure.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from domain.ids import ChunkId, DocumentId
from rag.execution.wire import ReadRow, RowsReply, Standing
from rag.numbers import is_among, known_numbers, written_numbers
from rag.records import Passage
from rag.table_rows import rows_of
from rag.values import day, days_in
from rag.words import REMEMBERED, mostly_cyrillic, plain, share, stems, union

ENOUGH_WORDS = 0.3  # of a statement's words in one passage; a passage about something else rarely holds a third
QUOTED_WORDS = 3  # a shorter quotation is a name or a term, and may occur anywhere

_CHUNK_ID = re.compile(r"\bc\d+\b")
_QUOTE = re.compile(r"«([^«»]+)»|“([^“”]+)”|\"([^\"]+)\"|'([^']+)'")
_WORD = re.compile(r"\w+")
# The same texts are read for every statement of a reply.
_numbers_in = lru_cache(maxsize=REMEMBERED)(known_numbers)
_stems, _days_in = lru_cache(maxsize=REMEMBERED)(stems), lru_cache(maxsize=REMEMBERED)(days_in)
MOST_WORDS = 0.5  # more than this share of a cell's words must be in the document: endings may differ
SHORTEST_ROOT = 3  # letters
VERDICTS = frozenset({"да", "нет", "есть", "yes", "no", "true", "false"})  # cells that need not occur in the text
MOSTLY = 0.5  # share of a list's lines that are rows: then it is a list of such things, and the others are suspicious
FEWEST_READ = 2  # a single row says nothing about the other lines
SUMS = frozenset({"итого", "всего", "итог", "total", "subtotal", "sum"})  # first words of lines with totals
_ITEM = re.compile(r"[ \t]*(?:[-*+•–]|\d{1,3}[.)])[ \t]+\S")


def chunk_name(passage: Passage) -> str:
    """The `chunk_id` in prompts and replies."""
    return f"c{passage.chunk_id}"


def tie(statement: str, reason: str, passages: Sequence[Passage], *, asked: str = "") -> Passage | None:
    """The passage that supports the statement best, or None. Numbers of the question (`asked`) need no support; all
    others have to be in the passages. Some of the words must be, too, unless the reason quotes the passage, or the
    passage is in another alphabet."""
    said, words = tuple(written_numbers(statement)), _stems(statement)
    held = [_numbers_in(passage_words(each)) if said else frozenset[Decimal]() for each in passages]
    everything = _numbers_in(asked).union(*held)
    if not passages or not all(is_among(number, everything) for number in said):
        return None
    quoted = [next(filter(None, match.groups())) for match in _QUOTE.finditer(f"{reason}\n{statement}")]
    quotations = [each for each in quoted if len(_WORD.findall(each)) >= QUOTED_WORDS]
    named = _CHUNK_ID.findall(f"{reason}\n{statement}")

    supports: list[tuple[int, int, float, float]] = []
    for passage, known in zip(passages, held, strict=True):
        quotes = sum(stands_in(each, passage.text) for each in quotations)
        numbers = sum(is_among(number, known) for number in said)
        shared = share(words, _stems(passage_words(passage)))
        supports.append((quotes, numbers, shared + 0.3 * (chunk_name(passage) in named), shared))
    best = max(range(len(passages)), key=lambda place: (supports[place][:3], -place))
    passage, (quotes, numbers, _, shared) = passages[best], supports[best]
    is_foreign = mostly_cyrillic(statement) != mostly_cyrillic(passage.text)
    is_told = quotes or shared >= ENOUGH_WORDS or (shared > 0 and numbers)
    if is_told or (is_foreign and (numbers or chunk_name(passage) in named)):
        return passage
    return None


def stands_in(quotation: str, text: str) -> bool:
    """Whether a text has these words in sequence; case, ё, blanks and punctuation do not matter."""
    wanted = plain(quotation)
    return bool(wanted) and f" {wanted} " in f" {plain(text)} "


def passage_words(passage: Passage) -> str:
    """All words known about a passage: its text, its document's name, its date and headings."""
    dated = passage.published_at.date().isoformat() if passage.published_at else ""
    name = passage.source_identifier.replace("_", " ")
    return "\n".join((passage.title, name, dated, *passage.locator.headings, passage.text))


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of one document."""

    cells: tuple[str, ...]  # one for each column
    sources: tuple[Passage, ...]  # one for each cell: the passage that says it
    standing: Standing = Standing.OWN
    nth: int = 0  # number among rows with equal cells, each a line of its own in one passage; from 0

    @property
    def document(self) -> DocumentId:
        """The one that has it."""
        return self.sources[0].document_id


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A reply, its rows that the text supports, and what is wrong with the rest."""

    reply: RowsReply
    rows: tuple[Row, ...]
    dropped: int = 0  # rows that the text does not support
    unread: tuple[str, ...] = ()  # lines of lists and tables without a row, although neighbouring lines are rows

    @property
    def missing(self) -> int:
        """The number of rows that the model saw but did not give."""
        return max(self.reply.total_seen - len(self.rows) - self.dropped, 0)


def check(reply: RowsReply, part: Sequence[Passage], *, columns: int) -> Checked:
    """Rows with `columns` cells each. A cell that its document does not support is emptied. A row is dropped when its
    first cell is empty, or when no passage holds its quotation."""
    rows: list[Row] = []
    given: list[tuple[ChunkId, str]] = []
    lines: Counter[tuple[object, ...]] = Counter()  # rows so far for the same words of the same passage
    for read in reply.rows:
        source = source_of(read, part)
        if source is None:
            continue
        cells = [" ".join(cell.split()) for cell in (*read.cells, *[""] * columns)[:columns]]
        own = [each for each in part if each.document_id == source.document_id]
        told = sorted(own, key=lambda each: each != source)
        texts = [passage_words(each) for each in told]
        supported = tuple(cell if _is_supported(cell, texts) else "" for cell in cells)
        if supported[0]:
            # two equal payments are two rows: how often the passage has the quotation, if that is the whole row
            is_line = all(_is_supported(cell, (read.quote,)) for cell in supported if cell)
            quote = plain(read.quote)
            line = (supported, source.chunk_id, quote)
            alike = re.findall(rf"(?<!\S){re.escape(quote)}(?!\S)", plain(source.text)) if is_line else [quote]
            nth = min(lines[line], len(alike) - 1)
            lines[line] += 1
            given.append((source.chunk_id, supported[0]))
            # the first passage whose own text says a cell, or where only several together or the name do, the source
            saying = (next((each for each in told if _is_supported(cell, (each.text,))), source) for cell in supported)
            rows.append(Row(cells=supported, sources=tuple(saying), standing=read.standing, nth=nth))
    dropped = len(reply.rows) - len(rows)
    return Checked(reply=reply, rows=tuple(rows), dropped=dropped, unread=unread_lines(given, part))


def source_of(read: ReadRow, part: Sequence[Passage]) -> Passage | None:
    """The passage that holds the quotation, if there is one; the one that the row names is tried first."""
    named_first = sorted(part, key=lambda passage: chunk_name(passage) != read.chunk_id)
    return next((passage for passage in named_first if stands_in(read.quote, passage.text)), None)


def _is_supported(cell: str, texts: Sequence[str]) -> bool:
    """Whether the texts support a cell: a date has to be there, or else all numbers and most words, endings aside
    («Анна» for «Анне»: a word too short to be cut to a stem may differ in its last letter)."""
    if not cell or plain(cell) in VERDICTS:
        return bool(cell)
    if wanted := day(cell):
        return any(wanted in _days_in(text) for text in texts)
    numbers = frozenset().union(*map(_numbers_in, texts))
    if not all(is_among(number, numbers) for number in written_numbers(cell)):
        return False
    words = frozenset(stem for stem in stems(cell) if stem.isalpha())
    held, whole = union(stems(text) for text in texts), plain(cell).split()
    roots = {stem: stem[: max(len(stem) - 1, SHORTEST_ROOT)] for stem in words - held if stem in whole}
    known = words & held | {stem for stem, root in roots.items() if any(other.startswith(root) for other in held)}
    return not words or share(words, known) > MOST_WORDS


def unread_lines(rows: Sequence[tuple[ChunkId, str]], part: Sequence[Passage]) -> tuple[str, ...]:
    """Lines of lists and tables that gave no row although their neighbours did, in order, each once, since passages
    overlap: they may hold a missing row. `rows`: passage and first cell of each row."""
    found: list[str] = []
    for passage in part:
        cells = [cell for chunk, cell in rows if chunk == passage.chunk_id]
        items = [line for line in passage.text.splitlines() if _ITEM.match(line)]
        for lines in (items, [row.line for row in rows_of(passage.text)]) if len(cells) >= FEWEST_READ else ():
            unread = [line for line in lines if not any(stands_in(cell, line) for cell in cells)]
            if len(lines) - len(unread) >= max(FEWEST_READ, MOSTLY * len(lines)):
                found += [line.strip() for line in unread if not SUMS.issuperset(plain(line).split()[:1])]
    return tuple(line for line in dict.fromkeys(found) if not any(stands_in(cell, line) for _, cell in rows))

"""Grounding: ties what a model has read out, statements and rows, to the passages that support it.

In: a statement, the model's reason for it, passages; or a reply with rows, and the columns. Out: the supporting
passage, or None: then the statement was made up; rows, each with the passage that holds its quotation, and cells that
the document supports; the rest is dropped and counted. Every number has to be in the passages. Some of the words must
be, too, unless the reason quotes the passage or the passage is in another alphabet. Lines of lists and tables that gave
no row, although their neighbours did, are named: they may hold a missing row. Pure.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from domain.ids import ChunkId, DocumentId
from rag.execution.wire import ReadRow, RowsReply, Standing
from rag.numbers import WrittenNumber, known_numbers, written_numbers
from rag.records import Passage, RankedPassage
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
VERDICTS = frozenset({"да", "нет", "есть", "yes", "no", "true", "false"})
"""Cells that judge the text and need not occur in it."""
MOSTLY = 0.5  # share of a list's lines that are rows: then it is a list of such things, and the others are suspicious
FEWEST_READ = 2  # a single row says nothing about the other lines
SUMS = frozenset({"итого", "всего", "итог", "total", "subtotal", "sum"})
"""First words of lines with totals."""
_ITEM = re.compile(r"[ \t]*(?:[-*+•–]|\d{1,3}[.)])[ \t]+\S")


@dataclass(frozen=True, kw_only=True)
class _Support:
    """How well a passage supports a statement."""

    quoted: int  # quotations in the reason that the passage holds
    numbers: int  # numbers of the statement that the passage holds
    named: bool  # whether the reason names its chunk_id
    words: float  # share of the statement's words

    @property
    def key(self) -> tuple[int, int, float]:
        return (self.quoted, self.numbers, self.words + 0.3 * self.named)


def chunk_name(passage: Passage) -> str:
    """The `chunk_id` in prompts and replies."""
    return f"c{passage.chunk_id}"


def tie(statement: str, reason: str, passages: Sequence[Passage], *, asked: str = "") -> RankedPassage | None:
    """The passage that supports the statement best, or None. Numbers of the question (`asked`) need no support."""
    said = tuple(written_numbers(statement))
    held = (
        [_numbers_in(passage_words(passage)) for passage in passages]
        if said
        else [frozenset[Decimal]()] * len(passages)
    )
    everything = _numbers_in(asked).union(*held)
    if not passages or not all(number.is_among(everything) for number in said):
        return None
    supports = [
        _support(statement, f"{reason}\n{statement}", said, passage, numbers)
        for passage, numbers in zip(passages, held, strict=True)
    ]
    best = max(range(len(passages)), key=lambda place: (supports[place].key, -place))
    if not _bears(supports[best], statement, passages[best]):
        return None
    return RankedPassage(passage=passages[best], score=supports[best].words)


def stands_in(quotation: str, text: str) -> bool:
    """Whether a text has these words in sequence; case, ё, blanks and punctuation do not matter."""
    wanted = plain(quotation)
    return bool(wanted) and f" {wanted} " in f" {plain(text)} "


def passage_words(passage: Passage) -> str:
    """All words known about a passage: its text, its document's name, its date and headings."""
    dated = passage.published_at.date().isoformat() if passage.published_at else ""
    name = passage.source_identifier.replace("_", " ")
    return "\n".join((passage.title, name, dated, *passage.locator.headings, passage.text))


def _support(
    statement: str, reason: str, said: Sequence[WrittenNumber], passage: Passage, held: frozenset[Decimal]
) -> _Support:
    return _Support(
        quoted=sum(stands_in(quotation, passage.text) for quotation in _quotations(reason)),
        numbers=sum(number.is_among(held) for number in said),
        named=chunk_name(passage) in _CHUNK_ID.findall(reason),
        words=share(_stems(statement), _stems(passage_words(passage))),
    )


def _bears(support: _Support, statement: str, passage: Passage) -> bool:
    if support.quoted or support.words >= ENOUGH_WORDS:
        return True
    if support.words > 0 and support.numbers:
        return True
    is_foreign = mostly_cyrillic(statement) != mostly_cyrillic(passage.text)
    return is_foreign and (support.named or support.numbers > 0)


def _quotations(text: str) -> list[str]:
    found = [next(part for part in match.groups() if part) for match in _QUOTE.finditer(text)]
    return [quotation for quotation in found if len(_WORD.findall(quotation)) >= QUOTED_WORDS]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of one document."""

    cells: tuple[str, ...]  # one for each column
    sources: tuple[RankedPassage, ...]  # one for each cell: the passage that says it
    standing: Standing = Standing.OWN
    nth: int = 0  # number among rows with equal cells, each a line of its own in one passage; from 0

    @property
    def passage(self) -> Passage:
        """The one that says the first cell."""
        return self.sources[0].passage

    @property
    def document(self) -> DocumentId:
        """The one that has it."""
        return self.passage.document_id


@dataclass(frozen=True, kw_only=True)
class Checked:
    """Rows that the text supports, and what is wrong with the rest."""

    rows: tuple[Row, ...]
    seen: int  # rows that the model says there are
    dropped: int = 0  # rows that the text does not support
    unread: tuple[str, ...] = ()  # lines of lists and tables without a row, although neighbouring lines are rows

    @property
    def missing(self) -> int:
        """The number of rows that the model saw but did not give."""
        return max(self.seen - len(self.rows) - self.dropped, 0)

    @property
    def is_whole(self) -> bool:
        """There is no sign that rows of the text are missing."""
        return not self.dropped and not self.unread and self.seen == len(self.rows)


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
        cells = tuple(" ".join(cell.split()) for cell in (*read.cells, *[""] * columns)[:columns])
        told = sorted(
            (each for each in part if each.document_id == source.document_id), key=lambda each: each != source
        )
        supported = _supported(cells, told)
        if supported[0]:
            line = (supported, source.chunk_id, plain(read.quote))
            nth = min(lines[line], _lines_saying(read.quote, supported, source) - 1)
            lines[line] += 1
            given.append((source.chunk_id, supported[0]))
            sources = tuple(RankedPassage(passage=_passage_saying(cell, told), score=1.0) for cell in supported)
            rows.append(Row(cells=supported, sources=sources, standing=read.standing, nth=nth))
    return Checked(
        rows=tuple(rows),
        seen=reply.total_seen,
        dropped=len(reply.rows) - len(rows),
        unread=unread_lines(given, part),
    )


def source_of(read: ReadRow, part: Sequence[Passage]) -> Passage | None:
    """The passage that holds the quotation, if there is one; the one that the row names is tried first."""
    named_first = sorted(part, key=lambda passage: chunk_name(passage) != read.chunk_id)
    return next((passage for passage in named_first if stands_in(read.quote, passage.text)), None)


def _lines_saying(quote: str, cells: Sequence[str], passage: Passage) -> int:
    """How often the passage has the quotation, if it contains the whole row: two equal payments are two rows. Otherwise
    1."""
    if not all(_is_supported(cell, (quote,)) for cell in cells if cell):
        return 1
    return len(re.findall(rf"(?<!\S){re.escape(plain(quote))}(?!\S)", plain(passage.text)))


def _passage_saying(cell: str, passages: Sequence[Passage]) -> Passage:
    """The first passage whose own text says the cell; the first of all where only several together or the document's
    name say it."""
    return next((each for each in passages if _is_supported(cell, (each.text,))), passages[0])


def _supported(cells: Sequence[str], passages: Sequence[Passage]) -> tuple[str, ...]:
    texts = [passage_words(passage) for passage in passages]
    return tuple(cell if _is_supported(cell, texts) else "" for cell in cells)


def _is_supported(cell: str, texts: Sequence[str]) -> bool:
    """Whether the texts support a cell: a date has to be there, or else all numbers and most words."""
    if not cell or plain(cell) in VERDICTS:
        return bool(cell)
    if wanted := day(cell):
        return any(wanted in _days_in(text) for text in texts)
    words = frozenset(stem for stem in stems(cell) if stem.isalpha())
    held = union(stems(text) for text in texts)
    known = words & held | frozenset(word for word in words - held if _has_form(word, cell, held))
    return _numbers_stand(cell, texts) and (not words or share(words, known) > MOST_WORDS)


def _has_form(stem: str, cell: str, held: Iterable[str]) -> bool:
    """«Анна» for «Анне»: a word too short to be cut to a stem may differ in its last letter."""
    if stem not in plain(cell).split():
        return False
    root = stem[: max(len(stem) - 1, SHORTEST_ROOT)]
    return any(other.startswith(root) for other in held)


def _numbers_stand(cell: str, texts: Sequence[str]) -> bool:
    known = frozenset().union(*map(_numbers_in, texts))
    return all(number.is_among(known) for number in written_numbers(cell))


def unread_lines(rows: Sequence[tuple[ChunkId, str]], part: Sequence[Passage]) -> tuple[str, ...]:
    """The lines in order, each once, since passages overlap. `rows`: passage and first cell of each row."""
    found: list[str] = []
    for passage in part:
        cells = [cell for chunk, cell in rows if chunk == passage.chunk_id]
        for lines in _runs(passage.text) if len(cells) >= FEWEST_READ else ():
            unread = [line for line in lines if not any(stands_in(cell, line) for cell in cells)]
            read = len(lines) - len(unread)
            if read >= max(FEWEST_READ, MOSTLY * len(lines)):
                found += [line.strip() for line in unread if _may_be_row(line)]
    read_elsewhere = [cell for _, cell in rows]
    return tuple(line for line in dict.fromkeys(found) if not any(stands_in(cell, line) for cell in read_elsewhere))


def _runs(text: str) -> Iterator[list[str]]:
    """The items of a passage's lists, then the rows of its tables without header rows."""
    yield [line for line in text.splitlines() if _ITEM.match(line)]
    yield [row.line for row in rows_of(text)]


def _may_be_row(line: str) -> bool:
    words = plain(line).split()
    return bool(words) and words[0] not in SUMS

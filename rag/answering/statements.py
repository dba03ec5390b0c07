"""Splits an answer into its statements, and takes statements out of it.

In: an answer with its marks, without its sign. Out: `Statement`s with their places and the facts that they cite; or the
answer without some of them. A statement is a sentence, a list item, a table row or a code block: taken out whole, it
leaves no half sentence. It judges nothing. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag.answering.marks import Piece, pieces
from rag.words import sentences

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?")  # of a list item or a quotation
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_RULED = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")  # below a table's head, or a rule
_TITLE = re.compile(r"[ \t]*(?:#{1,6}[ \t].*|\*\*[^*\n]+\*\*:?|__[^_\n]+__:?)[ \t]*")
_CELL = re.compile(r"(?<!\\)\|")
_WORD = re.compile(r"\w+")
_TWO_STOPS = re.compile(r"(?<!\.)\.\.(?!\.)")  # «7 200 руб. [1].» without its mark
_SHORT = 2  # words: «Да.» is no statement without the sentence after it
_ENDS = (".", "!", "?", "…")
_GAP = "\x00"  # where a statement was taken out; no answer holds it (`rag.words`)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One thing that an answer says."""

    start: int  # in the marked answer; the marks and the space after it belong to it
    end: int
    text: str  # without marks; a table row with the names of its columns
    marks: tuple[int, ...] = ()  # numbers of facts, from 1
    is_title: bool = False  # a line in bold or a heading: it says what the next ones are about


def split(body: str, *, facts: int) -> tuple[Statement, ...]:
    """The statements of `body` in order; marks over `facts` do not count."""
    found = list(pieces(body, passages=facts))
    blocks = [piece for piece in found if piece.is_code_block]
    marks = [piece for piece in found if not piece.is_code_block]
    statements: list[Statement] = []
    columns: list[str] = []
    at = 0
    for start, end in _lines(body, blocks):
        line, inside = body[start:end], [mark for mark in marks if start <= mark.start < end]
        columns = columns if _ROW.fullmatch(line.rstrip("\n")) else []
        at = end
        if any(block.start <= start < block.end for block in blocks):
            statements.append(Statement(start=start, end=end, text=line.strip()))
        elif _RULED.fullmatch(line.rstrip("\n")) and line.strip():
            continue
        elif _ROW.fullmatch(line.rstrip("\n")):
            if _RULED.fullmatch(_line_at(body, at)) and _line_at(body, at).strip():
                columns = _cells(line)
            else:
                statements.append(_row(body, start, end, inside, columns))
        else:
            statements += _of_line(body, start, end, inside)
    return tuple(_joined(statements))


def without(body: str, gone: Collection[Statement]) -> str:
    """`body` without these statements, and without list signs, table heads and titles that then stand alone."""
    if not gone:
        return body.strip()
    kept, at = [], 0
    for statement in sorted(gone, key=lambda each: each.start):
        is_last = body[statement.start : statement.end].endswith("\n")
        kept += [body[at : statement.start], _GAP, "\n" if is_last else ""]
        at = statement.end
    lines = (_without_gap(line) for line in "".join((*kept, body[at:])).split("\n"))
    whole = "\n".join(_without_empty_parts([line for line in lines if line is not None]))
    return re.sub(r"\n{3,}", "\n\n", whole).strip()


def _without_gap(line: str) -> str | None:
    """The line without the signs of what was taken out; None if nothing is left of it."""
    if _GAP not in line:
        return line
    rest = line.replace(_GAP, "").rstrip()
    return rest if rest and not _PREFIX.fullmatch(f"{rest} ") else None


def _without_empty_parts(lines: Sequence[str]) -> list[str]:
    """Without heads of tables that have lost their rows, and titles with nothing below them, from the last line up."""
    kept: list[str] = []
    for line in reversed(lines):
        below = next((each for each in reversed(kept) if each.strip()), "")
        is_end = not below or bool(_TITLE.fullmatch(below))
        if _TITLE.fullmatch(line) and is_end:
            continue
        if _RULED.fullmatch(line) and "|" in line and not _ROW.fullmatch(below):
            continue
        if _ROW.fullmatch(line) and not _ROW.fullmatch(below) and _follows_head(line, lines):
            continue
        kept.append(line)
    return kept[::-1]


def _follows_head(line: str, lines: Sequence[str]) -> bool:
    """Whether the line is a table's head: a ruled line stands below it."""
    at = lines.index(line)
    return at + 1 < len(lines) and _RULED.fullmatch(lines[at + 1]) is not None and "|" in lines[at + 1]


def _lines(body: str, blocks: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """Start and end of each line with something in it; a code block is one line."""
    at = 0
    while at < len(body):
        block = next((each for each in blocks if each.start <= at < each.end), None)
        line = _LINE.match(body, at)
        end = block.end if block else line.end() if line else len(body)
        if body[at:end].strip():
            yield at, end
        at = max(end, at + 1)


def _line_at(body: str, at: int) -> str:
    line = _LINE.match(body, at)
    return line[0].rstrip("\n") if line else ""


def _of_line(body: str, start: int, end: int, marks: Sequence[Piece]) -> list[Statement]:
    """The statements of a line that is no table row. A line of nothing but marks gives an empty one (see `_joined`)."""
    prefix = _PREFIX.match(body, start, end)
    begin = prefix.end() if prefix else start
    clean, places = _without_marks(body, begin, end, marks)
    if not marks and _TITLE.fullmatch(clean.rstrip("\n")):
        return [Statement(start=begin, end=end, text=clean.strip(), is_title=True)]
    starts = _starts(clean, places, marks)
    bounds = [*starts, len(clean)]
    found = []
    for first, last in pairwise(bounds):
        raw_start = begin if first == 0 else places[first]
        raw_end = places[last] if last < len(clean) else end
        numbers = (n for mark in marks if raw_start <= mark.start < raw_end for n in mark.numbers)
        text = _TWO_STOPS.sub(".", clean[first:last].strip())
        found.append(Statement(start=raw_start, end=raw_end, text=text, marks=tuple(dict.fromkeys(numbers))))
    return found


def _without_marks(body: str, start: int, end: int, marks: Sequence[Piece]) -> tuple[str, list[int]]:
    """The text between `start` and `end` without its marks, and for each character its place in `body`."""
    places = [at for at in range(start, end) if not any(mark.start <= at < mark.end for mark in marks)]
    return "".join(body[at] for at in places), places


def _starts(clean: str, places: Sequence[int], marks: Sequence[Piece]) -> list[int]:
    """Where sentences begin: as razdel sees them, but not after «»;», and after a mark beside a full stop."""
    starts = {0, *(each.start for each in sentences(clean) if not clean[: each.start].rstrip().endswith(";"))}
    for mark in marks:
        at = sum(place < mark.start for place in places)
        before, after = clean[:at].rstrip(), clean[at:]
        if after[:1] in _ENDS:
            at += len(after) - len(after.lstrip(".!?…"))
        elif not before.endswith(_ENDS):
            continue
        starts.add(at + len(clean[at:]) - len(clean[at:].lstrip()))
    return sorted(at for at in starts if at == 0 or clean[at:].strip())


def _row(body: str, start: int, end: int, marks: Sequence[Piece], columns: Sequence[str]) -> Statement:
    clean, _ = _without_marks(body, start, end, marks)
    cells = _cells(clean)
    named = [f"{name}: {cell}" for name, cell in zip(columns, cells, strict=False) if cell]
    numbers = dict.fromkeys(n for mark in marks for n in mark.numbers)
    return Statement(start=start, end=end, text="; ".join(named or cells), marks=tuple(numbers))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(line.strip().strip("|"))]


def _joined(statements: Sequence[Statement]) -> list[Statement]:
    """Marks alone belong to the statement before them, «Да.» to the one after it."""
    joined: list[Statement] = []
    for each in statements:
        last = joined[-1] if joined else None
        if not _WORD.search(each.text):
            if last:
                joined[-1] = replace(last, end=each.end, marks=tuple(dict.fromkeys((*last.marks, *each.marks))))
        elif last and last.end == each.start and _is_short(last):
            marks = tuple(dict.fromkeys((*last.marks, *each.marks)))
            joined[-1] = replace(each, start=last.start, text=f"{last.text} {each.text}", marks=marks)
        else:
            joined.append(each)
    return joined


def _is_short(statement: Statement) -> bool:
    return not statement.is_title and not statement.marks and len(_WORD.findall(statement.text)) <= _SHORT

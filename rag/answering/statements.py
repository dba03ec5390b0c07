"""Splits an answer into its statements, and takes statements out of it.

In: an answer with its marks, without its sign. Out: `Statement`s with their places and the facts that they cite; or the
answer without some of them. A statement is a sentence, a list item, a row or a code block. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag.answering.marks import Piece, pieces, without_marks
from rag.words import sentences

_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?")  # of a list item or a quotation
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_RULED = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")  # below a table's head, or a rule
_TITLE = re.compile(r"[ \t]*(?:#{1,6}[ \t].*|\*\*[^*\n]+\*\*:?|__[^_\n]+__:?)[ \t]*")
_CELL = re.compile(r"(?<!\\)\|")
_WORD = re.compile(r"\w+")
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
    found = list(pieces(body))
    blocks = [piece for piece in found if piece.is_code_block]
    statements: list[Statement] = []
    columns: list[str] = []
    for start, end in _lines(body, blocks):
        line = body[start:end].rstrip("\n")
        columns = columns if _ROW.fullmatch(line) else []
        if any(block.start <= start < block.end for block in blocks):
            statements.append(Statement(start=start, end=end, text=line.strip()))
        elif _ROW.fullmatch(line) and _is_rule(body[end:].partition("\n")[0]):
            columns = _cells(line)
        elif _ROW.fullmatch(line) and not _is_rule(line):
            text, numbers = without_marks(line, facts)
            named = [f"{name}: {cell}" for name, cell in zip(columns, _cells(text), strict=False) if cell]
            text = "; ".join(named or _cells(text))
            statements.append(Statement(start=start, end=end, text=text, marks=numbers))
        elif not _is_rule(line):
            marks = [piece for piece in found if start <= piece.start < end]
            statements += _of_line(body, start, end, marks, facts)
    return tuple(_joined(statements))


def _is_rule(line: str) -> bool:
    return bool(line.strip() and _RULED.fullmatch(line))


def without(body: str, gone: Collection[Statement]) -> str:
    """`body` without these statements, and without list signs, table heads and titles that then stand alone."""
    if not gone:
        return body.strip()
    kept, at = [], 0
    for statement in sorted(gone, key=lambda each: each.start):
        is_last = body[statement.start : statement.end].endswith("\n")
        kept += [body[at : statement.start], _GAP, "\n" if is_last else ""]
        at = statement.end
    lines = []
    for line in "".join((*kept, body[at:])).split("\n"):
        rest = line.replace(_GAP, "").rstrip() if _GAP in line else line
        if _GAP not in line or (rest and not _PREFIX.fullmatch(f"{rest} ")):  # else nothing but signs is left of it
            lines.append(rest)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(_without_empty_parts(lines))).strip()


def _without_empty_parts(lines: Sequence[str]) -> list[str]:
    """Without heads of tables that have lost their rows, and titles with nothing below them, from the last line up."""
    kept: list[str] = []
    for line, after in zip(reversed(lines), ["", *reversed(lines)], strict=False):
        below = next((each for each in reversed(kept) if each.strip()), "")
        is_bare_title = _TITLE.fullmatch(line) and (not below or _TITLE.fullmatch(below))
        is_of_table = "|" in line and (_RULED.fullmatch(line) or (_ROW.fullmatch(line) and _RULED.fullmatch(after)))
        if not is_bare_title and not (is_of_table and not _ROW.fullmatch(below)):
            kept.append(line)
    return kept[::-1]


def _lines(body: str, blocks: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(body):
        block = next((each for each in blocks if each.start <= at < each.end), None)
        end = block.end if block else body.find("\n", at) + 1 or len(body)
        if body[at:end].strip():
            yield at, end
        at = max(end, at + 1)


def _of_line(body: str, start: int, end: int, marks: Sequence[Piece], facts: int) -> list[Statement]:
    """The statements of a line that is no table row. Sentences begin where razdel sees them, but not after «»;», and
    behind a mark beside a full stop. A line of nothing but marks gives an empty one (see `_joined`)."""
    begin = prefix.end() if (prefix := _PREFIX.match(body, start, end)) else start
    line = body[begin:end]
    if not marks and _TITLE.fullmatch(line.rstrip("\n")):
        return [Statement(start=begin, end=end, text=line.strip(), is_title=True)]
    begun = (begin + span.start for span in sentences(line) if not line[: span.start].rstrip().endswith(";"))
    starts = {begin, *(at for at in begun if not any(mark.start <= at < mark.end for mark in marks))}
    for mark in marks:
        after = body[mark.end : end].lstrip("".join(_ENDS))
        is_end = body[: mark.start].rstrip().endswith(_ENDS) or end - len(after) > mark.end
        starts |= {end - len(after.lstrip())} if is_end else set()
    found = []
    for first, last in pairwise([*sorted(at for at in starts if at < end), end]):
        text, numbers = without_marks(body[first:last], facts)
        found.append(Statement(start=first, end=last, text=text, marks=numbers))
    return found


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
        elif last and last.end == each.start and not (last.is_title or last.marks or _WORD.findall(last.text)[2:]):
            marks = tuple(dict.fromkeys((*last.marks, *each.marks)))
            joined[-1] = replace(each, start=last.start, text=f"{last.text} {each.text}", marks=marks)
        else:
            joined.append(each)
    return joined

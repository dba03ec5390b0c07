"""Parses a model's text: the sign at the start, the marks at the claims, the text without both, and its statements.

In: a model's text so far. Out: a `ParsedAnswer`; of a whole text its `Statement`s, or the text without some of them. A
statement is a sentence, a list item, a row or a code block. Safe to call at every piece of a stream: what might still
become a mark is held back. `prompts/answer.md` explains signs and marks to the model. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from rag.records import AnswerKind
from rag.words import plain, sentences

SIGNS = {"+": AnswerKind.FROM_BASE, "0": AnswerKind.GENERAL}  # any dash means a conversation
_DASHES = r"\-–—−"  # as models write them; for character classes

_NUMBERS = rf"\d{{1,3}}(?:[ ]*[,;{_DASHES}][ ]*\d{{1,3}})*"
# The address of a Markdown link, [1](https://…), with brackets inside it or a title after it.
_ADDRESS = r"\([^\s()\[\]]*(?:\([^\s()\[\]]*\)[^\s()\[\]]*)*(?:[ ]\"[^\"\n]*\")?\)"
# [1] [2, 5] [1-3] [[4]] [^1] [№1] [материал 1] [[1]](#1), and a form that some models were trained on: 【1†source】
_OPENED = rf"\[{{1,2}}(?:\^|\#|№|[Мм]атериал[ ]|[Mm]aterial[ ])?[ ]*{_NUMBERS}[ ]*"
_FORMS = (
    rf"{_OPENED}\]{{1,2}}\(\#[^\s()]*\)",
    rf"{_OPENED}\]{{1,2}}(?!{_ADDRESS})",
    rf"【[ ]*{_NUMBERS}[^】\n]{{0,40}}】",
    rf"\[[ ]*[+{_DASHES}][ ]*\]",  # a sign in the middle of the text
)
_MARK = f"(?:{'|'.join(_FORMS)})"
# Spaces around a comma match in one way only: with two ways, twenty marks in a row would backtrack a million times.
_MARKS = rf"{_MARK}(?:[ \t]*(?:(?:[,;]|и|and)[ \t]*)?{_MARK})*"
_PIECES = re.compile(
    rf"""
    (?P<fence>^[ \t>]*(?:(?:[-*+]|\d{{1,3}}[.)])[ \t]+)?(?P<ticks>`{{3,}}|~{{3,}})[^\n`]*\n
        (?:.*?^[ \t>]*(?P=ticks)[`~]*[ \t]*$|.*\Z))                     # a code block, to its end or the text's
    |(?P<span>(?<!`)(?P<run>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=run)(?!`))   # code within a paragraph
    |(?P<link>\[[^\[\]\n]*\](?!\(\#){_ADDRESS})
    |(?P<line>^[ \t]*{_MARKS}[ \t]*(?:\n|\Z))                           # a line of nothing but marks
    |(?P<first>^[ \t]*{_MARKS}[ \t]+)                                   # marks at the start of a line
    |(?P<marks>[ \t\u00a0]*(?:\({_MARKS}\)|\*\*{_MARKS}\*\*|{_MARKS}))
    |(?P<tag></?material-[0-9a-f]+[^>\n]*>|<\|\w{{1,20}}\|>)            # the fence of the prompt, a model's own signs
    """,
    re.M | re.S | re.X,
)
_VERBATIM = frozenset({"fence", "span", "link"})
_MARK_PIECES = frozenset({"line", "first", "marks"})
_NAMED = re.compile(rf"(?<![†\d])(\d{{1,3}})(?:[ ]*[{_DASHES}][ ]*(\d{{1,3}}))?(?!\d)")
_SIGN = re.compile(rf"\A\s*(?:<\|\w{{1,20}}\|>\s*)*(?:\*\*)?\[[ ]*([+0{_DASHES}])[ ]*\](?:\*\*)?:?\s*")
_THOUGHTS = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.S)  # reasoning that local servers leave in the text
# What the model was told not to write, since code names the sources (seed 4, section 8.2): «Источник: Договор.pdf», at
# the beginning of a line or behind a sentence, and «[1] – Договор.pdf» as the last lines.
_LABELS = ("источник", "источники", "информация взята из", "source", "sources")
_BEFORE_LABEL = r"(?P<end>^|[.!?…\])](?=\s))[ \t(*_#>]*"
_LABEL = re.compile(rf"{_BEFORE_LABEL}(?:{'|'.join(_LABELS)})[*_]*(?::|(?<=\w)[*_]*[ \t]*$)", re.M | re.I)
_MAYBE_LABEL = re.compile(rf"{_BEFORE_LABEL}(?P<begun>[^\W\d_][^\n.!?…:*_]*)[*_]*\Z", re.M)
_LISTED = re.compile(rf"[\s,;.•*_-]*(?:\d+[.)][ ])?[ ]*{_MARK}")
_REFERENCE = re.compile(rf"[\s*•-]*{_MARK}[ ]*[:–—-](.{{0,300}})")
_RULE = re.compile(r"[\s*_)-]*")  # or nothing
_BESIDE_NAMES = re.compile(r"(?:\s|\b(?:и|and|file|note|web page|web site|(?:стр|с|pp?) \d+(?: \d+)?)\b)*")
# Ends of a text that may still become something else. Everything from there on is held back and not examined further:
# code comes first, because nothing inside code can open anything.
_OPEN_ENDS = tuple(
    re.compile(pattern, re.M | re.S)
    for pattern in (
        r"`(?:(?!\n[ \t]*\n).)*\Z",  # code that is not closed yet
        r"~(?:~[^\n]*)?\Z",  # a fence of tildes, until its line has ended
        r"[\[【][^\]】\n]*(?:\]\]?(?:\([^)\n]*)?)?\Z",  # a mark or a link
        r"<[^>\n]{0,80}\Z",
    )
)
# After a mark: another mark may follow, or the mark may turn out to be a link.
_MORE_MARKS = re.compile(r"(?:[\s,;)*]|и|an?d?)*(?:[\[【][^\]】\n]*\]{0,2})?\Z|\([^)\s]*\Z")
_NOT_BREAK = re.compile(r"[^\n]")
_LOOSE_END = " \t\n\u00a0(*_#>"  # spaces, and what may open around a mark or a label
_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?")  # of a list item or a quotation
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_RULED = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")  # below a table's head, or a rule
_TITLE = re.compile(r"[ \t]*(?:#{1,6}[ \t].*|\*\*[^*\n]+\*\*:?|__[^_\n]+__:?)[ \t]*")
_CELL = re.compile(r"(?<!\\)\|")
_WORD = re.compile(r"\w+")
_ENDS = (".", "!", "?", "…")
_GAP = "\x00"  # where a statement was taken out; no answer holds it (`rag.words`)


@dataclass(frozen=True, kw_only=True)
class ParsedAnswer:
    """A model's text, parsed."""

    kind: AnswerKind | None  # None: there is neither a sign nor a mark (yet)
    text: str  # without signs and marks
    used: tuple[int, ...]  # numbers of passages, from 1, in the order of first use


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One thing that an answer says."""

    start: int  # in the marked answer; the marks and the space after it belong to it
    end: int
    text: str  # without marks; a table row with the names of its columns
    marks: tuple[int, ...] = ()  # numbers of facts, from 1
    is_title: bool = False  # a line in bold or a heading: it says what the next ones are about


def divided(raw: str, names: Set[str], *, complete: bool = True) -> tuple[str, str, str]:
    """The sign, the answer with its marks, and the sources that the model names below it, in a growing text also what
    may become that; each may be empty. `names` of documents, as `plain` has them."""
    body = _THOUGHTS.sub("", raw)
    sign = found[0] if (found := _SIGN.match(body)) else ""
    body = body[len(sign) :]
    for at in _sources_at(body, names, complete=complete):
        code = (piece.span() for piece in _PIECES.finditer(body) if piece.lastgroup in ("fence", "span"))
        if not any(start < at < end for start, end in code):
            return sign, body[:at], body[at:]
    return sign, body, ""


def read(raw: str, *, passages: int, complete: bool, names: Set[str] = frozenset()) -> ParsedAnswer:
    """Only numbers up to `passages` count, where there are no others those of the sources named below. With `complete`
    nothing is held back."""
    sign, own, sources = divided(raw, names, complete=complete)
    body = own + sources
    if not (sign or complete) and re.fullmatch(r"\s*(?:\*{0,2}\[?[ ]*[+0–—−-]?[ ]*\]?|<[^>]{0,10})", body):
        return ParsedAnswer(kind=None, text="", used=())  # it may become a sign
    text, used = without_marks(own if complete else _settled(body, len(own)), passages)
    if complete:
        used = used or without_marks(sources, passages)[1]
        while (again := without_marks(text, 0)[0]) != text:  # removing a mark may create another
            text = again
    kind = SIGNS.get(_SIGN.sub(r"\1", sign), AnswerKind.CONVERSATION) if sign else None
    if used and kind is not AnswerKind.GENERAL:  # [0] stays general: its label has been shown already
        kind = AnswerKind.FROM_BASE
    return ParsedAnswer(kind=kind, text=text, used=used)


def _sources_at(body: str, names: Set[str], *, complete: bool) -> Iterator[int]:
    for label in _LABEL.finditer(body):
        lines = body[label.end() :].splitlines()
        are_sources = all(
            _RULE.fullmatch(line) or _LISTED.match(line) or _are_names(line, names)
            for line in (lines if complete else lines[:-1])
        )
        if are_sources and plain(body[: label.end("end")]):
            yield label.end("end")
    begun = None if complete else _MAYBE_LABEL.search(body)
    if begun and any(label.startswith(begun["begun"].casefold()) for label in _LABELS):
        yield begun.end("end")
    lines = body.rstrip().splitlines(keepends=True)
    if len(lines) > 1 and (last := _REFERENCE.fullmatch(lines[-1])):
        if not complete and any(name.startswith(plain(last[1])) for name in names):
            lines.pop()
        while len(lines) > 1 and (
            _RULE.fullmatch(line := lines[-1].strip()) or (_REFERENCE.fullmatch(line) and _are_names(line, names))
        ):
            lines.pop()
        own = "".join(lines).rstrip()
        if not own.rstrip("*_").endswith(":"):  # after a colon such lines are a list that was asked for
            yield len(own)


def _are_names(text: str, names: Set[str]) -> bool:
    """Whether a text is nothing but these names, marks, and places in documents."""
    left = f" {plain(re.sub(_MARK, ' ', text))} "
    is_named = re.search(_MARK, text) is not None
    for name in sorted(names, key=len, reverse=True):
        is_named = is_named or f" {name} " in left
        left = left.replace(f" {name} ", "  ")
    return is_named and _BESIDE_NAMES.fullmatch(left) is not None


def without_marks(body: str, passages: int) -> tuple[str, tuple[int, ...]]:
    """The text, and the numbers of its marks up to `passages`, each once."""
    kept: list[str] = []
    used: list[int] = []
    at = 0
    for piece in _PIECES.finditer(body):
        if piece.lastgroup in _VERBATIM:
            continue
        kept.append(body[at : piece.start()])
        # «7 200 руб. [1].»: without the mark there would be two full stops
        is_doubled = body[: piece.start()].endswith(".") and re.match(r"\.(?!\.)", body[piece.end() :])
        at = piece.end() + bool(is_doubled)
        for named in _NAMED.finditer(piece[0]):
            first, last = int(named[1]), int(named[2] or named[1])
            numbers = range(max(first, 1), min(last, first + 50, passages) + 1)
            used += [number for number in numbers if number not in used]
    kept.append(body[at:])
    return "".join(kept).strip(), tuple(used)


def _settled(body: str, limit: int) -> str:
    """The part of the first `limit` characters of `body` that no further piece can change."""
    masked, at, cut, ends = "", 0, limit, [0]
    for piece in _PIECES.finditer(body):
        is_open = piece.lastgroup == "span" and piece.end() == len(body)
        may_grow = piece.lastgroup in _MARK_PIECES and _MORE_MARKS.match(body, piece.end())
        if piece.start() >= limit or is_open or may_grow:
            cut = min(piece.start(), limit)
            break
        if piece.lastgroup == "fence" and piece.end() == len(body) == limit:
            return body
        # as long, and opens nothing; a code block ends a paragraph
        filler = "\n" * len(piece[0]) if piece.lastgroup == "fence" else _NOT_BREAK.sub("x", piece[0])
        masked += body[at : piece.start()] + filler
        at = piece.end()
        ends.append(at)
    masked += body[at:]
    for pattern in _OPEN_ENDS:
        masked = masked[:cut] + _NOT_BREAK.sub("x", masked[cut:])
        if opened := pattern.search(masked):
            cut = min(cut, opened.start())
    settled = max(end for end in ends if end <= cut)
    return body[:settled] + body[settled:cut].rstrip(_LOOSE_END)


def split(body: str, *, facts: int) -> tuple[Statement, ...]:
    """The statements of `body` in order; marks over `facts` do not count."""
    found = list(_PIECES.finditer(body))
    blocks = [piece.span() for piece in found if piece.lastgroup == "fence"]
    statements: list[Statement] = []
    columns: list[str] = []
    for start, end in _lines(body, blocks):
        line = body[start:end].rstrip("\n")
        columns = columns if _ROW.fullmatch(line) else []
        if any(begin <= start < after for begin, after in blocks):
            statements.append(Statement(start=start, end=end, text=line.strip()))
        elif _ROW.fullmatch(line) and _is_rule(body[end:].partition("\n")[0]):
            columns = _cells(line)
        elif _ROW.fullmatch(line) and not _is_rule(line):
            text, numbers = without_marks(line, facts)
            named = [f"{name}: {cell}" for name, cell in zip(columns, _cells(text), strict=False) if cell]
            text = "; ".join(named or _cells(text))
            statements.append(Statement(start=start, end=end, text=text, marks=numbers))
        elif not _is_rule(line):
            marks = [
                piece.span() for piece in found if piece.lastgroup not in _VERBATIM and start <= piece.start() < end
            ]
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


def _lines(body: str, blocks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(body):
        block_end = next((after for begin, after in blocks if begin <= at < after), None)
        end = block_end or body.find("\n", at) + 1 or len(body)
        if body[at:end].strip():
            yield at, end
        at = max(end, at + 1)


def _of_line(body: str, start: int, end: int, marks: Sequence[tuple[int, int]], facts: int) -> list[Statement]:
    """The statements of a line that is no table row. Sentences begin where razdel sees them, but not after «»;», and
    behind a mark beside a full stop. A line of nothing but marks gives an empty one (see `_joined`)."""
    begin = prefix.end() if (prefix := _PREFIX.match(body, start, end)) else start
    line = body[begin:end]
    if not marks and _TITLE.fullmatch(line.rstrip("\n")):
        return [Statement(start=begin, end=end, text=line.strip(), is_title=True)]
    begun = (begin + span.start for span in sentences(line) if not line[: span.start].rstrip().endswith(";"))
    starts = {begin, *(at for at in begun if not any(first <= at < last for first, last in marks))}
    for first, last in marks:
        after = body[last:end].lstrip("".join(_ENDS))
        is_end = body[:first].rstrip().endswith(_ENDS) or end - len(after) > last
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

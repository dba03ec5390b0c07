"""Parses a model's text: the sign at the start, the marks at the claims, and the text without both.

In: a model's text so far. Out: a `ParsedAnswer`, or the places of its marks. Safe to call at every piece of a stream:
what might still become a mark is held back. `prompts/answer.md` explains signs and marks to the model.
"""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from rag.records import AnswerKind
from rag.words import plain

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


@dataclass(frozen=True, kw_only=True)
class ParsedAnswer:
    """A model's text, parsed."""

    kind: AnswerKind | None  # None: there is neither a sign nor a mark (yet)
    text: str  # without signs and marks
    used: tuple[int, ...]  # numbers of passages, from 1, in the order of first use


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a marked text that is no plain text: marks, or code."""

    start: int
    end: int
    is_code_block: bool


def pieces(body: str) -> Iterator[Piece]:
    """Marks and code blocks, in order."""
    for found in _PIECES.finditer(body):
        if found.lastgroup == "fence" or found.lastgroup not in _VERBATIM:
            yield Piece(start=found.start(), end=found.end(), is_code_block=found.lastgroup == "fence")


def divided(raw: str, names: Set[str]) -> tuple[str, str, str]:
    """The sign, the answer with its marks, and the sources that the model names below it; each may be empty. `names` of
    documents, as `plain` has them."""
    body = _THOUGHTS.sub("", raw)
    sign = _SIGN.match(body)
    own, sources = _split_sources(body[sign.end() :] if sign else body, names, complete=True)
    return (sign[0] if sign else ""), own, sources


def read(raw: str, *, passages: int, complete: bool, names: Set[str] = frozenset()) -> ParsedAnswer:
    """Parse `raw`; only numbers up to `passages` count, those of sources that the model names below it where it has no
    others. With `complete` nothing is held back."""
    body = _THOUGHTS.sub("", raw)
    sign = _SIGN.match(body)
    if sign is None and not complete and re.fullmatch(r"\s*(?:\*{0,2}\[?[ ]*[+0–—−-]?[ ]*\]?|<[^>]{0,10})", body):
        return ParsedAnswer(kind=None, text="", used=())  # it may become a sign
    if sign is not None:
        body = body[sign.end() :]
    own, sources = _split_sources(body, names, complete=complete)
    text, used = without_marks(own if complete else _settled(body, len(own)), passages)
    if complete:
        used = used or without_marks(sources, passages)[1]
        while (again := without_marks(text, 0)[0]) != text:  # removing a mark may create another
            text = again
    kind = SIGNS.get(sign[1], AnswerKind.CONVERSATION) if sign else None
    if used and kind is not AnswerKind.GENERAL:  # [0] stays general: its label has been shown already
        kind = AnswerKind.FROM_BASE
    return ParsedAnswer(kind=kind, text=text, used=used)


def _split_sources(body: str, names: Set[str], *, complete: bool) -> tuple[str, str]:
    """The answer, and the sources that it names at its end; in a growing text also what may become that."""
    for at in _sources_at(body, names, complete=complete):
        code = (piece.span() for piece in _PIECES.finditer(body) if piece.lastgroup in ("fence", "span"))
        if not any(start < at < end for start, end in code):
            return body[:at], body[at:]
    return body, ""


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
        used.extend(n for n in _numbers(piece[0]) if 1 <= n <= passages and n not in used)
    kept.append(body[at:])
    return "".join(kept).strip(), tuple(used)


def _numbers(marks: str) -> list[int]:
    numbers: dict[int, None] = {}
    for named in _NAMED.finditer(marks):
        first, last = int(named[1]), int(named[2] or named[1])
        numbers.update(dict.fromkeys(range(first, min(last, first + 50) + 1)))
    return list(numbers)


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

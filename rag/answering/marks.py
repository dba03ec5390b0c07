"""Parses a model's text: the sign at the start, the marks at the claims, and the text without both.

In: a model's text so far. Out: a `Reading`. Pure, and safe to call at every piece of a stream: shown text is only ever
appended to, because anything at the end that might still become a mark is held back. Code and links are left as they
are. `prompts/answer.md` explains signs and marks to the model.
"""

import re
from dataclasses import dataclass

from rag.answering.grammar import (
    LOOSE_END,
    MARK_PIECES,
    MAYBE_OWN_SOURCES,
    MORE_MARKS,
    NAMED,
    NOT_BREAK,
    OPEN_ENDS,
    OWN_SOURCES,
    PIECES,
    SIGN,
    THOUGHTS,
    VERBATIM,
)
from rag.records import AnswerKind

SIGNS = {"+": AnswerKind.FROM_BASE, "0": AnswerKind.GENERAL}  # any dash means a conversation
_MAX_RANGE = 50  # [1-9] names nine passages; [1-999] is no real range, so it is not expanded in full


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A model's text, parsed."""

    kind: AnswerKind | None  # None: there is neither a sign nor a mark (yet)
    text: str  # without signs and marks
    used: tuple[int, ...]  # numbers of passages, from 1, in the order of first use


def read(raw: str, *, passages: int, complete: bool) -> Reading:
    """Parse `raw`; only numbers up to `passages` count. With `complete` nothing is held back."""
    body = THOUGHTS.sub("", raw)
    sign = SIGN.match(body)
    if sign is None and not complete and _may_become_sign(body):
        return Reading(kind=None, text="", used=())
    if sign is not None:
        body = body[sign.end() :]
    own, sources = _split_sources(body, complete=complete)
    text, used = _without_marks(own if complete else _settled(body, len(own)), passages)
    used += tuple(number for number in _without_marks(sources, passages)[1] if complete and number not in used)
    return Reading(kind=_kind(sign[1] if sign else None, used), text=_finished(text) if complete else text, used=used)


def _kind(sign: str | None, used: tuple[int, ...]) -> AnswerKind | None:
    """A conversation with marks is an answer from the base. [0] stays general: its label has been shown already."""
    kind = SIGNS.get(sign, AnswerKind.CONVERSATION) if sign else None
    return AnswerKind.FROM_BASE if used and kind in (None, AnswerKind.CONVERSATION) else kind


def _may_become_sign(body: str) -> bool:
    return re.fullmatch(r"\s*(?:\*{0,2}\[?[ ]*[+0–—−-]?[ ]*\]?|<[^>]{0,10})", body) is not None


def _split_sources(body: str, *, complete: bool) -> tuple[str, str]:
    """The answer, and the list of sources at its end; in a growing text, also text that may become such a list."""
    listed = OWN_SOURCES.search(body) or (None if complete else MAYBE_OWN_SOURCES.search(body))
    if listed is None or _in_code(body, listed.start()):
        return body, ""
    return body[: listed.start()], body[listed.start() :]


def _in_code(body: str, at: int) -> bool:
    code = (piece for piece in PIECES.finditer(body) if piece.lastgroup in ("fence", "span"))
    return any(piece.start() < at < piece.end() for piece in code)


def _without_marks(body: str, passages: int) -> tuple[str, tuple[int, ...]]:
    kept: list[str] = []
    used: list[int] = []
    at = 0
    for piece in PIECES.finditer(body):
        if piece.lastgroup in VERBATIM:
            continue
        kept.append(body[at : piece.start()])
        at = piece.end() + _is_second_full_stop(body, piece)
        used.extend(n for n in _numbers(piece[0]) if 1 <= n <= passages and n not in used)
    kept.append(body[at:])
    return "".join(kept).strip(), tuple(used)


def _is_second_full_stop(body: str, piece: re.Match[str]) -> bool:
    """«7 200 руб. [1].»: without the mark there would be two full stops."""
    return body[: piece.start()].endswith(".") and re.match(r"\.(?!\.)", body[piece.end() :]) is not None


def _numbers(marks: str) -> list[int]:
    """All numbers in the marks, ranges expanded, in order."""
    numbers: dict[int, None] = {}
    for named in NAMED.finditer(marks):
        first, last = int(named[1]), int(named[2] or named[1])
        numbers.update(dict.fromkeys(range(first, min(last, first + _MAX_RANGE) + 1)))
    return list(numbers)


def _settled(body: str, limit: int) -> str:
    """The part of the first `limit` characters of `body` that no further piece can change."""
    masked, at, cut, ends = "", 0, limit, [0]
    for piece in PIECES.finditer(body):
        if piece.start() >= limit or _may_change(piece, body):
            cut = min(piece.start(), limit)
            break
        if piece.lastgroup == "fence" and piece.end() == len(body) == limit:
            return body
        masked += body[at : piece.start()] + _filler(piece)
        at = piece.end()
        ends.append(at)
    masked += body[at:]
    for pattern in OPEN_ENDS:
        masked = masked[:cut] + NOT_BREAK.sub("x", masked[cut:])
        if opened := pattern.search(masked):
            cut = min(cut, opened.start())
    settled = max(end for end in ends if end <= cut)
    return body[:settled] + body[settled:cut].rstrip(LOOSE_END)


def _filler(piece: re.Match[str]) -> str:
    """A placeholder of the same length that opens nothing; for a code block line breaks, since it ends a paragraph."""
    return "\n" * len(piece[0]) if piece.lastgroup == "fence" else NOT_BREAK.sub("x", piece[0])


def _may_change(piece: re.Match[str], body: str) -> bool:
    if piece.lastgroup == "span":
        return piece.end() == len(body)
    return piece.lastgroup in MARK_PIECES and MORE_MARKS.match(body, piece.end()) is not None


def _finished(text: str) -> str:
    """Remove marks until none is left: removing one may create another."""
    while (again := _without_marks(text, 0)[0]) != text:
        text = again
    return text

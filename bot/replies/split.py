"""Splits long rich text into messages that Telegram accepts.

In: `RichText` of any length. Out: pieces of at most 4096 UTF-16 units, cut where a reader would pause; formatting
that is open at a cut is opened again in the next piece. Only white space at the cuts is lost.
"""

import re
import unicodedata
from dataclasses import dataclass

from bot.replies.rich import RichText, utf16_length

MESSAGE_LIMIT = 4096  # UTF-16 units after entities are parsed, as sendMessage counts


@dataclass(frozen=True, kw_only=True)
class _Border:
    ends: re.Pattern[str]  # a match ends where the piece may end
    at_least: float  # share of the limit that a piece must fill, or the next kind of border is tried


_BORDERS = (
    _Border(ends=re.compile(r"\n[ \t]*\n"), at_least=0.5),
    _Border(ends=re.compile(r"\n"), at_least=0.5),
    _Border(ends=re.compile(r"[.!?…]+[»”\")\]]*\s"), at_least=0.3),
    _Border(ends=re.compile(r"\s"), at_least=0.0),
)
_JOINERS = frozenset("\u200d\ufe0f\ufe0e")
_GRAPHEME_CHARACTERS = 16  # a letter with its marks, or an emoji with its joiners, is rarely longer


def split_rich(text: RichText, limit: int = MESSAGE_LIMIT) -> list[RichText]:
    """Pieces in order; none is blank, none is longer than `limit` UTF-16 units (at least 2)."""
    characters = text.text
    pieces: list[RichText] = []
    start = 0
    while start < len(characters):
        end = _piece_end(characters, start, limit)
        piece = text.cut(start, end).stripped()
        if piece.text.strip():
            pieces.append(piece)
        start = end
    return pieces


def _piece_end(text: str, start: int, limit: int) -> int:
    fits = _last_that_fits(text, start, limit)
    if fits == len(text):
        return fits
    for border in _BORDERS:
        ends = [match.end() for match in border.ends.finditer(text, start, fits)]
        if ends and ends[-1] - start >= limit * border.at_least:
            return ends[-1]
    return _before_mark(text, start, fits)


def _last_that_fits(text: str, start: int, limit: int) -> int:
    end = min(len(text), start + limit)
    while (excess := utf16_length(text[start:end]) - limit) > 0:
        end -= (excess + 1) // 2  # a character is two units at the most
    return max(end, start + 1)


def _before_mark(text: str, start: int, end: int) -> int:
    """A cut inside a word, but not between a letter and its accent or inside a joined emoji."""
    for position in range(end, max(end - _GRAPHEME_CHARACTERS, start + 1), -1):
        after, before = text[position], text[position - 1]
        if not (unicodedata.combining(after) or after in _JOINERS or before in _JOINERS):
            return position
    return end

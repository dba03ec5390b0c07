"""Grounding: ties a model's statement to the passage that supports it.

In: a statement, the model's reason for it, passages. Out: the supporting passage, or None: then the statement was made
up. Every number has to be in the passages. Some of the words must be, too, unless the reason quotes the passage or the
passage is in another alphabet. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from rag.numbers import WrittenNumber, known_numbers, written_numbers
from rag.records import Passage, RankedPassage
from rag.words import REMEMBERED, mostly_cyrillic, plain, share, stems

ENOUGH_WORDS = 0.3  # of a statement's words in one passage; a passage about something else rarely holds a third
QUOTED_WORDS = 3  # a shorter quotation is a name or a term, and may occur anywhere

_CHUNK_ID = re.compile(r"\bc\d+\b")
_QUOTE = re.compile(r"«([^«»]+)»|“([^“”]+)”|\"([^\"]+)\"|'([^']+)'")
_WORD = re.compile(r"\w+")


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
        [numbers_in(passage_words(passage)) for passage in passages] if said else [frozenset[Decimal]()] * len(passages)
    )
    everything = numbers_in(asked).union(*held)
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


@lru_cache(maxsize=REMEMBERED)
def numbers_in(text: str) -> frozenset[Decimal]:
    """All numbers of a text, in digits and in words."""
    return known_numbers(text)


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


_stems = lru_cache(maxsize=REMEMBERED)(stems)


def _quotations(text: str) -> list[str]:
    found = [next(part for part in match.groups() if part) for match in _QUOTE.finditer(text)]
    return [quotation for quotation in found if len(_WORD.findall(quotation)) >= QUOTED_WORDS]

"""Ties what a model says it has read to the passage where it stands.

In: a statement, the model's reason for it, passages. Out: the passage, or nothing when there is none: then the
statement was made up. Every number has to stand in the passages; of the words some must, unless the reason quotes the
passage or the passage is in another alphabet. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from rag.answering.numbers import WrittenNumber, known_numbers, written_numbers
from rag.records import Passage, RankedPassage
from rag.words import share, stems

ENOUGH_WORDS = 0.3  # of a statement's words in one passage; a passage about something else rarely holds a third
QUOTED_WORDS = 3  # a shorter quotation is a name or a term, and may stand anywhere

REMEMBERED = 1024  # texts whose words and numbers are known: the statements of one part all look at the same ones

_CHUNK_ID = re.compile(r"\bc\d+\b")
_QUOTE = re.compile(r"«([^«»]+)»|“([^“”]+)”|\"([^\"]+)\"|'([^']+)'")
_WORD = re.compile(r"\w+")
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")
_LATIN = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, kw_only=True)
class _Support:
    """How well a passage bears a statement; compared field by field."""

    quoted: int  # quotations that stand in it
    numbers: int  # of the statement's
    named: bool  # by its chunk_id
    words: float  # share of the statement's words

    @property
    def key(self) -> tuple[int, int, float]:
        return (self.quoted, self.numbers, self.words + 0.3 * self.named)


def chunk_name(passage: Passage) -> str:
    """The `chunk_id` that models are given and name."""
    return f"c{passage.chunk_id}"


def tie(statement: str, reason: str, passages: Sequence[Passage], *, asked: str = "") -> RankedPassage | None:
    """The passage that bears the statement best. Numbers of the question (`asked`) need not stand anywhere."""
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
    """Whether a text says these words one after the other; case, ё, blanks and punctuation do not matter."""
    wanted = plain(quotation)
    return bool(wanted) and f" {wanted} " in f" {plain(text)} "


@lru_cache(maxsize=REMEMBERED)
def numbers_in(text: str) -> frozenset[Decimal]:
    """All numbers that a text knows, in digits and in words."""
    return known_numbers(text)


@lru_cache(maxsize=REMEMBERED)
def plain(text: str) -> str:
    """Words alone."""
    return " ".join(_WORD.findall(text.casefold().replace("ё", "е")))


def passage_words(passage: Passage) -> str:
    """All that is known of a passage in words: its text, its document's name, its date and headings."""
    dated = passage.published_at.date().isoformat() if passage.published_at else ""
    return "\n".join((passage.title, passage.source_identifier, dated, *passage.locator.headings, passage.text))


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
    is_foreign = _is_cyrillic(statement) != _is_cyrillic(passage.text)
    return is_foreign and (support.named or support.numbers > 0)


_stems = lru_cache(maxsize=REMEMBERED)(stems)


def _quotations(text: str) -> list[str]:
    found = [next(part for part in match.groups() if part) for match in _QUOTE.finditer(text)]
    return [quotation for quotation in found if len(_WORD.findall(quotation)) >= QUOTED_WORDS]


def _is_cyrillic(text: str) -> bool:
    return len(_CYRILLIC.findall(text)) > len(_LATIN.findall(text))

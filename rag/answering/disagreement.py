"""Checks how an answer tells conflicts between documents: all sides with sources and dates, the newest first (issue 6,
"Conflicts").

In: an answer and the conflicts among its facts. Out: remarks that the model can act on, and the text that the answer
lacks, written by code. A document's date is its own or that of its arrival. Pure.
"""

import calendar
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from domain.ids import ChunkId
from rag.answering.citations import cite
from rag.answering.numbers import known_numbers
from rag.records import Citation, Claim, Conflict
from rag.words import held, share, stems

Item = TypeVar("Item")

MAX_CHECKED = 5  # conflicts; an answer that tells five tells the rest, too, or is a table
HALF = 0.5
_WORDS = re.compile(r"\w+")
_PIECE_END = re.compile(r"(?<=[.!?…;])\s+(?=[^\d\sа-яa-z])|;\s|\n+|,\s+(?:а|но|тогда как|while|but|whereas)\s")
_RUSSIAN_MONTHS = (
    *("января", "февраля", "марта", "апреля", "мая", "июня"),
    *("июля", "августа", "сентября", "октября", "ноября", "декабря"),
)
_MONTH = "|".join((*_RUSSIAN_MONTHS, *calendar.month_name[1:]))
_DAY_OR_NUMBER = re.compile(
    rf"\b\d{{1,2}}\.\d{{1,2}}\.\d{{2,4}}\b|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}\s+(?:{_MONTH})(?:,?\s+\d{{4}})?\b"
    rf"|\b(?:{_MONTH})\s+\d{{1,2}}(?:,?\s+\d{{4}})?\b"
    r"|№\s*[\w/-]+|\b(?-i:N[oO])(?:\.\s*|\s+)(?=[\w/-]*\d)[\w/-]+",
    re.IGNORECASE,
)


def unspoken(answer: str, conflicts: Sequence[Conflict]) -> tuple[str, ...]:
    """A remark for each conflict of which the answer tells only some sides; conflicts that it does not touch pass."""
    return tuple(_remark(each) for each in conflicts[:MAX_CHECKED] if set(_Sides(each).told(answer)) == {True, False})


def misdated(answer: str, conflicts: Sequence[Conflict]) -> tuple[str, ...]:
    """A remark for each side that the answer gives with the date of another side's document instead of its own."""
    pieces = [piece for piece in _PIECE_END.split(answer) if piece]
    return tuple(
        f"«{claim.passage.passage.name}» {_dating(claim)}. Give no document the date of another one."
        for conflict in conflicts[:MAX_CHECKED]
        for claim in _misdated(pieces, conflict)
    )


def with_sides(
    answer: str, cited: Sequence[Citation], conflicts: Sequence[Conflict]
) -> tuple[str, tuple[Citation, ...]]:
    """The answer and its sources. Code appends each conflict that the answer touches but does not tell in full."""
    sources = {citation.document_id for citation in cited}
    lacking = [
        each
        for each in conflicts[:MAX_CHECKED]
        if each.told and any((sides := _Sides(each)).told(answer)) and not _is_whole(each, sides, answer, sources)
    ]
    if not lacking:
        return answer, tuple(cited)
    sources_of_sides = (cite(claim.passage.passage, about=claim.value) for each in lacking for claim in each.claims)
    unique: dict[ChunkId, Citation] = {}
    for citation in (*cited, *sources_of_sides):
        unique.setdefault(citation.chunk_id, citation)
    return "\n\n".join((answer.rstrip(), *(each.told for each in lacking))), tuple(unique.values())


class _Sides:
    """What distinguishes the sides of a conflict, in the order of its claims. Dates and numbers of documents («по
    приказу № 3 от 01.02.2023») are ignored, unless the sides differ in nothing else."""

    def __init__(self, conflict: Conflict) -> None:
        values = [claim.value for claim in conflict.claims]
        whole = [_plain(value) for value in values]
        bare = [_plain(_without_days(value)) for value in values]
        self._are_bare = len(set(bare)) == len(set(whole))
        self._plain = bare if self._are_bare else whole
        self._numbers = self._own([known_numbers(plain) for plain in self._plain])
        self._words = self._own([stems(plain) for plain in self._plain])

    def told(self, answer: str) -> tuple[bool, ...]:
        """For each side, whether the answer tells it: verbatim; by a number that only this side has; or, for a side
        without such a number, by half of the words that only it has (nobody repeats a whole sentence verbatim)."""
        return self._told(self._said(answer))

    def places(self, answer: str) -> tuple[int, ...]:
        """For each side, the number of words of the answer after which it is told; -1 where it is not told."""
        words = self._said(answer)
        return tuple(self._place(side, words) for side in range(len(self._plain)))

    def _said(self, answer: str) -> list[str]:
        return _plain(_without_days(answer) if self._are_bare else answer).split()

    def _place(self, side: int, words: Sequence[str]) -> int:
        """Length of the shortest beginning that tells the side, found by binary search."""
        if not self._told(words)[side]:
            return -1
        few, enough = 0, len(words)
        while few < enough:
            middle = (few + enough) // 2
            few, enough = (few, middle) if self._told(words[:middle])[side] else (middle + 1, enough)
        return few

    def _told(self, words: Sequence[str]) -> tuple[bool, ...]:
        said = f" {' '.join(words)} "
        numbers = known_numbers(said) if any(self._numbers) else frozenset()
        return tuple(self._tells(side, said, numbers) for side in range(len(self._plain)))

    def _tells(self, side: int, said: str, numbers: Collection[Decimal]) -> bool:
        if self._plain[side].strip() and self._plain[side] in said:
            return True
        if self._numbers[side]:
            return not self._numbers[side].isdisjoint(numbers)
        wanted = self._words[side]
        return bool(wanted) and share(wanted, held(wanted, said)) >= HALF

    def _own(self, each: Sequence[frozenset[Item]]) -> list[frozenset[Item]]:
        """For each side, its items without those of sides that say something else."""
        sides = list(zip(self._plain, each, strict=True))
        return [own - frozenset().union(*(all_of for other, all_of in sides if other != side)) for side, own in sides]


def _is_whole(conflict: Conflict, sides: _Sides, answer: str, sources: Collection[str]) -> bool:
    """Whether the answer tells all sides, each with its source and its own date, the newest first."""
    claims, said = conflict.claims, _plain(answer)
    named = all(claim.passage.passage.document_id in sources for claim in claims)
    dated = all(_says_day(said, claim.dated.date()) for claim in claims if claim.dated and _bears_its_day(claim))
    return named and dated and all(sides.told(answer)) and _is_in_order(claims, sides.places(answer))


def _is_in_order(claims: Sequence[Claim], places: Sequence[int]) -> bool:
    days = [claim.dated.date() if claim.dated else None for claim in claims]
    pairs = zip(pairwise(places), pairwise(days), strict=True)
    return all(one <= other or day == following for (one, other), (day, following) in pairs)


def _bears_its_day(claim: Claim) -> bool:
    """Whether the date is the document's own. An arrival date orders documents, but an answer need not give it."""
    return claim.passage.passage.published_at is not None


def _misdated(pieces: Sequence[str], conflict: Conflict) -> Iterator[Claim]:
    """Sides that one of the pieces gives with another side's date. Few pieces have a date at all."""
    days = {claim.dated.date() for claim in conflict.claims if claim.dated}
    dated = [piece for piece in pieces if any(_says_day(_plain(piece), day) for day in days)]
    if not dated:
        return
    sides = _Sides(conflict)
    for place, claim in enumerate(conflict.claims):
        if any(_has_anothers_day(piece, place, conflict, sides) for piece in dated):
            yield claim


def _has_anothers_day(piece: str, place: int, conflict: Conflict, sides: _Sides) -> bool:
    """Whether a piece gives the side another side's date. Only a piece that tells this side alone, without its own
    date, is judged; dates in the side's own passage pass."""
    claim, told, said = conflict.claims[place], sides.told(piece), _plain(piece)
    others = [other for other in conflict.claims if _plain(other.value) != _plain(claim.value)]
    if not told[place] or claim.dated is None or _says_day(said, claim.dated.date()):
        return False
    if any(is_told and conflict.claims[other] in others for other, is_told in enumerate(told)):
        return False
    text = _plain(f"{claim.passage.passage.name} {claim.passage.passage.text} {claim.value}")
    days = {other.dated.date() for other in others if other.dated}
    return any(_says_day(said, day) and not _says_day(text, day) for day in days)


def _says_day(said: str, day: date) -> bool:
    return any(f" {form} " in said for form in _forms(day))


@lru_cache(maxsize=64)
def _forms(day: date) -> tuple[str, ...]:
    """The ways to write a date, without punctuation."""
    english = calendar.month_name[day.month].casefold()
    russian = _RUSSIAN_MONTHS[day.month - 1]
    return (
        f"{day:%Y %m %d}",
        f"{day:%d %m %Y}",
        f"{day.day} {day:%m %Y}",
        f"{day.day} {russian} {day.year}",
        f"{day:%d} {russian} {day.year}",
        f"{day.day} {english} {day.year}",
        f"{english} {day.day} {day.year}",
        f"{day:%d} {english} {day.year}",
    )


def _without_days(text: str) -> str:
    return _DAY_OR_NUMBER.sub(" ", text)


def _remark(conflict: Conflict) -> str:
    sides = "; ".join(f"{claim.passage.passage.name}{_day(claim)}: {claim.value}" for claim in conflict.claims)
    return f"Documents disagree on «{conflict.about}» ({sides}). Say what each says, the newest first."


def _dating(claim: Claim) -> str:
    day = claim.dated.date().isoformat() if claim.dated else ""
    return f"is of {day}" if _bears_its_day(claim) else f"bears no date and came to the base on {day}"


def _day(claim: Claim) -> str:
    return f" of {claim.dated.date().isoformat()}" if claim.dated and _bears_its_day(claim) else ""


def _plain(text: str) -> str:
    """The words, with a space on either side, so that 14 is not found in 140."""
    return f" {' '.join(_WORDS.findall(text.casefold().replace('ё', 'е')))} "

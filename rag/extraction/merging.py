"""Merges the rows of many documents: what stands in several documents becomes one row.

In: rows of documents, the arrival date of each document. Out: rows, each thing once with all its sources, and
conflicts. Two rows are about one thing when their first cells have the same key. Pure. No row is lost: each is merged
into one of the resulting rows.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from domain.ids import DocumentId
from rag.extraction.conflicts import claim, dated, newness
from rag.extraction.evidence import plain
from rag.extraction.rows import Row
from rag.extraction.values import REMEMBERED, same
from rag.records import Conflict, RankedPassage
from rag.words import stems

_TAIL = re.compile(r"\s+(?:от|of|dated|from)\s+«?\d.*$", re.IGNORECASE)  # «12/2024 от 01.02.2024»
_NUMBER_SIGNS = frozenset({"номер", "number", "no", "n"})

Key = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Tabulated:
    """The rows of all documents."""

    rows: tuple[Row, ...]
    conflicts: tuple[Conflict, ...]


@lru_cache(maxsize=REMEMBERED)
def key_of(cell: str, row: str) -> Key:
    """The identity of a thing: its first cell without the word for the kind of thing («договор № 12» is «12»), the
    number sign, and the date that often follows."""
    kinds = stems(row)
    words = plain(_TAIL.sub("", cell)).split()
    telling = tuple(word for word in words if word not in _NUMBER_SIGNS and not (stems(word) & kinds))
    return telling or tuple(words)


def tabulate(
    rows: Sequence[Row], *, row: str, columns: Sequence[str], came: Mapping[DocumentId, datetime]
) -> Tabulated:
    """The merged rows in order of first appearance. Where documents disagree, the table has the newest one's value."""
    things: dict[Key, list[Row]] = {}
    for each in rows:
        things.setdefault(key_of(each.cells[0], row), []).append(each)
    made = [_thing(each, columns, came) for each in things.values()]
    conflicts = dated((conflict for one in made for conflict in one.conflicts), came)
    return Tabulated(rows=tuple(each for one in made for each in one.rows), conflicts=conflicts)


def _thing(rows: Sequence[Row], columns: Sequence[str], came: Mapping[DocumentId, datetime]) -> Tabulated:
    """One row if every document has only one for this key. Otherwise the first cell does not identify a thing, and only
    rows that agree in all cells are merged."""
    by_document: dict[DocumentId, list[Row]] = {}
    for each in rows:
        known = by_document.setdefault(each.document, [])
        _put(known, each)
    if all(len(known) == 1 for known in by_document.values()):
        one = [known[0] for known in by_document.values()]
        return Tabulated(rows=(_joined(one, came),), conflicts=_conflicts(one, columns))
    apart: list[Row] = []
    for known in by_document.values():
        for each in known:
            _put(apart, each)
    return Tabulated(rows=tuple(apart), conflicts=())


def _put(known: list[Row], row: Row) -> None:
    """Merge the row into a known one that agrees in all cells (an empty cell agrees with any), or append it."""
    for place, other in enumerate(known):
        if _agree(other, row):
            known[place] = _filled(other, row)
            return
    known.append(row)


def _agree(one: Row, other: Row) -> bool:
    return one.nth == other.nth and all(
        not mine or not theirs or same(mine, theirs) for mine, theirs in zip(one.cells, other.cells, strict=True)
    )


def _joined(rows: Sequence[Row], came: Mapping[DocumentId, datetime]) -> Row:
    """The newest document's cells; empty ones are filled from the next newest. Sources are in the same order."""
    newest = sorted(rows, key=lambda row: _age(row, came), reverse=True)
    joined = newest[0]
    for other in newest[1:]:
        joined = _filled(joined, other)
    return joined


def _filled(row: Row, other: Row) -> Row:
    cells = tuple(mine or theirs for mine, theirs in zip(row.cells, other.cells, strict=True))
    unique = {source.passage.chunk_id: source for source in reversed((*row.sources, *other.sources))}
    sources: tuple[RankedPassage, ...] = tuple(reversed(unique.values()))
    return replace(row, cells=cells, sources=sources)


def _conflicts(rows: Sequence[Row], columns: Sequence[str]) -> tuple[Conflict, ...]:
    """A conflict for every column, except the first, in which documents have different values."""
    found = []
    for place, column in enumerate(columns[1:], start=1):
        said = [row for row in rows if row.cells[place]]
        if any(not same(said[0].cells[place], row.cells[place]) for row in said[1:]):
            claims = tuple(claim(row.cells[place], row.sources[0]) for row in said)
            found.append(Conflict(about=f"{rows[0].cells[0]}, {column}", claims=claims))
    return tuple(found)


def _age(row: Row, came: Mapping[DocumentId, datetime]) -> tuple[bool, float]:
    return newness(row.sources[0].passage, came.get(row.document))


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A row of both documents."""

    before: Row
    after: Row
    places: tuple[int, ...]  # columns whose cells differ


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every row of both documents is in one of these."""

    removed: tuple[Row, ...]  # only in the first
    added: tuple[Row, ...]  # only in the second
    changed: tuple[Changed, ...]
    same: int


def compare(before: Sequence[Row], after: Sequence[Row], *, row: str) -> Comparison:
    """Rows with the same key are paired: first those that agree, then the rest in their order."""
    left = _by_key(after, row)
    removed: list[Row] = []
    pairs: list[Changed] = []
    for key, rows in _by_key(before, row).items():
        matched, alone = _match(rows, left.get(key, []))
        pairs += matched
        removed += alone
    added = [each for rows in left.values() for each in rows]
    changed = tuple(pair for pair in pairs if pair.places)
    return Comparison(removed=tuple(removed), added=tuple(added), changed=changed, same=len(pairs) - len(changed))


def _match(rows: Sequence[Row], others: list[Row]) -> tuple[list[Changed], list[Row]]:
    """Pairs, and the rows left without one. Matched rows are removed from `others`."""
    matched: list[Changed] = []
    rest: list[Row] = []
    for one in rows:
        twin = next((other for other in others if not _differing(one, other)), None)
        if twin is None:
            rest.append(one)
        else:
            others.remove(twin)
            matched.append(Changed(before=one, after=twin, places=()))
    while rest and others:
        one, other = rest.pop(0), others.pop(0)
        matched.append(Changed(before=one, after=other, places=_differing(one, other)))
    return matched, rest


def _differing(one: Row, other: Row) -> tuple[int, ...]:
    """Columns that both fill, with different values. An empty cell counts as equal."""
    cells = zip(one.cells[1:], other.cells[1:], strict=True)
    return tuple(
        place for place, (mine, theirs) in enumerate(cells, start=1) if mine and theirs and not same(mine, theirs)
    )


def _by_key(rows: Sequence[Row], row: str) -> dict[Key, list[Row]]:
    grouped: dict[Key, list[Row]] = {}
    for each in rows:
        grouped.setdefault(key_of(each.cells[0], row), []).append(each)
    return grouped

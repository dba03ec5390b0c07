"""Compares two documents row by row.

In: the rows of both. Out: rows that only one has, rows that both have with different cells, and how many are the same.
Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.tabulation.checking import Row
from rag.tabulation.table import Key, key_of
from rag.tabulation.values import same


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

"""Merges the rows of many documents: what several documents state of a thing becomes one row.

In: rows of documents, the columns that tell things apart, the arrival date of each document. Out: each thing once,
every value with the passage that says it, what was replaced, and what documents that disagree say instead. An
amendment's value counts before that of the thing's own document, that before a mere mention, that before a draft's; of
the same standing, the newest. What changed between two documents is what the later one, as a newer version, replaces.
Pure.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import permutations, product

from domain.ids import DocumentId
from rag.execution.evidence import Row
from rag.execution.ledger import claim, dated, newness
from rag.execution.wire import Standing
from rag.records import Conflict, OtherValue, Passage, TableRow
from rag.values import REMEMBERED, amount, is_only_amount, name_words, only_day, same
from rag.words import plain, stems

FEWEST_OF_VERSION = 3  # rows of a list that may have versions: a document about one thing has none by this rule
LETTERS_OF_CODE = 4  # a longer word between numbers is a name
SHARED_BY_VERSIONS = 0.5  # of the things of the shorter of two versions

_TAIL = re.compile(r"\s+(?:от|of|dated|from)\s+«?\d.*$", re.IGNORECASE)  # «12/2024 от 01.02.2024»
_CODE = re.compile(r"(?:№|\bNo\.?)\s*([\w.]*\d[\w.]*[/-][\w./-]*\w)", re.IGNORECASE)  # «Договор поставки № 12/2024-А»
_DIGITS = re.compile(r"\d+")
_NUMBER_SIGNS = frozenset({"номер", "number", "no", "n"})
_LOOKALIKES = str.maketrans("авекмнорстух", "abekmhopctyx")
_RANKS = {Standing.DRAFT: 0, Standing.MENTIONS: 1, Standing.OWN: 2, Standing.AMENDS: 3}

Key = tuple[tuple[str, ...], ...]


def merge_rows(
    rows: Sequence[Row],
    *,
    row: str,
    key: Sequence[int] = (0,),
    came: Mapping[DocumentId, datetime],
    earlier: DocumentId | None = None,
) -> tuple[TableRow, ...]:
    """In order of first appearance. `row`: what one row is; `key`: the columns that tell things apart; `earlier`: of
    two documents that are compared, whose standing does not count, the one that the other replaces."""
    by_key: dict[Key, list[Row]] = {}
    for each in rows:
        own = replace(each, standing=Standing.OWN) if earlier else each
        by_key.setdefault(key_of(each.cells, row, key), []).append(own)
    versions = frozenset({earlier}) if earlier else _superseded(by_key, came)
    merger = _Merger(came=came, versions=versions, key=frozenset(key))
    return tuple(thing for known in by_key.values() for thing in merger.things(known))


def key_of(cells: Sequence[str], row: str, key: Sequence[int] = (0,)) -> Key:
    """The identity of a thing by its first cell and the other columns of `key`."""
    return tuple(_name(cells[place], row) if place == 0 else _value(cells[place]) for place in key)


def conflicts_of(
    things: Sequence[TableRow], columns: Sequence[str], came: Mapping[DocumentId, datetime]
) -> tuple[Conflict, ...]:
    """A conflict for every cell about which documents disagree."""
    found: list[Conflict] = []
    for thing, (place, column) in product(things, enumerate(columns)):
        if disputed := thing.disputed(place):
            own = claim(thing.cells[place], thing.sources[place])
            claims = (own, *(claim(each.value, each.source) for each in disputed))
            found.append(Conflict(about=f"{thing.cells[0]}, {column}", claims=claims))
    return dated(found, came)


@lru_cache(maxsize=REMEMBERED)
def _name(cell: str, row: str) -> tuple[str, ...]:
    """A first cell without the word for the kind of thing («договор № 12» is «12»), the number sign, the legal form and
    the date that often follows. A code such as «№ 12/2024» stands for the whole, with a number before it."""
    named = _TAIL.sub("", cell)
    if code := _CODE.search(named):
        before = _DIGITS.findall(named[: code.start()])  # «1 к договору № 14/2024»
        return _same_letters((*before, *plain(code[1]).split()))
    kinds, words = stems(row), name_words(named)
    telling = [word for word in words if word not in _NUMBER_SIGNS and not (stems(word) & kinds)]
    return _same_letters(telling or words)


def _value(cell: str) -> tuple[str, ...]:

    if day := only_day(cell):
        return (day.isoformat(),)
    if is_only_amount(cell) and (found := amount(cell)):
        return (f"{found.value.normalize():f}",)
    code = _CODE.search(cell)
    return _same_letters(plain(code[1]).split() if code else name_words(cell))


def _same_letters(words: Sequence[str]) -> tuple[str, ...]:
    """The letters of a code («А-12/2024») as Latin ones, where Cyrillic ones look the same."""
    is_code = any(char.isdigit() for word in words for char in word)
    return tuple(word.translate(_LOOKALIKES) if is_code and len(word) <= LETTERS_OF_CODE else word for word in words)


def _superseded(by_key: Mapping[Key, Sequence[Row]], came: Mapping[DocumentId, datetime]) -> frozenset[DocumentId]:
    """Documents of which a newer version is among the rows: both list at least FEWEST_OF_VERSION things as their own,
    mostly the same ones, and bear different dates."""
    held: dict[DocumentId, set[Key]] = {}
    ages: dict[DocumentId, tuple[bool, float]] = {}
    for key, each in ((key, each) for key, rows in by_key.items() for each in rows if each.standing is Standing.OWN):
        held.setdefault(each.document, set()).add(key)
        ages[each.document] = newness(each.sources[0], came.get(each.document))
    lists = [each for each, keys in held.items() if len(keys) >= FEWEST_OF_VERSION and ages[each][0]]
    return frozenset(
        older
        for older, newer in permutations(lists, 2)
        if ages[older] < ages[newer]
        and len(held[older] & held[newer]) >= SHARED_BY_VERSIONS * min(len(held[older]), len(held[newer]))
    )


@dataclass(frozen=True, kw_only=True)
class _Merger:
    came: Mapping[DocumentId, datetime]
    versions: frozenset[DocumentId]  # superseded ones
    key: frozenset[int]

    def things(self, rows: Sequence[Row]) -> tuple[TableRow, ...]:
        """One thing if every document that is about it has only one row for this key. Otherwise the key does not
        identify a thing, and only rows that agree in all cells are merged."""
        by_document: dict[DocumentId, list[list[Row]]] = {}
        for each in rows:
            _add_to_group(by_document.setdefault(each.document, []), each)
        owners = (groups for groups in by_document.values() if any(rows[0].standing is Standing.OWN for rows in groups))
        in_order = [row for groups in by_document.values() for group in groups for row in group]
        if all(len(groups) == 1 for groups in owners):
            return (self._thing(in_order),)
        apart: list[list[Row]] = []
        for each in in_order:
            _add_to_group(apart, each)
        return tuple(map(self._thing, apart))

    def _thing(self, rows: Sequence[Row]) -> TableRow:

        def rank(row: Row) -> tuple[int, bool, bool, float]:
            is_latest = row.document not in self.versions
            return (_RANKS[row.standing], is_latest, *newness(row.sources[0], self.came.get(row.document)))

        ranked = sorted(rows, key=rank, reverse=True)
        cells, sources, others = zip(*(self._cell(ranked, place) for place in range(len(ranked[0].cells))), strict=True)
        are_old = [row.document in self.versions for row in ranked]
        return TableRow(cells=cells, sources=sources, others=others, is_outdated=all(are_old), is_new=not any(are_old))

    def _cell(self, ranked: Sequence[Row], place: int) -> tuple[str, Passage, tuple[OtherValue, ...]]:
        """The value of the first row that has one, where it stands, and the other values: each replaced one once, and
        no mention of one that held at its time and was replaced since. Of documents that say the same, the thing's own
        is named."""
        saying = [row for row in ranked if row.cells[place]]
        if not saying:
            return "", ranked[0].sources[place], ()
        first = saying[0]
        alike = [row for row in saying if place in self.key or same(first.cells[place], row.cells[place])]
        named = next((row for row in alike if row.standing is Standing.OWN), first)
        is_amended = first.standing is Standing.AMENDS
        others = [
            OtherValue(
                value=row.cells[place],
                source=row.sources[place],
                is_replaced=row.document in self.versions or (is_amended and row.standing is not Standing.MENTIONS),
                is_in_force=row.standing is not Standing.DRAFT or first.standing is Standing.DRAFT,
            )
            for row in saying
            if row not in alike
        ]
        former = [each for each in others if each.is_replaced]
        kept: list[OtherValue] = []
        for each in others:
            told = (one for one in kept if one.is_replaced) if each.is_replaced else former
            if not any(same(each.value, one.value) for one in told):
                kept.append(each)
        return named.cells[place], named.sources[place], tuple(kept)


def _add_to_group(groups: list[list[Row]], row: Row) -> None:
    """Add the row to the group that it agrees with in all cells (an empty cell agrees with any), or make a new one."""
    for group in groups:
        cells = (pair for other in group for pair in zip(row.cells, other.cells, strict=True))
        if all(other.nth == row.nth for other in group) and all(not all(pair) or same(*pair) for pair in cells):
            group.append(row)
            return
    groups.append([row])

"""Room in bounded bases, in memory: what `quota.sql` decides.

In: a row and the bound. Out: whether the base is full for it, or SourceError where it does not fit.
"""

from domain.documents import DocumentStatus, SourceType
from ingestion.errors import FailureCode, SourceError
from tests.fakes.stores.tables import DocumentRow, Tables

PLACES = frozenset({SourceType.PATH, SourceType.LINK, SourceType.SITE})


def full_at(tables: Tables, row: DocumentRow, most: int | None) -> int | None:
    """The bound, where it is reached and the document can only add to it."""
    if most is None or _is_named(tables, row):
        return None
    held = sum(len(other.chunks) for other in tables.documents_of(row.batch.base_id) if other.visible)
    replaces = tables.ready_before(row) or tables.ready_namesake(row)
    return most if held >= most and not replaces else None


def ensure_room(tables: Tables, row: DocumentRow, chunks: int, most: int | None) -> None:
    """Raises SourceError when the base would hold more, with what others are promised."""
    if most is None or _is_named(tables, row):
        return
    namesake = tables.ready_namesake(row) if row.source.type in PLACES else None
    before = tables.ready_before(row) or namesake
    leaving = len(before.chunks) if before else 0
    others = [other for other in tables.documents_of(row.batch.base_id) if other is not row]
    if chunks > leaving and sum(map(_held, others)) - leaving + chunks > most:
        raise SourceError(FailureCode.BASE_WITHOUT_ROOM, passages=chunks, most=most)


def _held(row: DocumentRow) -> int:
    stored = len(row.chunks) if row.visible else 0
    return max(stored, row.total) if row.status is DocumentStatus.EMBEDDING else stored


def _is_named(tables: Tables, row: DocumentRow) -> bool:
    return any(base == row.batch.base_id for key, base in tables.bases.items() if isinstance(key, str))

"""Stores call SQL functions and read their rows as records.

In: arguments; rows as a transport gives them (UUIDs and moments are text). Out: records of `domain`, `ingestion` and
`rag`, which pydantic reads by their annotations. A row that lacks a column or holds another type is a mistake of ours:
ValueError, KeyError or TypeError, whose text never quotes the row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter

from adapters.database.payloads import json_text, storable
from adapters.database.transport import LEASE_LOST, Argument, DatabaseError, Row, Transport
from domain.bases import Joined, ListedBase, Member
from domain.documents import DocumentCard, Notice, opening_line
from domain.ids import DocumentId
from domain.locator import JsonValue
from domain.people import Caller, Token, UserState
from domain.statistics import StepFigures
from domain.visible import visible
from ingestion.entities.records import ClaimedEnrichment, PassageSpan
from ingestion.errors import LeaseLost
from ingestion.indexing import OutdatedBase
from ingestion.parsers.codec import BLOCKS
from ingestion.records import Block, ClaimedDocument, Document, Source
from ingestion.spool import Spool
from rag.entities import GraphFact, NamedEntity
from rag.records import Candidate, DocumentMatch, Passage, PastSession

R = TypeVar("R")
Given = Argument | Mapping[str, JsonValue] | Sequence[str]

COLUMNS: Mapping[type, Mapping[str, str]] = {
    Caller: {"token": "id", "person": "user_id", "base": "base_id", "base_name": "name", "is_read_only": "read_only"},
    ClaimedDocument: {"attempt": "attempts"},
    ClaimedEnrichment: {"document": "document_id", "attempt": "attempts"},
    DocumentCard: {"sent_by": "user_id"},
    DocumentMatch: {"file_name": "known_as"},
    GraphFact: {"entity": "entity_name", "object": "object_name"},
    Joined: {"base": "base_id"},
    ListedBase: {"id": "base_id"},
    Member: {"id": "user_id"},
    NamedEntity: {"id": "canonical"},
    OutdatedBase: {"id": "base_id"},
    PassageSpan: {"chunk": "chunk_id", "start": "span_start", "end": "span_end"},
    PastSession: {"id": "session_id"},
    StepFigures: {
        "turns": "planned_turns",
        "planned": "steps_planned",
        "run": "steps_run",
        "median_s": "planned_median_s",
    },
    Token: {"base": "base_id", "base_name": "name", "is_read_only": "read_only"},
    UserState: {"mode": "current_mode", "only": "only_document", "base_owner": "owner_name"},
}
"""Fields that have another column than that of their name."""


_REMOVAL_S = 30 * 60  # a million passages have forty million postings, which take minutes; a timeout undoes everything
_INDEX_S = 2 * 60 * 60  # for the words of very large bases on one slow core; a step of a segment takes a second
PATIENCE_S: Mapping[str, float] = {
    "clean_base": _REMOVAL_S,
    "delete_base": _REMOVAL_S,
    "delete_document": _REMOVAL_S,
    "forget_person": _REMOVAL_S,
    "remove_expired": _REMOVAL_S,
    "send_document": _REMOVAL_S,
    "switch_model": _REMOVAL_S,
    "ensure_posting_segments": _INDEX_S,
    "ensure_vector_segments": _INDEX_S,
    "refresh_common_terms": _INDEX_S,
}
"""Of functions that may take longer than the transport would wait."""


class Store:
    """Speaks in records: calls functions over a transport, and reads their rows."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _call(self, function: str, /, **given: Given) -> list[Row]:
        """The rows of a function, whose parameters have these names after `p_`; a mapping goes as JSON."""
        named = {f"p_{name}": _argument(value) for name, value in given.items()}
        return await self._transport.call(function, timeout_s=PATIENCE_S.get(function), **named)

    async def _does(self, function: str, /, **given: Given) -> bool:
        """Whether the function gives a row: it has found, or done, what was asked."""
        return bool(await self._call(function, **given))

    async def _records(self, kind: type[R], function: str, /, **given: Given) -> list[R]:
        return records(kind, await self._call(function, **given))

    async def _record(self, kind: type[R], function: str, /, **given: Given) -> R | None:
        """The first of them, if there is one."""
        return next(iter(await self._records(kind, function, **given)), None)

    async def _values(self, kind: type[R], function: str, column: str, /, **given: Given) -> list[R]:
        """What stands in one column."""
        return _read(kind, [row[column] for row in await self._call(function, **given)])

    async def _value(self, kind: type[R], function: str, column: str, /, **given: Given) -> R | None:
        """What stands there in the first row; None without one, or where it is null."""
        found = await self._values(cast("type[R | None]", kind | None), function, column, **given)
        return next(iter(found), None)

    async def _leased(self, function: str, document: DocumentId, lease: str, /, **given: Argument) -> list[Row]:
        """A call of a worker for a document that it holds; arguments go as they are. Raises LeaseLost."""
        named = {f"p_{name}": value for name, value in given.items()}
        try:
            return await self._transport.call(function, timeout_s=None, p_document=document, p_lease=lease, **named)
        except DatabaseError as exc:
            if exc.code == LEASE_LOST:
                raise LeaseLost(document) from exc
            raise


def _argument(value: Given) -> Argument:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return json_text(value)
    if isinstance(value, list | tuple):
        return cast("Argument", [storable(item) if isinstance(item, str) else item for item in value])
    return cast("Argument", value)


_READERS: dict[type, TypeAdapter[Any]] = {}
_QUIET = ConfigDict(hide_input_in_errors=True)


def records(kind: type[R], found: Sequence[Mapping[str, object]]) -> list[R]:
    """The rows as records of this kind. Null is nothing where the field's default says so (0, "", ())."""
    renamed, empty = COLUMNS.get(kind, {}), _empty_by_default(cast("type", kind))
    return _read(
        kind,
        [
            {
                name: content
                for name, content in {**row, **{field: row[column] for field, column in renamed.items()}}.items()
                if content is not None or name not in empty
            }
            for row in found
        ],
    )


@lru_cache(maxsize=128)  # of all kinds
def _empty_by_default(kind: type) -> frozenset[str]:
    if not is_dataclass(kind):
        return frozenset()
    return frozenset(each.name for each in fields(kind) if each.default is not None and not each.default)


def _read(kind: type[R], found: Sequence[object]) -> list[R]:
    if (reader := _READERS.get(kind)) is None:
        reader = _READERS[kind] = TypeAdapter(list[kind], config=_QUIET)  # type: ignore[valid-type]
    read: list[R] = reader.validate_python(found)
    return read


def record(kind: type[R], row: Row, **given: object) -> R:
    """One row, with `given` fields beside its columns."""
    return records(kind, [{**row, **given}])[0]


def value(kind: type[R], found: object) -> R:
    """What stands in one column."""
    return _read(kind, [found])[0]


def user_state(row: Row) -> UserState:
    group = row["base_chat"] if row["base_kind"] == "group" else None
    return record(UserState, row, thread=row["thread_id"] or None, base_group=group)


def listed(row: Row) -> ListedBase:
    return record(ListedBase, row, group=row["chat_id"] if row["kind"] == "group" else None)


def notice(row: Row) -> Notice:
    documents = records(DocumentCard, value(list[dict[str, Any]], row["documents"]))
    base = row["elsewhere"]
    elsewhere = None
    if isinstance(base, dict):
        elsewhere = record(ListedBase, {**base, "base_id": base["id"]}, role=None, owner_name=base["owner"])
    return record(Notice, row, elsewhere=elsewhere, documents=documents)


def claimed_document(row: Row) -> ClaimedDocument:
    named = ("type", "identifier", "title", "text", "url")
    return record(ClaimedDocument, row, source=record(Source, row, **{name: row[f"source_{name}"] for name in named}))


def known_reading(row: Row, blocks: Sequence[Block]) -> Document:
    """A row of `known_reading` with the blocks of that document, without its caption, which is not the file's."""
    known, caption = record(Document, row, blocks=()), row["source_text"]
    if caption is None or not blocks or blocks[0].text != caption:
        return replace(known, blocks=blocks)
    spool = Spool(None, BLOCKS)
    for each in islice(blocks, 1, None):
        spool.append(each, size=len(each.text))
    return replace(known, blocks=spool.finish())


def passages(found: Sequence[Row]) -> list[Passage]:
    """Rows of `passages`. They have the beginning of the document's text: making a line of it takes PostgreSQL thirty
    times as long."""
    return records(
        Passage,
        [
            {
                **row,
                "title": visible(cast("str", row["title"])),
                "text": visible(cast("str", row["text"])),
                "opening": opening_line(cast("str", row["opening"] or "")),
            }
            for row in found
        ],
    )


def candidates(found: Sequence[Row]) -> list[Candidate]:
    pairs = zip(found, passages(found), strict=True)
    return records(Candidate, [{**row, "passage": passage} for row, passage in pairs])

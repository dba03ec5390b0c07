"""Rows of SQL functions -> records.

In: rows as a transport gives them (UUIDs and moments are text). Out: records of `domain`, `ingestion` and `rag`, which
pydantic reads by their annotations: a field is the column of its name, unless it is given. A row that lacks a column or
holds another type is a mistake of ours: ValueError, KeyError or TypeError, whose text never quotes the row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from adapters.database.transport import Argument, Row, Transport
from domain.bases import ListedBase
from domain.documents import DocumentCard, Notice, opening_line
from domain.people import UserState
from domain.visible import visible
from ingestion.parsers.codec import BLOCKS
from ingestion.records import Block, ClaimedDocument, Document, Edition, Source
from ingestion.spool import Spool
from rag.records import Candidate, DocumentMatch, Passage, PastSession

R = TypeVar("R")


class Store:
    """Speaks in records: calls functions over a transport, and reads their rows."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _call(self, function: str, /, *, timeout_s: float | None = None, **given: Argument) -> list[Row]:
        """The rows of a function, whose parameters have these names after `p_`."""
        named = {f"p_{name}": value for name, value in given.items()}
        return await self._transport.call(function, timeout_s=timeout_s, **named)

    async def _does(self, function: str, /, *, timeout_s: float | None = None, **given: Argument) -> bool:
        """Whether the function gives a row: it has found, or done, what was asked."""
        return bool(await self._call(function, timeout_s=timeout_s, **given))

    async def _records(self, kind: type[R], function: str, /, **given: Argument) -> list[R]:
        """The rows of a function as records."""
        return records(kind, await self._call(function, timeout_s=None, **given))


_READERS: dict[type, TypeAdapter[Any]] = {}
_QUIET = ConfigDict(hide_input_in_errors=True)


def records(kind: type[R], found: Sequence[Mapping[str, object]]) -> list[R]:
    """The rows as records of this kind."""
    return _read(kind, found)


def _read(kind: type[R], found: Sequence[object]) -> list[R]:
    if (reader := _READERS.get(kind)) is None:
        reader = _READERS[kind] = TypeAdapter(list[kind], config=_QUIET)  # type: ignore[valid-type]
    read: list[R] = reader.validate_python(found)
    return read


def record(kind: type[R], row: Row, **given: object) -> R:
    """One row, with `given` fields in place of its columns."""
    return records(kind, [{**row, **given}])[0]


def value(kind: type[R], found: object) -> R:
    """What stands in one column."""
    return _read(kind, [found])[0]


def user_state(row: Row) -> UserState:
    """A row of `user_states`."""
    return record(
        UserState,
        row,
        thread=row["thread_id"] or None,
        mode=row["current_mode"] or None,
        only=row["only_document"],
        base_group=row["base_chat"] if row["base_kind"] == "group" else None,
        base_owner=row["owner_name"],
    )


def document_card(row: Row) -> DocumentCard:
    """A row of `document_cards`."""
    return record(DocumentCard, row, sent_by=row["user_id"])


def notice(row: Row) -> Notice:
    """A row of `due_notices`. If its documents cannot be read, `problem` says why: the other notices still go out."""
    documents, problem = _cards_of(row)
    return record(Notice, row, elsewhere=_elsewhere(row), documents=documents, problem=problem)


def _elsewhere(row: Row) -> ListedBase | None:
    base = row["elsewhere"]
    return record(ListedBase, base, role=None, owner_name=base["owner"]) if isinstance(base, dict) else None


def _cards_of(row: Row) -> tuple[tuple[DocumentCard, ...], str | None]:
    try:
        return tuple(document_card(card) for card in value(list[dict[str, Any]], row["documents"])), None
    except ValidationError as error:
        (first, *_) = error.errors(include_url=False, include_context=False, include_input=False)
        return (), f"{'.'.join(map(str, first['loc'][1:])) or 'documents'}: {first['msg']}"
    except KeyError as error:
        return (), f"KeyError: {error}"


def claimed_document(row: Row) -> ClaimedDocument:
    """A row of `claim_documents`."""
    named = ("type", "identifier", "title", "text", "url")
    sent = {name: row[f"source_{name}"] for name in named}
    source = record(Source, row, **sent, edition=_edition(row))
    return record(ClaimedDocument, row, attempt=row["attempts"], source=source)


def _edition(row: Row) -> Edition | None:
    """Only of a version that the base holds (it has a hash): what this attempt alone has seen does not spare
    reading."""
    kept = row.get("edition")
    return record(Edition, kept) if isinstance(kept, dict) and kept.get("content_hash") else None


def known_reading(row: Row, blocks: Sequence[Block]) -> Document:
    """A row of `known_reading` with the blocks of that document, without its caption, which is not the file's."""
    caption = row["source_text"]
    is_captioned = caption is not None and blocks[:1] and blocks[0].text == caption
    known = record(Document, row, blocks=())
    return replace(known, blocks=_without_first(blocks) if is_captioned else blocks)


def _without_first(blocks: Sequence[Block]) -> Sequence[Block]:
    spool = Spool(None, BLOCKS)
    for each in islice(blocks, 1, None):
        spool.append(each, size=len(each.text))
    return spool.finish()


def passage(row: Row) -> Passage:
    """A row of `passages`."""
    return records(Passage, [_shown(row)])[0]


def _shown(row: Row) -> dict[str, object]:
    """The row has the beginning of the document's text: making a line of it takes PostgreSQL thirty times as long."""
    return {
        **row,
        "title": visible(cast("str", row["title"])),
        "text": visible(cast("str", row["text"])),
        "opening": opening_line(cast("str", row["opening"] or "")),
    }


def document_match(row: Row) -> DocumentMatch:
    """A row of `find_documents`; `opening` with its lines."""
    return record(
        DocumentMatch, row, file_name=row["known_as"], score=row["score"] or 0.0, opening=row["opening"] or ""
    )


def candidates(found: Sequence[Row]) -> list[Candidate]:
    """Rows of `search`."""
    passages = records(Passage, [_shown(row) for row in found])
    return records(
        Candidate,
        [
            {**row, "passage": each, "rarities": row["rarities"] or (), "inherited": row["inherited"] or ()}
            for row, each in zip(found, passages, strict=True)
        ],
    )


def past_session(row: Row) -> PastSession:
    """A row of `list_sessions`."""
    return record(PastSession, row, id=row["session_id"], title=row["title"] or "")

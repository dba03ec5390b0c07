"""The queue as a worker sees it: claim a document, report progress, store what was found, publish or give up.

In: what ingestion made of a document. Out: its state, and its parsed text, page by page and compressed, so that no
reader has a book whole in memory. Every call but `claim` is made under the document's lease and raises LeaseLost when
another worker holds it, or when it was cancelled or deleted.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from math import inf

from adapters.database import rows
from adapters.database.payloads import json_bytes, posting_lists, storable, stored_vectors
from adapters.database.stores.intake import source_key
from adapters.database.transport import PAGE_ROWS, Argument, Row, Transport, Vectors
from domain.documents import ANY_LANE, DocumentStatus, Lane
from domain.errors import NoRoom
from domain.ids import BaseId, DocumentId
from domain.locator import JsonValue
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import BLOCKS, with_places
from ingestion.records import (
    Block,
    ClaimedDocument,
    Document,
    Failure,
    FetchedFile,
    IndexedChunk,
    Source,
    WholeDocument,
)
from ingestion.spool import Spool, in_portions

BATCH_CHARS = 300_000  # of blocks in one call


class TextStore(rows.Store):
    """Meets `ingestion.ports.DocumentText`."""

    async def blocks(self, base: BaseId, document: DocumentId, *, most_chars: float = inf) -> Sequence[Block]:
        spool = Spool(None, BLOCKS)
        after, chars = -1, 0
        while True:
            page = await self._transport.call(
                "read_blocks", p_base=base, p_document=document, p_after=after, p_limit=PAGE_ROWS
            )
            for block in rows.records(Block, page):
                if chars < most_chars:
                    spool.append(block)
                chars += len(block.text)
            after += len(page)
            if len(page) < PAGE_ROWS or chars >= most_chars:
                return spool.finish()


class WorkStore(rows.Store):
    """Meets `ingestion.ports.WorkQueue`."""

    def __init__(self, transport: Transport, *, base_passages: int | None = None) -> None:
        """`base_passages` is how many a base of people may hold (BASE_PASSAGES); None: any."""
        super().__init__(transport)
        self._base_passages = base_passages
        self._text = TextStore(transport)

    async def claim(
        self,
        *,
        worker: str,
        lease_s: int,
        most: int = 1,
        only: Collection[DocumentId] = (),
        lanes: Mapping[Lane, int] = ANY_LANE,
    ) -> list[ClaimedDocument]:
        """What is next in these lanes, or `only` these, all under one lease; see the port."""
        return await self._all(
            ClaimedDocument,
            "claim_documents",
            worker=worker,
            lease_s=lease_s,
            only=only or None,
            together=most,
            lanes=lanes.keys(),
            person_places=lanes.values(),
            base_passages=self._base_passages,
        )

    async def renew(self, document: ClaimedDocument, *, lease_s: int) -> None:
        await self._held("renew_lease", document, lease_s=lease_s)

    async def give_back(self, document: ClaimedDocument) -> None:
        await self._held("return_document", document)

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        await self._held("report_progress", document, status=status, done=done, total=total)

    async def record_content(
        self,
        document: ClaimedDocument,
        *,
        content_hash: str,
        size_bytes: int | None = None,
        media_type: str | None = None,
    ) -> DocumentId | None:
        found = await self._held(
            "record_content",
            document,
            content_hash=content_hash,
            size_bytes=size_bytes,
            media_type=None if media_type is None else storable(media_type),
        )
        return _first_there(found)

    async def record_contents(self, contents: Sequence[tuple[ClaimedDocument, FetchedFile]]) -> Collection[DocumentId]:
        if not contents:
            return ()
        sent: list[Mapping[str, JsonValue]] = [
            {"document": document.id, "hash": file.sha256, "size_bytes": file.size_bytes, "media_type": file.media_type}
            for document, file in contents
        ]
        lease = contents[0][0].lease
        return await self._all(DocumentId, "record_contents", "id", lease=lease, contents=json_bytes(sent))

    async def become_link(self, document: ClaimedDocument, *, link: Source) -> None:
        address = storable(link.identifier)
        await self._held("become_link", document, address=address, name_key=source_key(link), lane=link.lane)

    async def known_reading(self, document: ClaimedDocument) -> Document | None:
        for row in await self._held("known_reading", document):
            blocks = await self._text.blocks(document.base_id, rows.value(DocumentId, row["id"]))
            if len(blocks) != rows.value(int, row["blocks"]):
                return None  # it was deleted during the reading
            caption = row["source_text"]
            if caption is not None and blocks and blocks[0].text == caption:  # which is not the file's
                spool = Spool(None, BLOCKS)
                spool.extend(islice(blocks, 1, None))
                blocks = spool.finish()
            return replace(rows.record(Document, row, blocks=()), blocks=blocks)
        return None

    async def store_blocks(self, document: ClaimedDocument, *, parsed: Document, chunks: int) -> int:
        portions = _write_blocks(parsed)
        _, written = await asyncio.to_thread(next, portions)
        found = await self._held_within_bound("store_blocks", document, chunks, parsed=written)
        while portion := await asyncio.to_thread(next, portions, None):
            first, written = portion
            await self._held("add_blocks", document, first=first, blocks=written)
        return rows.value(int, found[0]["stored"])

    async def keep_chunks(self, document: ClaimedDocument, *, model: str, digests: Sequence[str]) -> Collection[int]:
        found = await self._held("keep_chunks", document, model=model, digests=list(digests))
        return set(rows.value(list[int], found[0]["kept"]))

    async def add_chunks(self, document: ClaimedDocument, *, chunks: Sequence[IndexedChunk]) -> None:
        """Store a batch in one call, which is sent before anything else is awaited; a chunk of the same ordinal is
        replaced."""
        written, vectors = _write(chunks)
        await self._held("add_chunks", document, chunks=written, embeddings=vectors)

    async def publish(
        self,
        document: ClaimedDocument,
        *,
        chunks: int,
        last: Sequence[IndexedChunk] = (),
        parsed: Document | None = None,
        content_hash: str | None = None,
    ) -> DocumentId | None:
        # In a thread: tens of milliseconds, where there are many.
        written, vectors = await asyncio.to_thread(_write, last) if last else (None, stored_vectors(()))
        found = await self._held_within_bound(
            "publish_document",
            document,
            chunks,
            last=written,
            embeddings=vectors,
            parsed=None if parsed is None else json_bytes(_parsed_json(parsed, parsed.blocks)),
            content_hash=content_hash,
        )
        return _first_there(found)

    async def publish_together(self, whole: Sequence[WholeDocument]) -> Mapping[DocumentId, bool]:
        if not whole:
            return {}
        documents, vectors = await asyncio.to_thread(_write_whole, whole)
        found = await self._transport.call(
            "publish_documents",
            timeout_s=None,
            p_lease=whole[0].document.lease,
            p_documents=documents,
            p_embeddings=vectors,
            p_base_passages=self._base_passages,
        )
        return {rows.value(DocumentId, row["id"]): bool(row["is_ready"]) for row in found}

    async def postpone(self, document: ClaimedDocument, *, failure: Failure, delay_s: float) -> None:
        await self._held("postpone_document", document, delay_s=delay_s, **_failure_arguments(failure))

    async def fail(self, document: ClaimedDocument, *, failure: Failure) -> None:
        await self._held("fail_document", document, **_failure_arguments(failure))

    async def _held_within_bound(
        self, function: str, document: ClaimedDocument, chunks: int, **given: Argument
    ) -> list[Row]:
        """A call that checks the quota. Raises SourceError where the base may not hold so many chunks more."""
        bound = self._base_passages
        try:
            return await self._held(function, document, chunks=chunks, base_passages=bound, **given)
        except NoRoom as exc:
            raise SourceError(FailureCode.BASE_WITHOUT_ROOM, passages=chunks, most=bound) from exc

    async def _held(self, function: str, document: ClaimedDocument, **given: Argument) -> list[Row]:
        return await self._leased(function, document.id, document.lease, **given)


def _first_there(found: Sequence[Row]) -> DocumentId | None:
    """The document with the same content or name that has stopped another."""
    stopping = (row["duplicate_of"] or row["namesake"] for row in found)
    return next((rows.value(DocumentId, first) for first in stopping if first), None)


def _failure_arguments(failure: Failure) -> dict[str, Argument]:
    return {"code": failure.code, "params": json_bytes(failure.params), "detail": storable(failure.detail)}


def _parsed_json(parsed: Document, blocks: Sequence[Block]) -> dict[str, JsonValue]:
    return {**vars(parsed), "blocks": _blocks_json(blocks)}


def _blocks_json(blocks: Iterable[Block]) -> list[Mapping[str, JsonValue]]:
    return [
        {"kind": block.kind.value, "level": block.level, "text": block.text, "locator": place}
        for block, place in with_places(blocks)
    ]


def _write_blocks(parsed: Document) -> Iterator[tuple[int, bytes]]:
    """JSON of the document with its first blocks, then of further blocks, with the number of the first of each portion.
    Many blocks are read back from a file."""
    portions = in_portions(parsed.blocks, BLOCKS.size, limit=BATCH_CHARS)
    portion = next(portions, [])
    yield 0, json_bytes(_parsed_json(parsed, portion))
    first = len(portion)
    for portion in portions:
        yield first, json_bytes(_blocks_json(portion))
        first += len(portion)


def _write(chunks: Sequence[IndexedChunk]) -> tuple[bytes, Vectors]:
    """JSON with the postings, and the vectors of those that have one."""
    return json_bytes(_chunks_json(chunks, count(1))), _vectors(chunks)


def _write_whole(whole: Sequence[WholeDocument]) -> tuple[bytes, Vectors]:
    """All documents as JSON, and their vectors."""
    places = count(1)
    written: list[Mapping[str, JsonValue]] = [
        {
            "document": each.document.id,
            "chunks": len(each.chunks),
            "last": _chunks_json(each.chunks, places),
            "parsed": _parsed_json(each.parsed, each.parsed.blocks),
            "hash": each.content_hash,
        }
        for each in whole
    ]
    return json_bytes(written), _vectors([chunk for each in whole for chunk in each.chunks])


def _vectors(chunks: Sequence[IndexedChunk]) -> Vectors:
    return stored_vectors([chunk.vector for chunk in chunks if chunk.vector])


def _chunks_json(chunks: Sequence[IndexedChunk], places: Iterator[int]) -> dict[str, JsonValue]:
    """`places` numbers the vectors of the call."""
    written: list[JsonValue] = [_chunk_json(chunk, next(places) if chunk.vector else None) for chunk in chunks]
    return {"chunks": written, "runs": posting_lists(chunks)}


def _chunk_json(indexed: IndexedChunk, vector: int | None) -> dict[str, JsonValue]:
    """`vector` is its place among the vectors, from 1."""
    chunk = indexed.chunk
    return {
        "ordinal": chunk.ordinal,
        "text": chunk.text,
        "span_start": chunk.span.start,
        "span_end": chunk.span.end,
        "locator": chunk.locator.to_json(),
        "length": indexed.length,
        "model": indexed.model,
        "vector": vector,
    }

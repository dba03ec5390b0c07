"""Copies of segments over both transports: with one a search finds what it finds without, and never anything else."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import psycopg
import pytest

from adapters.database.segments import Near, SegmentMirror, SegmentStore
from adapters.database.stores import Stores
from adapters.database.stores.search import SearchStore
from adapters.database.transport import Argument, Row, Transport
from domain.ids import BaseId, DocumentId
from rag.records import SearchFilter, SearchQuery
from tests.integration.adapters.database.stores.material import (
    MODEL,
    ask,
    claim_new,
    hash_of,
    indexed,
    parsed,
)
from tests.integration.adapters.database.stores.test_functions import set_number

LIMIT = 20  # passages; more is a large base
SIZE = 2**20
NEAREST = 5
chance = Random(7)


@pytest.fixture(autouse=True)
def small_is_large(database_url: str) -> None:
    set_number(database_url, "exact_scan_limit", LIMIT)


def some_vector() -> list[float]:
    return [chance.gauss(0, 1) for _ in range(40)]


async def publish_scattered(stores: Stores, base: BaseId, name: str, count: int) -> DocumentId:
    """A ready document whose passages lie anywhere."""
    held = await claim_new(stores, base, name)
    texts = [f"{name} {number}" for number in range(count)]
    assert await stores.work.record_content(held, content_hash=hash_of(*texts)) is None
    await stores.work.store_blocks(held, parsed=parsed(*texts, title=name), chunks=count)
    chunks = [indexed(number, text, vector=some_vector()) for number, text in enumerate(texts)]
    await stores.work.add_chunks(held, chunks=chunks)
    await stores.work.publish(held, chunks=count)
    return held.id


class Copied:
    """A base whose segment is copied, searched with the copy and without."""

    def __init__(self, transport: Transport) -> None:
        self.stores = Stores(transport)
        self.mirror = SegmentMirror(SegmentStore(transport), size=SIZE)
        self.with_copy = SearchStore(transport, self.mirror)
        self.without = SearchStore(transport)
        self.base = BaseId("")
        self.documents: list[DocumentId] = []

    async def fill(self, *, name: str = "своя", documents: int = 5) -> None:
        self.base = await self.stores.people.open_named_base(name)
        self.documents = [
            await publish_scattered(self.stores, self.base, f"документ{number}", 12) for number in range(documents)
        ]
        assert await self.without.ensure_index()
        await self.mirror.refresh()

    async def finds_the_same(self, *, only: SearchFilter | None = None) -> None:
        for _ in range(5):
            query = SearchQuery(
                base_id=self.base, vector=some_vector(), model=MODEL, terms=(), limit=NEAREST, only=only
            )
            expected = await self.without.search(query)
            assert await self.with_copy.search(query) == expected
            assert len(expected) == NEAREST


class Interrupted:
    """A transport over which something happens after the first search."""

    def __init__(self, transport: Transport, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._transport = transport
        self._meanwhile = meanwhile
        self._first = asyncio.Lock()
        self.searches = 0

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        self.searches += 1
        is_first = self.searches == 1
        async with self._first:
            found = await self._transport.call(function, timeout_s=timeout_s, **arguments)
            if is_first:
                await self._meanwhile()
            return found


@pytest.fixture
async def copied(transport: Transport) -> Copied:
    copied = Copied(transport)
    await copied.fill()
    return copied


async def proposed(copied: Copied, base: BaseId) -> Near | None:
    copy = copied.mirror.copy_of(base, MODEL)
    return await copy.near(some_vector(), limit=NEAREST) if copy else None


@pytest.mark.over_rest
async def test_a_search_finds_the_same_with_a_copy(copied: Copied) -> None:
    near = await proposed(copied, copied.base)
    assert near
    assert len(near.passages) == 60
    await copied.finds_the_same()
    await copied.finds_the_same(only=SearchFilter(documents=tuple(copied.documents[:3])))


def asked(copied: Copied) -> SearchQuery:
    """By a word of two documents and a vector, with more of either than fit."""
    return SearchQuery(
        base_id=copied.base,
        vector=some_vector(),
        model=MODEL,
        terms=("документ1", "документ2"),
        limit=NEAREST,
    )


async def test_words_and_vector_searched_at_once_find_what_one_call_finds(copied: Copied, transport: Transport) -> None:
    for _ in range(5):
        query = asked(copied)
        expected = {each.passage.chunk_id: each for each in await copied.without.search(query)}
        found = await copied.with_copy.search(query)
        assert {each.passage.chunk_id: each for each in found} == expected
        assert len(found) == len(expected) > NEAREST


async def test_two_calls_that_see_two_states_of_the_base_are_followed_by_one(
    copied: Copied, transport: Transport
) -> None:
    async def removed() -> None:
        await copied.stores.library.delete(copied.base, copied.documents[1])

    interrupted = Interrupted(transport, removed)
    found = await SearchStore(interrupted, copied.mirror).search(asked(copied))
    assert interrupted.searches == 3
    assert copied.documents[1] not in {each.passage.document_id for each in found}
    assert copied.documents[2] in {each.passage.document_id for each in found}
    interrupted.searches = 1  # nothing happens any more
    await SearchStore(interrupted, copied.mirror).search(asked(copied))
    assert interrupted.searches == 3


async def test_the_copy_proposes_by_the_same_bits(copied: Copied, database_url: str) -> None:
    vector = some_vector()
    weighed = (
        "select id, baza_internal.quantised(c.embedding, s.thresholds)::text from documents_chunks c, vector_segments s"
    )
    padded = [*vector, *[0.0] * (1024 - len(vector))]
    asked = f"select baza_internal.quantised('{padded}', s.thresholds)::text from vector_segments s"
    ((bits,),) = ask(database_url, asked)
    differing = {
        passage: sum(mine != theirs for mine, theirs in zip(str(bits), str(theirs), strict=True))
        for passage, theirs in ask(database_url, weighed)
    }
    (copy,) = copied.mirror._copies.values()
    from adapters.database.quantised import bits_of, weights_of

    thresholds = copy.segment.thresholds
    best = copy.quantised.nearest(bits_of(vector, thresholds), weights_of(vector, thresholds), weighed=10, count=10)
    assert sorted(differing[passage] for passage in best) == sorted(differing.values())[:10]


async def test_what_came_and_left_since_is_told_from_what_is_there(copied: Copied) -> None:
    await publish_scattered(copied.stores, copied.base, "потом", 12)
    await copied.finds_the_same()  # beside the segment
    await copied.stores.library.delete(copied.base, copied.documents[0])
    await copied.finds_the_same()
    assert await copied.without.ensure_index()
    await copied.finds_the_same()  # in the segment, and not in the copy
    await copied.mirror.refresh()
    await copied.finds_the_same()
    for document in copied.documents[1:4]:
        await copied.stores.library.delete(copied.base, document)
    await copied.finds_the_same()  # most of what is proposed has left


async def test_a_base_moved_to_another_segment_is_searched_there(copied: Copied, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("delete from vector_segments")
    await copied.finds_the_same()
    assert await copied.without.ensure_index()
    await copied.finds_the_same()
    await copied.mirror.refresh()
    await copied.finds_the_same()


async def test_what_is_proposed_is_looked_at_in_one_s_own_base_alone(copied: Copied, transport: Transport) -> None:
    stranger = Copied(transport)
    await stranger.fill(name="чужая")
    await copied.mirror.refresh()
    theirs, own = await proposed(stranger, stranger.base), await proposed(copied, copied.base)
    assert theirs
    assert own

    wicked = Near(passages=[*theirs.passages, *own.passages[:1]], segment=own.segment, last_row=own.last_row)

    class Wicked(SegmentMirror):
        async def near(self, base: BaseId, model: str | None, vector: object, *, limit: int) -> Near:
            return wicked

    query = SearchQuery(base_id=copied.base, vector=some_vector(), model=MODEL, terms=(), limit=NEAREST)
    found = await SearchStore(transport, Wicked(SegmentStore(transport), size=0)).search(query)
    assert found == await copied.without.search(query)


async def test_a_segment_is_read_in_its_own_base_alone(copied: Copied, transport: Transport) -> None:
    stranger = Copied(transport)
    await stranger.fill(name="чужая")
    segments = SegmentStore(transport)
    by_base = {segment.base_id: segment for segment in await segments.segments(size=SIZE, known=())}
    assert await segments.rows(copied.base, by_base[stranger.base].name, after=0, limit=10) is None
    assert await segments.rows(stranger.base, by_base[stranger.base].name, after=0, limit=10)


async def test_as_many_segments_are_listed_as_fit_the_smallest_first(copied: Copied, transport: Transport) -> None:
    larger = Copied(transport)
    await larger.fill(name="чужая", documents=6)
    segments = SegmentStore(transport)
    listed = await segments.segments(size=SIZE, known=())
    sizes = [segment.passages for segment in listed]
    assert sizes == sorted(sizes)
    bytes_of_first = sizes[0] * (8 + sum(map(len, listed[0].thresholds)) // 8)
    assert await segments.segments(size=bytes_of_first, known=()) == listed[:1]
    assert await segments.segments(size=bytes_of_first - 1, known=()) == []
    thresholds = {
        segment.name: len(segment.thresholds) for segment in await segments.segments(size=SIZE, known=[listed[0].name])
    }
    assert [thresholds[segment.name] for segment in listed] == [
        0,
        4,
    ]  # numbers of a narrow model are cut at four places


async def test_a_copy_is_made_in_steps(copied: Copied) -> None:
    segments = copied.mirror._segments
    ((base, copy),) = [(base, copy) for base, copy in copied.mirror._copies.items() if base == copied.base]
    after, passages = 0, list[int]()
    while rows := await segments.rows(base, copy.segment.name, after=after, limit=2):
        assert rows.last > after
        passages, after = [*passages, *rows.passages], rows.last
    assert after == copy.segment.last_row
    assert len(passages) == len(set(passages)) == copy.segment.passages == 60

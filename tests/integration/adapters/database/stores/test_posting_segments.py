"""Blocks of large bases: words find the same as without them; what comes and leaves, when they are made anew."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from adapters.database.stores import Stores
from adapters.database.stores.search import SearchStore
from adapters.database.transport import Transport
from domain.ids import BaseId, DocumentId, UserId
from ingestion.records import ClaimedDocument
from rag.records import SearchFilter
from tests.integration.adapters.database.stores.material import ask, claim_new, find, indexed, open_base, publish
from tests.integration.adapters.database.stores.test_functions import set_number

SIZE = 20  # passages; more is a large base, so many are a segment
ONE_CHUNK = json.dumps(
    {"chunks": [{"ordinal": 0, "text": "", "span_start": 0, "span_end": 0, "locator": {}, "length": 0, "model": ""}]}
)
COUNTED = (
    "select passages, last = (select max(chunk_id) from posting_segment_chunks) from posting_segments order by number"
)


@pytest.fixture(autouse=True)
def small_is_large(database_url: str) -> None:
    for function in ("passages_without_segments", "counted_anew", "posting_segment_size"):
        set_number(database_url, function, SIZE)


def texts(number: int) -> list[str]:
    """Six passages, no two alike: rare words and frequent ones, and words that begin alike."""
    return [
        f"запись номер{number} слово{place} " + "диск " * (place % 3) + "сервера сервер-1 " * (number % 2)
        for place in range(6)
    ]


async def large_base(stores: Stores, transport: Transport, user: UserId | None = None) -> BaseId:
    base = await open_base(stores, user or UserId(101))
    for number in range(5):
        await publish(stores, base, *texts(number), name=f"{number}")
    await make_segments(transport)
    return base


async def make_segments(transport: Transport) -> bool:
    return await SearchStore(transport).ensure_index()


async def scores(stores: Stores, base: BaseId, words: str, *, limit: int = 40) -> dict[str, float]:
    found = await find(stores, base, words, limit=limit)
    return {text: candidate.bm25 for text, candidate in found.items() if candidate.bm25}


@contextmanager
def somebody_writing(database_url: str, held: ClaimedDocument) -> Iterator[psycopg.Connection]:
    """A transaction that has written a passage and has not ended."""
    with psycopg.connect(database_url) as connection:
        connection.execute("select * from add_chunks(%s, %s, %s, '{}')", [held.id, held.lease, ONE_CHUNK])
        yield connection


@pytest.mark.parametrize(
    "words", ["номер3", "диск", "серверы диск", "сервер-1 слово5", "диск сервера номер1 слово2", "номерной"]
)
async def test_words_find_the_same_with_blocks_as_without(transport: Transport, database_url: str, words: str) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    assert ask(database_url, COUNTED) == [(SIZE, True)]
    with_segments = await scores(stores, base, words)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("delete from posting_segments")
    assert with_segments == pytest.approx(await scores(stores, base, words), rel=1e-5)
    assert with_segments


async def test_what_is_best_comes_first_from_either_side(transport: Transport) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    await publish(stores, base, "номер1 номер3 пришло", name="потом")
    found = await scores(stores, base, "номер1 номер3", limit=3)
    assert len(found) == 3
    assert max(found, key=lambda text: found[text]) == "номер1 номер3 пришло"


async def test_no_more_come_than_are_asked_for_and_the_best(transport: Transport) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    every = sorted((await scores(stores, base, "номер2 диск")).values(), reverse=True)
    assert sorted((await scores(stores, base, "номер2 диск", limit=4)).values(), reverse=True) == every[:4]


async def test_of_what_is_in_no_block_frequent_words_are_read_too(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    for number in range(5, 9):
        await publish(stores, base, *texts(number), name=f"{number}")
    assert ask(database_url, "select baza_internal.share_outside_segments(id) from bases") == [
        (pytest.approx((54 - SIZE) / 54),)
    ]
    with psycopg.connect(database_url, autocommit=True) as connection:
        last = connection.execute("select baza_internal.in_segments_up_to(%s)", [base]).fetchone()
        for share, found in ((1, 6), (0.1, 34)):
            rows = connection.execute(_WITH_A_FREQUENT_WORD, [base, share, *(last or ())])
            assert len(rows.fetchall()) == found


async def test_words_that_are_looked_up_in_a_chosen_document_score_as_those_that_are_read(
    transport: Transport, database_url: str
) -> None:
    stores = Stores(transport)
    await large_base(stores, transport)
    with psycopg.connect(database_url, autocommit=True) as connection:
        read, looked_up = (connection.execute(_INSIDE, {"postings": postings}).fetchall() for postings in (10, 90000))
    assert len(read) == 10
    assert all(score for *_, score in read)
    assert looked_up == read


async def test_what_left_takes_no_places(transport: Transport) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    for card in await stores.library.documents(base, limit=10, offset=0):
        if card.title in ("0", "1"):
            await stores.library.delete(base, card.id)
    found = await scores(stores, base, "запись", limit=15)
    assert len(found) == 15
    assert not any("номер0" in text or "номер1" in text for text in found)


async def test_a_document_that_may_not_be_seen_is_not_found(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("update documents set visible = false where title = '0'")
    assert not any("номер0" in text for text in await scores(stores, base, "запись номер0"))


async def test_a_filter_holds(transport: Transport) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    one = (await stores.library.documents(base, limit=1, offset=0))[0].id
    assert len(await find(stores, base, "запись", only=SearchFilter(documents=(one,)))) == 6


async def test_enough_more_passages_are_another_segment(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    for number in (5, 6):
        await publish(stores, base, *texts(number), name=f"{number}")
    assert await make_segments(transport)
    assert [passages for passages, _ in ask(database_url, COUNTED)] == [SIZE, SIZE]
    assert ask(database_url, "select * from ensure_posting_segments()") == []
    assert len(await scores(stores, base, "запись", limit=50)) == 42


async def test_a_passage_that_is_being_written_is_waited_for(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    with somebody_writing(database_url, await claim_new(stores, base)) as writing:
        for number in range(5):
            await publish(stores, base, *texts(number), name=f"{number}")
        await make_segments(transport)
        assert ask(database_url, COUNTED) == []
        writing.rollback()
    await make_segments(transport)
    assert ask(database_url, COUNTED) == [(SIZE, True)]


async def test_who_writes_in_another_base_is_not_waited_for(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    other = await open_base(stores, UserId(202))
    with somebody_writing(database_url, await claim_new(stores, other)):
        await large_base(stores, transport)
        assert ask(database_url, COUNTED) == [(SIZE, True)]


async def test_who_renames_is_waited_for_too(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    document = await publish(stores, base, "запись")
    with psycopg.connect(database_url) as renaming:
        renaming.execute("select * from rename_document(%s, %s, 'смета', null, '{}')", [base, document])
        assert ask(database_url, "select cardinality(baza_internal.writers_in(id)) from bases") == [(1,)]
    assert ask(database_url, "select cardinality(baza_internal.writers_in(id)) from bases") == [(0,)]


async def test_blocks_most_of_which_has_left_are_made_anew(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    documents: list[DocumentId] = [
        card.id for card in await stores.library.documents(base, limit=10, offset=0) if card.title in "01"
    ]
    for number in (5, 6, 7):
        await publish(stores, base, *texts(number), name=f"{number}")
    for document in documents:
        await stores.library.delete(base, document)
    await make_segments(transport)
    assert ask(database_url, "select count(*) from posting_segment_chunks p where not exists (" + _HELD + ")") == [(0,)]
    assert len(await scores(stores, base, "запись", limit=50)) == 36


@pytest.mark.over_rest
async def test_a_document_goes_by_its_new_name_alone(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    first = (await stores.library.documents(base, limit=10, offset=0))[-1]
    for title in ("смета дачи", "договор аренды"):
        await stores.library.rename(base, first.id, title, terms=dict.fromkeys(title.split(), 1))
    assert len(await scores(stores, base, "договор")) == 6
    assert await scores(stores, base, "смета") == {}
    assert len(await scores(stores, base, "запись договор")) == 30
    await rename_all(stores, base)
    await make_segments(transport)
    assert ask(database_url, "select count(*) from renamed_documents") == [(0,)]
    assert len(await scores(stores, base, "общее")) == 30


async def rename_all(stores: Stores, base: BaseId) -> None:
    for card in await stores.library.documents(base, limit=10, offset=0):
        await stores.library.rename(base, card.id, "общее", terms={"общее": 1})


async def test_blocks_are_not_made_for_ever_of_what_may_not_be_seen(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    for number in range(5, 8):
        await publish(stores, base, *texts(number), name=f"{number}")
    ask(database_url, "update documents set visible = false where title in ('0', '1', '2') returning 1")
    async with asyncio.timeout(60):
        await make_segments(transport)
    assert [passages for passages, _ in ask(database_url, COUNTED)] == [SIZE, SIZE]
    assert len(await scores(stores, base, "запись")) == 30


async def test_who_wrote_on_another_server_is_not_waited_for(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    for number in range(5):
        await publish(stores, base, *texts(number), name=f"{number}")
    ask(database_url, "select * from ensure_posting_segments()")
    assert ask(database_url, "update posting_segment_plans set writers = '{99/99}' returning up_to > 0") == [(True,)]
    await make_segments(transport)
    assert ask(database_url, COUNTED) == [(SIZE, True)]


async def test_terms_are_weighed_anew_when_the_base_has_grown_by_half(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    for number in range(5, 8):
        await publish(stores, base, *texts(number), name=f"{number}")
    await make_segments(transport)
    assert ask(database_url, "select distinct base_passages from posting_segments") == [(48,)]


async def test_a_base_that_became_small_has_none(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    for card in (await stores.library.documents(base, limit=10, offset=0))[:3]:
        await stores.library.delete(base, card.id)
    await make_segments(transport)
    assert ask(database_url, "select count(*) from posting_segment_terms") == [(0,)]
    assert len(await scores(stores, base, "запись")) == 12


async def test_in_a_base_that_was_emptied_nothing_is_found(transport: Transport) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    await stores.library.clean_base(base)
    assert await scores(stores, base, "запись") == {}


async def test_a_base_that_was_filled_again_is_searched_without_what_it_held(
    transport: Transport, database_url: str
) -> None:
    stores = Stores(transport)
    base = await large_base(stores, transport)
    await stores.library.clean_base(base)
    for number in range(5):
        await publish(stores, base, *texts(number), name=f"{number}")
    assert ask(database_url, "select baza_internal.in_segments_up_to(id) from bases") == [(None,)]
    before = await scores(stores, base, "запись номер3")
    await make_segments(transport)
    assert ask(database_url, COUNTED) == [(SIZE, True)]
    assert ask(database_url, "select count(*) from posting_segment_chunks p where not exists (" + _HELD + ")") == [(0,)]
    assert before == pytest.approx(await scores(stores, base, "запись номер3"), rel=1e-5)


async def test_passages_of_other_bases_are_not_passed_over(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    await publish(stores, await open_base(stores, UserId(202)), "чужое")
    ask(database_url, _MANY_MORE)
    base = await large_base(stores, transport)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("vacuum analyze documents_chunks")
        plan = connection.execute(_LATER, [base]).fetchall()
    assert not any("Removed by Filter" in line for (line,) in plan)


async def test_two_large_bases_keep_to_themselves(transport: Transport) -> None:
    stores = Stores(transport)
    bases = [await large_base(stores, transport, UserId(user)) for user in (101, 202)]
    held = await claim_new(stores, bases[1])
    await stores.work.add_chunks(held, chunks=[indexed(0, "запись чужое")])
    await stores.work.publish(held, chunks=1)
    assert len(await scores(stores, bases[0], "запись чужое")) == 30
    assert len(await scores(stores, bases[1], "запись чужое")) == 31


_HELD = "select from documents_chunks c where c.id = p.chunk_id"
_MANY_MORE = """
insert into documents_chunks (base_id, document_id, ordinal, text, span_start, span_end, length, model)
select c.base_id, c.document_id, n, c.text, 0, 1, 1, c.model from documents_chunks c, generate_series(1, 5000) n
returning id
"""
_LATER = """
explain analyze select from documents_chunks c where c.base_id = %s and c.id > 0 order by c.id limit 20
"""  # as `posting_segment_wanted` counts them
_WITH_A_FREQUENT_WORD = """
select * from baza_internal.search_postings(
  %s, '{"(1,номер8,номер8,номер8\x01,1,1,9000,,,,)","(2,запис,запис,записю,1,1,90000,,,,)"}',
  %s, %s, '{}', null, 40)
"""  # nine passages in ten stand in segments, it says, or none
_INSIDE = """
select m.chunk_id, m.place, round(m.score::numeric, 9) from bases b, baza_internal.score_members(b.id, array[
    (1, 'диск', 'диск', 'диск\x01', 5, 0, 1, 1, 0, 0, 0),
    (2, 'номер2', 'номер2', 'номер2\x01', 2, 0, %(postings)s, 1, 0, 0, 0),
    (3, 'запись', 'запис', 'записю', 1, 1, %(postings)s, 1, 0, 0, 0)]::baza_internal.weighed_term[],
  array[1, .5, .25, 1, 1, 1],
  array(select id from documents order by id limit 2), array[0, .5], 10) m order by 3 desc, 1
"""

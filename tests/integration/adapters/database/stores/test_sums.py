"""What the postings of terms that begin alike are added up to, after whatever became of their passages.

In: names and texts of a few words that begin alike. Out: every sum recounted from the rows, and the rows of a renamed
document beside those of one that had its last name from the beginning.
"""

import random
import string

import pytest

from adapters.database.payloads import LONGEST_TERM_BYTES, PASSAGES_A_RUN
from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from domain.ids import BaseId, UserId
from tests.integration.adapters.database.stores.material import (
    UNLIKE_SUMS,
    ask,
    claim,
    claim_new,
    indexed,
    open_base,
    publish,
)
from tests.integration.adapters.database.stores.test_names_contract import publish_titled, rename, titled

WORDS = ("смета", "сметы", "смета-5", "сметный", "договор", "договоры", "договорной", "кот", "коты", "a")
POSTINGS = """
select c.ordinal, t.term, t.frequency::int, t.titled::int, t.around::int, t.around_titled::int, t.spread
from baza_internal.chunk_terms t join documents_chunks c on c.id = t.chunk_id where c.base_id = '{base}' order by 1, 2
"""


def phrase(chance: random.Random) -> str:
    """Some words, now and then one twice."""
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 5)))


@pytest.mark.parametrize("seed", range(3))
async def test_a_document_that_was_renamed_has_the_postings_of_one_that_always_had_its_name(
    postgres_transport: PostgresTransport, database_url: str, seed: int
) -> None:
    chance, stores = random.Random(seed), Stores(postgres_transport)
    texts, names = [phrase(chance) for _ in range(6)], [phrase(chance) for _ in range(5)]
    bases: list[BaseId] = []
    for user, given in ((UserId(1), names), (UserId(2), names[-1:])):
        bases.append(await open_base(stores, user))
        first, *later = given
        document = await publish_titled(stores, await claim_new(stores, bases[-1]), first, *texts)
        for name in later:
            await rename(stores, bases[-1], document, name)
            assert ask(database_url, UNLIKE_SUMS) == [(0,)]
    renamed, named = (ask(database_url, POSTINGS.format(base=base)) for base in bases)
    assert renamed == named
    assert len(named) > len(texts)


async def test_passages_that_are_replaced_kept_and_added_to_have_their_sums(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    chance, stores = random.Random(7), Stores(postgres_transport)
    base = await open_base(stores)
    held = await claim_new(stores, base, lease_s=0)
    document, chunks = titled("смета", *(phrase(chance) for _ in range(4)))
    await stores.work.store_blocks(held, parsed=document, chunks=4)
    await stores.work.add_chunks(held, chunks=chunks)
    await stores.work.add_chunks(held, chunks=[indexed(1, phrase(chance)), indexed(3, phrase(chance))])
    held = await claim(stores, held.id)
    await stores.work.keep_chunks(held, model=chunks[0].model, digests=[])
    await rename(stores, base, held.id, "сметный договор")
    await stores.work.add_chunks(held, chunks=chunks[:2])
    await stores.work.publish(held, chunks=4, last=chunks[2:])
    assert ask(database_url, UNLIKE_SUMS) == [(0,)]
    assert {row[0] for row in ask(database_url, POSTINGS.format(base=base))} == {0, 1, 2, 3}


async def test_the_longest_term_may_stand_in_every_passage(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    chance, stores = random.Random(1), Stores(postgres_transport)
    longest = "".join(chance.choices(string.ascii_letters, k=LONGEST_TERM_BYTES))  # nothing that could be compressed
    await publish(stores, await open_base(stores), *[longest.lower()] * 2 * PASSAGES_A_RUN)
    lists = ask(database_url, "select cardinality(postings) from posting_lists where octet_length(term) = 1000")
    assert lists == [(PASSAGES_A_RUN,)] * 2


@pytest.mark.parametrize("absent", [{0}, {255}, {7, 100}, set(range(1, 256))], ids=len)
def test_a_posting_is_found_by_its_place(database_url: str, absent: set[int]) -> None:
    held = [place << 55 | (2**55 - 1 if place % 2 else 0) for place in range(256) if place not in absent]
    found = ask(
        database_url,
        f"select place, baza_internal.posting_at('{{{str(held)[1:-1]}}}'::bigint[], place) >> 55"
        " from generate_series(0::bigint, 255) place",
    )
    assert found == [(place, None if place in absent else place) for place in range(256)]

"""Passages of the document that the question names, where a word of it has more postings than a search reads.

In: a document of more than two thousand passages, most with the same words, and a search. Out: the passages that the
search finds, beside those that it finds when every posting of every passage is scored (`PLAIN`, the formula without the
choice of which words are read, which passages are looked through and how).
"""

import psycopg
import pytest

from adapters.database.stores import Stores
from adapters.database.transport import Transport
from domain.ids import BaseId
from tests.integration.adapters.database.stores.material import ask, find, open_base, publish

PASSAGES = 2_200  # more than the 1,000 postings that are read for the members of a document, also of «товар»
FREQUENT = """
select count(*) > 2000 from baza_internal.chunk_terms t join documents_chunks c on c.id = t.chunk_id
where t.term = 'поставка'
"""
RAREST = """
select baza_internal.rarest_words(array(select w from baza_internal.weigh_terms(
  b.id, '{лазурит,штраф,поставка,товар}', '[]', '{}') w), 2000, 2200) from bases b
"""
PLAIN = """
create or replace function baza_internal.score_members(p_base uuid, p_words baza_internal.weighed_term[],
  p_shares double precision[], p_documents uuid[], p_scores double precision[], p_limit int)
returns table (chunk_id bigint, place bigint, score double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with half as (select 1.2 * b.passages::double precision / b.terms as of_term from bases b where b.id = p_base)
  select m.c, m.p, p_scores[m.p] + sum(p_shares[(m.p - 1) * cardinality(p_words) + u.nth]
    * (case when t.term = u.term then u.own * 2.2 * t.own / (t.own + t.half) else 0 end
      + u.wide * 2.2 * t.around / (t.around + t.half)))
  from unnest(p_words) with ordinality u (place, term, low, high, own, wide, a, b, d, e, f, nth) cross join lateral (
    select x.term, x.chunk_id, said.half, x.frequency::int + x.titled::int * 0.5 / 1.2 * said.half as own,
      x.around::int + x.around_titled::int * 0.5 / 1.2 * said.half as around
    from half, baza_internal.chunk_terms x
    cross join lateral (select half.of_term * greatest(x.length, 16) as half) said
    where x.base_id = p_base and x.term >= u.low collate "C" and x.term < u.high collate "C" offset 0) t
  join (select c.id, u.nth from unnest(p_documents) with ordinality u (id, nth)
    join documents_chunks c on c.document_id = u.id and c.base_id = p_base) m (c, p) on m.c = t.chunk_id
  group by m.c, m.p order by 3 desc, 1 limit p_limit
$$
"""


def text(number: int) -> str:
    """The party in the first passage; in few others what is asked about; the frequent words a different number of
    times in passages of different lengths."""
    if not number:
        return "договор поставки с ооо лазурит"
    fine = "штраф " * (number % 50 == 7) + "штраф просрочка " * (number % 210 == 9)
    return f"{fine}{'поставка ' * (1 + number % 3)}{'товар ' * (number % 4)}{'пункт ' * (number % 17)}п{number}"


async def a_long_contract(stores: Stores) -> BaseId:
    base = await open_base(stores)
    await publish(stores, base, *map(text, range(PASSAGES)), name="первый")
    for name in ("второй", "третий"):
        await publish(stores, base, f"договор с ооо {name}", "штраф поставка", "поставка товар", name=name)
    return base


async def scores(stores: Stores, base: BaseId, words: str) -> dict[str, float]:
    found = await find(stores, base, words, limit=30)
    return {text: candidate.bm25 for text, candidate in found.items() if candidate.bm25}


@pytest.mark.over_rest
async def test_a_word_with_more_postings_than_are_read_leaves_the_same_best_passages(
    transport: Transport, database_url: str
) -> None:
    stores = Stores(transport)
    base = await a_long_contract(stores)
    assert ask(database_url, FREQUENT) == [(True,)]
    assert ask(database_url, RAREST) == [(2,)]  # «товар» and «поставка» are looked up for what the others have found
    questions = ("лазурит штраф поставка", "лазурит штраф товар поставка", "лазурит просрочка штраф товар")
    quick = [await scores(stores, base, words) for words in questions]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(PLAIN.encode())
    for words, found in zip(questions, quick, strict=True):
        plain = await scores(stores, base, words)
        assert list(found) == list(plain)
        assert found == pytest.approx(plain, rel=1e-9)
        assert len(found) == 30
        assert "лазурит" not in "".join(list(found)[:10])  # clauses come before the preamble

-- A passage is found by its document's words, too. In: the weighed terms of a question. Out: passages of the documents
-- that these terms choose. Party, number and day stand in the first passage and in the names of a document (which are
-- `titled` in all of its postings), the clause that answers has none of them. Measured in docs/retrieval.md.

create or replace function baza_internal.told_by_terms(p_base uuid, p_words weighed_term[])
returns table (place int, share double precision, score double precision, telling double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select t.place, least(t.parted, 1) * power(t.share, 0.7), case when t.firsts = 0 then 0
    else t.parted * power(t.firsts / (t.firsts + t.others), 3)
    -- What one document alone has tells as much as what one passage alone has.
    * rarity(t.firsts::bigint, b.documents) * ln(1 + b.passages) / ln(1 + greatest(b.documents, 1)) end,
    1 - power(least(power(t.share, 0.7) * t.firsts / greatest(b.documents, 1), 1), 8)
  from bases b cross join lateral (
    select w.place, 2 * (1 - least(b.documents::double precision / b.passages, 1)) as parted, -- 0: one passage each
      (sum(w.firsts_said) / greatest(sum(w.said), 1))::double precision as share,
      sum(w.firsts)::double precision as firsts,
      -- Documents that have it elsewhere: as many as their passages would be in, thrown at random.
      b.documents * (1 - exp(-(sum(w.postings) - sum(w.reached)) / greatest(b.documents, 1)))::double precision as others
    from unnest(p_words) w group by w.place) t
  where b.id = p_base
$$;
comment on function baza_internal.told_by_terms is
  'What each term of a question tells about documents. `share`: how far it is said in first passages alone; to that '
  'degree other passages inherit it. `score`: what it adds to documents that have it in their first passage or in their '
  'names; most for a term that few documents have, all of them in that place. `telling`: 0 for one that all documents '
  'say there and nowhere else, as where a clause of the form stands in the first passage.';

create or replace function baza_internal.telling_postings() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 10000 $$;
comment on function baza_internal.telling_postings is
  'So many postings are read to choose documents, those of the rarest terms first; a more frequent one tells few apart.';

create or replace function baza_internal.telling_terms(p_base uuid, p_words weighed_term[])
returns table (place int, chunk_id bigint, share double precision, score double precision)
language plpgsql stable rows 100 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  half_at constant double precision := half_per_term(p_base);
begin
  return query
  with read as (
    select u.* from (
      select w.*, sum(w.postings) over (order by w.ordinality) as so_far
      from unnest(p_words) with ordinality w where w.firsts > 0) u
    where u.so_far <= telling_postings()
  ), placed as (
    select r.place, x.chunk_id, t.share * t.telling as share, t.score, case when x.frequency > 0
      then t.share * (case when x.term = r.term then r.own else 0 end + r.wide)
        * bm25(in_all(x.frequency, x.titled, x.half), x.half) else 0 end as inherited, x.frequency > 0 as is_said
    from read r join told_by_terms(p_base, p_words) t using (place) cross join lateral (
      select x.term, x.chunk_id, x.frequency, x.titled, half_frequency(x.length, half_at) as half from chunk_terms x
      where x.base_id = p_base and x.term >= r.low collate "C" and x.term < r.high collate "C" and x.spread > 0
      offset 0) x
  )
  -- The best, not the sum: else «Вектор-Строй» would be a better «Вектор» than «Вектор» itself.
  select p.place, p.chunk_id, max(case when p.is_said then p.share else 0 end), max(p.score) + max(p.inherited)
  from placed p group by p.place, p.chunk_id;
end $$;
comment on function baza_internal.telling_terms is
  'Which first passages have a term in their text or in the names of their document, and what that is worth: the '
  '`score` of `told_by_terms`, and what others inherit of it.';

create or replace function baza_internal.unread_terms(p_base uuid, p_words weighed_term[], p_read int[], p_chunks bigint[])
returns table (place int, chunk_id bigint, share double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select w.place, c.id, l.share * l.telling
  from unnest(p_words) w join told_by_terms(p_base, p_words) l using (place) cross join unnest(p_chunks) c (id)
  cross join lateral (
    select from posting_lists x
    where x.base_id = p_base and x.term = w.term collate "C" and x.run = c.id >> 8
      and posting_at(x.postings, c.id & 255) & 127 > 0 offset 0) x
  where w.firsts > 0 and w.place <> all (p_read)
$$;
comment on function baza_internal.unread_terms is
  'As `telling_terms`, of the terms that it has not read, in these passages alone: «договор поставки» of 4,000 preambles '
  'tells no documents apart, but in each of them the preamble from the clauses.';

create or replace function baza_internal.search_chosen(p_base uuid, p_asked int, p_words weighed_term[], p_limit int)
returns table (chunk_id bigint, score double precision, inherited double precision[])
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  most constant int := 30; -- documents; when more fit equally well, the words tell none of them apart
  most_passages constant int := 1000; -- in them, but for the best one, which may be longer
  decided constant double precision := 0.2; -- what is left of a number that the first passage has: it names the document
  documents uuid[];
  scores double precision[];
  shares double precision[]; -- for each of them, by place of the question's terms
  left_over double precision[]; -- for each of them, by word: what it still decides inside the document
begin
  if not exists (select from bases b where b.id = p_base and b.documents between 2 and b.passages - 1) then
    return; -- nothing to choose; or one passage each
  end if;
  with told as materialized (
    select * from telling_terms(p_base, p_words)
  ), likely as materialized (
    select t.chunk_id, sum(t.score) as score from told t group by t.chunk_id order by score desc limit 4 * most
  ), ranked as materialized (
    select l.chunk_id, l.score, d.id, d.chunks from likely l
    cross join lateral (select * from documents_chunks x where x.id = l.chunk_id offset 0) c
    cross join lateral (select * from documents x where x.id = c.document_id offset 0) d
    where d.base_id = p_base and d.visible
    order by l.score desc, l.chunk_id limit most + 1
  ), chosen as (
    select r.*, row_number() over best as nth, sum(r.chunks) over best as passages
    from ranked r
    where r.score > coalesce((select last.score from ranked last order by last.score desc offset most), 0)
    window best as (order by r.score desc, r.chunk_id)
  ), given as materialized (
    select t.place, t.chunk_id, t.share from told t
    union all
    select * from unread_terms(p_base, p_words, array(select t.place from told t), array(select c.chunk_id from chosen c))
  )
  select array_agg(c.id order by c.nth), array_agg(c.score order by c.nth),
    array(
      select case when o.chunks > 1 then coalesce(t.share, 0) else 0 end
      from chosen o cross join generate_series(1, p_asked) g (place)
      left join given t on t.chunk_id = o.chunk_id and t.place = g.place
      where o.nth = 1 or o.passages <= most_passages order by o.nth, g.place),
    array(
      select (1 - l.share) * case when t.place is null or u.term !~ '^[0-9]' then 1 else decided end
      from chosen o cross join unnest(p_words) with ordinality u join told_by_terms(p_base, p_words) l using (place)
      left join told t on t.chunk_id = o.chunk_id and t.place = u.place
      where o.nth = 1 or o.passages <= most_passages order by o.nth, u.ordinality)
  into documents, scores, shares, left_over
  from chosen c where c.nth = 1 or c.passages <= most_passages;
  if documents is null then
    return;
  end if;
  return query
  select m.chunk_id, m.score, shares[(m.place - 1) * p_asked + 1 : m.place * p_asked]
  from score_members(p_base, p_words, left_over, documents, scores, p_limit) m
  order by m.score desc, m.chunk_id;
end $$;
comment on function baza_internal.search_chosen is
  'The best passages of the documents that the terms choose, be they of one passage or many: their document''s score, '
  'and their own without what the terms have decided already, so that a preamble with the party''s name does not stand '
  'before the clause. `inherited`, by term of the question: the share of its weight that the passage has from its '
  'document; none of what all first passages say, and no others: that tells no documents apart, but passages of one.';

create or replace function baza_internal.rarest_words(p_words weighed_term[], p_longest bigint, p_members int)
returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select greatest(1, count(*))::int
  from (
    select sum(case when u.postings > p_longest then least(u.postings, p_members) else u.postings end)
      over (order by u.ordinality) as so_far
    from unnest(p_words) with ordinality u) u
  where u.so_far <= 1000
$$;
comment on function baza_internal.rarest_words is
  'How many of the words, which come rarest first, have so few postings together that all of them are read; the others '
  'are looked up for the passages that these have found. Of a word with more than `p_longest` postings those of the '
  'members alone are read.';

create or replace function baza_internal.members_of(p_base uuid, p_documents uuid[],
  out chunks bigint[], out places bigint[])
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select array_agg(c.id order by c.id), array_agg(u.nth order by c.id)
  from unnest(p_documents) with ordinality u (document_id, nth)
  cross join lateral (select x.id from documents x where x.id = u.document_id and x.base_id = p_base offset 0) d
  cross join lateral (select x.id from documents_chunks x where x.document_id = d.id offset 0) c
$$;
comment on function baza_internal.members_of is
  'The passages of these documents, so far as they are of this base, and which of the documents each is of.';

create or replace function baza_internal.score_members(p_base uuid, p_words weighed_term[],
  p_shares double precision[], p_documents uuid[], p_scores double precision[], p_limit int)
returns table (chunk_id bigint, place bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_nestloop = off -- of an unknown limit the planner expects few rows, and would compare all with all
as $$
#variable_conflict use_column
declare
  longest constant bigint := 2000; -- postings of a range that is gone through; of more, the term itself is looked up
  half_at constant double precision := half_per_term(p_base);
  asked constant int := cardinality(p_words);
  members bigint[];
  places bigint[];
  rare int;
begin
  select m.chunks, m.places into members, places from members_of(p_base, p_documents) m;
  rare := rarest_words(p_words, longest, cardinality(members));
  return query
  with weighed as (
    select u.*, u.postings > longest as is_long, u.ordinality as nth from unnest(p_words[: rare]) with ordinality u
  ), member as materialized (
    select * from unnest(members, places) u (chunk_id, place)
  ), posting as (
    select x.chunk_id, u.nth, case when x.term = u.term then u.own * bm25(x.own, x.half) else 0 end
      + u.wide * bm25(x.around, x.half) as score
    from (select * from weighed w where not w.is_long offset 0) u cross join lateral (
      select x.chunk_id, x.term, half_frequency(x.length, half_at) as half,
        in_all(x.frequency, x.titled, half_frequency(x.length, half_at)) as own,
        in_all(x.around, x.around_titled, half_frequency(x.length, half_at)) as around
      from chunk_terms x
      where x.base_id = p_base and x.term >= u.low collate "C" and x.term < u.high collate "C" offset 0) x
    union all
    select x.chunk_id, u.nth, u.own * bm25(in_all(x.frequency, x.titled, x.half), x.half)
      + u.wide * bm25(in_all(x.around, x.around_titled, x.half), x.half)
    from (select * from weighed w where w.is_long offset 0) u cross join lateral (
      select x.*, half_frequency(x.length, half_at) as half from chunk_terms x
      where x.base_id = p_base and x.term = u.term collate "C" and x.run = any (array(
        select distinct m >> 8 from unnest(members) m)) and x.chunk_id in (select unnest(members)) offset 0) x
  ), said as (
    select p.chunk_id, m.place, sum(p_shares[(m.place - 1) * asked + p.nth] * p.score) as score
    from posting p join member m using (chunk_id) group by p.chunk_id, m.place
  ), found as materialized (
    -- Also those without a rare word, and without any: the party stands in the preamble, and of «в каком городе учился
    -- Голубев» the passage that answers says nothing.
    select u.chunk_id, u.place, p_scores[u.place] + sum(u.score) as score
    from (select * from said union all select member.*, 0 from member) u
    group by u.chunk_id, u.place order by score desc limit greatest(10 * p_limit, 300)
  ), looked_up as (
    select x.chunk_id, u.nth, u.own * bm25(in_all(x.frequency, x.titled, x.half), x.half)
      + u.wide * bm25(in_all(x.around, x.around_titled, x.half), x.half) as score
    from (select w.*, w.ordinality + rare as nth from unnest(p_words[rare + 1 :]) with ordinality w offset 0) u
    cross join lateral (
      select x.*, half_frequency(x.length, half_at) as half from chunk_terms x
      where x.base_id = p_base and x.term = u.term collate "C" and x.run = any (array(
        select distinct f.chunk_id >> 8 from found f)) and x.chunk_id in (select f.chunk_id from found f) offset 0) x
    offset 0
  )
  select u.chunk_id, u.place, sum(u.score) as score
  from (
    select found.* from found union all
    select f.chunk_id, f.place, p_shares[(f.place - 1) * asked + l.nth] * l.score
    from looked_up l join found f using (chunk_id)) u
  group by u.chunk_id, u.place order by score desc, u.chunk_id limit p_limit;
end $$;
comment on function baza_internal.score_members is
  'The best passages of these documents, scored as in `score_postings`. By the `place` of the document and the word, '
  '`p_shares` is how much of the word''s weight counts, and `p_scores` what the document adds. '
  'Relatives of frequent terms are left out.';

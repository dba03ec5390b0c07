-- A passage is found by its document's words, too. In: the weighed terms of a question. Out: passages of the documents
-- that these terms choose. Party, number and day stand in the first passage and in the names of a document (which are
-- `titled` in all of its postings), the clause that answers has none of them. Measured in docs/retrieval.md.

create or replace function baza_internal.telling_terms(p_base uuid, p_places int[], p_terms text[], p_lows text[],
  p_highs text[], p_own double precision[], p_wide double precision[], p_postings bigint[])
returns table (place int, document_id uuid, share double precision, score double precision)
language plpgsql stable rows 100 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  held constant bases := (select b from bases b where b.id = p_base);
  -- Postings, the rarest terms first; a term in more of them tells few documents apart, but for a few long ones: the
  -- name of a report is in all of its passages.
  readable constant bigint := case when held.documents <= 200 then 10000 else 3000 end;
  half_at constant double precision := half_per_term(p_base);
begin
  if held.documents < 2 or held.passages <= held.documents then -- nothing to choose; or one passage each
    return;
  end if;
  return query
  with read as (
    select u.* from (
      select u.*, sum(u.postings) over (order by u.nth) as so_far
      from unnest(p_places, p_terms, p_lows, p_highs, p_own, p_wide, p_postings) with ordinality
        u (place, term, low, high, own, wide, postings, nth)) u
    where u.so_far <= readable
  ), placed as materialized (
    select r.place, r.own, r.wide, x.term = r.term as is_own, x.frequency, x.titled, x.length,
      c.document_id, c.ordinal = 0 as is_first
    from read r cross join lateral (
      select * from chunk_terms x
      where x.base_id = p_base and x.term >= r.low collate "C" and x.term < r.high collate "C" offset 0) x
    cross join lateral (
      select c.document_id, c.ordinal from documents_chunks c where c.id = x.chunk_id offset 0) c
  ), told as (
    select d.place, sum(d.firsts_said) / greatest(sum(d.said), 1) as share,
      count(*) filter (where d.firsts > 0) as firsts, count(*) as documents
    from (
      select p.place, p.document_id, count(*) filter (where p.is_first) as firsts,
        count(*) filter (where p.frequency > 0) as said,
        count(*) filter (where p.is_first and p.frequency > 0) as firsts_said
      from placed p group by p.place, p.document_id) d
    group by d.place
  ), choice as (
    select t.place, power(t.share::double precision, 0.7) as share, case when t.firsts = 0 then 0
      else 2 * (1 - held.documents::double precision / held.passages) -- of documents of one passage nothing is chosen
      * power(t.firsts::double precision / t.documents, 3)
      * ln(1 + (greatest(held.documents - t.firsts, 0) + 0.5::double precision) / (t.firsts + 0.5)) end as score
    from told t
  )
  select p.place, p.document_id, max(case when p.frequency > 0 then t.share else 0 end),
    max(t.score) + max(case when p.frequency = 0 then 0 else t.share -- the best, not the sum: else «Вектор-Строй» would be
      * case when p.is_own then p.own + p.wide else p.wide end -- a better «Вектор» than «Вектор» itself
      * bm25(in_all(p.frequency, p.titled, h.half), h.half) end)
  from placed p join choice t using (place) cross join lateral (select half_frequency(p.length, half_at) as half) h
  where p.is_first group by p.place, p.document_id;
end $$;
comment on function baza_internal.telling_terms is
  'Which documents have a term in their first passage or in their names, and what that is worth. '
  '`share`: how far the term is said in first passages alone; to that degree other passages inherit it. The `score` is '
  'what they inherit, and more for a term that few documents have, all of them in that place.';

create or replace function baza_internal.search_chosen(p_base uuid, p_asked int, p_places int[], p_terms text[],
  p_lows text[], p_highs text[], p_own double precision[], p_wide double precision[], p_postings bigint[], p_limit int)
returns table (chunk_id bigint, score double precision, inherited double precision[])
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  most constant int := 30; -- documents; when more fit equally well, the words tell none of them apart
  most_passages constant int := 1000; -- in them, but for the best one, which may be longer
  documents uuid[];
  scores double precision[];
  shares double precision[]; -- for each of them, by place of the question's terms
  left_over double precision[]; -- by term: what it still decides inside a document
begin
  with told as materialized (
    select * from telling_terms(p_base, p_places, p_terms, p_lows, p_highs, p_own, p_wide, p_postings)
  ), likely as materialized (
    select t.document_id, sum(t.score) as score from told t group by t.document_id order by score desc limit 4 * most
  ), ranked as materialized (
    select l.document_id, l.score, d.chunks from likely l
    cross join lateral (select * from documents x where x.id = l.document_id offset 0) d
    where d.base_id = p_base and d.visible
    order by l.score desc, l.document_id limit most + 1
  ), chosen as (
    select r.document_id, r.score, r.chunks, row_number() over best as nth, sum(r.chunks) over best as passages
    from ranked r
    where r.score > coalesce((select last.score from ranked last order by last.score desc offset most), 0)
    window best as (order by r.score desc, r.document_id)
  )
  select array_agg(c.document_id order by c.nth), array_agg(c.score order by c.nth),
    array(select case when o.chunks > 1 then coalesce(t.share, 0) else 0 end from chosen o cross join generate_series(1, p_asked) g (place)
      left join told t on t.document_id = o.document_id and t.place = g.place
      where o.nth = 1 or o.passages <= most_passages order by o.nth, g.place),
    array(select 1 - coalesce(max(t.share), 0) from unnest(p_places) with ordinality u (place, nth)
      left join told t on t.place = u.place group by u.nth order by u.nth)
  into documents, scores, shares, left_over
  from chosen c where c.nth = 1 or c.passages <= most_passages;
  if documents is null then
    return;
  end if;
  return query
  with member as materialized (
    select c.id, u.nth, u.score from unnest(documents, scores) with ordinality u (document_id, score, nth)
    cross join lateral (select x.id from documents_chunks x where x.document_id = u.document_id offset 0) c
  )
  select m.id, m.score + f.score as score, shares[(m.nth - 1) * p_asked + 1 : m.nth * p_asked]
  from score_members(p_base, p_terms, p_lows, p_highs, p_own, p_wide, left_over, p_postings,
    array(select member.id from member)) f
  join member m on m.id = f.chunk_id
  order by score desc, m.id limit p_limit;
end $$;
comment on function baza_internal.search_chosen is
  'The best passages of the documents that the terms choose, be they of one passage or many: their document''s score, and their own without what the '
  'terms have decided already, so that a preamble with the party''s name does not stand before the clause. '
  '`inherited`, by term of the question: the share of its weight that the passage has from its document.';

create or replace function baza_internal.score_members(p_base uuid, p_terms text[], p_lows text[], p_highs text[],
  p_own double precision[], p_wide double precision[], p_shares double precision[], p_postings bigint[],
  p_chunks bigint[])
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 1000 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  longest constant bigint := 2000; -- postings of a range that is gone through; of more, the term itself is looked up
  half_at constant double precision := half_per_term(p_base);
begin
  return query
  with weighed as (
    select u.term, u.low, u.high, u.own * u.share as own, u.wide * u.share as wide, u.postings > longest as is_long
    from unnest(p_terms, p_lows, p_highs, p_own, p_wide, p_shares, p_postings)
      u (term, low, high, own, wide, share, postings)
  ), posting as (
    select x.chunk_id, x.term = u.term as is_own, u.own, u.wide, x.frequency, x.length, x.titled, x.around, x.around_titled
    from (select * from weighed w where not w.is_long offset 0) u cross join lateral (
      select * from chunk_terms x
      where x.base_id = p_base and x.term >= u.low collate "C" and x.term < u.high collate "C" offset 0) x
    where x.chunk_id in (select unnest(p_chunks)) -- a condition of the index would be looked up for each passage
    union all
    select x.chunk_id, true, u.own, u.wide, x.frequency, x.length, x.titled, x.around, x.around_titled
    from (select * from weighed w where w.is_long offset 0) u cross join lateral (
      select * from chunk_terms x
      where x.base_id = p_base and x.term = u.term collate "C" and x.chunk_id = any (p_chunks) offset 0) x
  )
  select p.chunk_id, sum(case when p.is_own then p.own * bm25(in_all(p.frequency, p.titled, h.half), h.half) else 0 end
    + p.wide * bm25(in_all(p.around, p.around_titled, h.half), h.half)) as score
  from posting p cross join lateral (select half_frequency(p.length, half_at) as half) h
  group by p.chunk_id;
end $$;
comment on function baza_internal.score_members is
  'All of the given passages that have a term, scored as in `score_postings`; `p_shares` of each term''s weights count. '
  'Relatives of the most frequent terms are left out.';

-- The search by words: BM25 over the postings of a base. In: the terms of a question. Out: passages with scores.
-- Needs no extension. The terms are made by the analyzer that made the postings (adapters/lexical); what each setting
-- is for, and what it brings, is in docs/retrieval.md.

create or replace function baza_internal.counted_anew() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 2000 $$;
comment on function baza_internal.counted_anew is
  'In a base of up to this many passages a search counts all postings itself; in a larger one it takes the large counts '
  'from `common_terms`. In 20,000 passages of 4,000 contracts of one form counting took 14 ms of a search.';

create or replace function baza_internal.count_common_terms(p_base uuid) returns bigint
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  frequent constant int := 1000; -- postings; fewer are counted in a millisecond
  held constant bigint := (select b.passages from bases b where b.id = p_base);
  written bigint;
begin
  delete from common_terms c where c.base_id = p_base;
  insert into common_terms (base_id, term, postings, said, firsts, firsts_said, reached, passages)
  with counted as materialized (
    select t.term, count(*) as postings, count(*) filter (where t.frequency > 0) as said,
      count(*) filter (where t.spread > 0) as firsts,
      count(*) filter (where t.spread > 0 and t.frequency > 0) as firsts_said, sum(t.spread) as reached
    from chunk_terms t where t.base_id = p_base group by t.term
  )
  -- The most frequent one in any case: else a base without frequent terms would be counted again and again.
  select p_base, c.*, held from counted c
  where c.postings > least(frequent, (select max(most.postings) - 1 from counted most))
  union all
  select p_base, left(c.term, 5) || '*', sum(c.postings), sum(c.said), sum(c.firsts), sum(c.firsts_said),
    sum(c.reached), held from counted c
  where is_word(c.term) group by left(c.term, 5) having sum(c.postings) > frequent;
  get diagnostics written = row_count;
  return written;
end $$;
comment on function baza_internal.count_common_terms is 'Counts the frequent terms of a base anew.';

create or replace function refresh_common_terms()
returns table (base_id uuid, terms bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '15min'
as $$
  select b.id, count_common_terms(b.id) from bases b
  where b.passages > counted_anew()
    and coalesce((select max(c.passages) from common_terms c where c.base_id = b.id), 0)
      not between b.passages * 0.8 and b.passages * 1.2
  limit 1
$$;
comment on function refresh_common_terms is
  'Counts the frequent terms of one large base that has grown or shrunk by a fifth since it was last done.';

create or replace function baza_internal.forget_terms() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  delete from common_terms c where c.base_id = new.id;
  delete from posting_segment_plans p where p.base_id = new.id;
  update posting_segments b set emptied = true where b.base_id = new.id; -- workers delete them later
  return null;
end $$;
comment on function baza_internal.forget_terms is
  'Of a base that was emptied, removes the term counts and marks the segments.';
create or replace trigger bases_emptied after update of passages on bases
  for each row when (new.passages = 0 and old.passages > 0) execute function baza_internal.forget_terms();

create or replace function baza_internal.is_word(p_term text) returns boolean
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select length(p_term) >= 5 and p_term !~ '[-0-9._@+#'']' $$;
comment on function baza_internal.is_word is
  'Whether terms with the same first five letters count as relatives of this one: it is a word of letters, '
  'not a code, a number or a file name.';

-- BM25F (Robertson and Zaragoza) with k1 = 1.2 and b = 1: passages are all cut alike, and of two with the same words
-- the shorter one is about nothing else. A passage of fewer than 16 terms counts as that long. These functions have no
-- `set` clause: so the planner puts their expressions in the place of the calls.

create or replace function baza_internal.rarity(p_postings bigint, p_passages bigint) returns double precision
language sql immutable parallel safe
as $$ select ln(1 + (greatest(p_passages - p_postings, 0) + 0.5::double precision) / (p_postings + 0.5)) $$;
comment on function baza_internal.rarity is 'The inverse document frequency of a term with so many postings in a base.';

create or replace function baza_internal.prefix_share() returns double precision
language sql immutable parallel safe
as $$ select 0.5::double precision $$;
comment on function baza_internal.prefix_share is
  'How much of the weight of a word is for its prefix, which its relatives have too; the rest is for the word itself.';

create or replace function baza_internal.half_per_term(p_base uuid) returns double precision
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select 1.2::double precision * greatest(b.passages, 1) / greatest(b.terms, 1) from bases b where b.id = p_base
$$;
comment on function baza_internal.half_per_term is
  'k1 by the average length of the passages of a base: for `half_frequency`.';

create or replace function baza_internal.half_frequency(p_length int, p_half_per_term double precision)
returns double precision
language sql immutable parallel safe
as $$ select p_half_per_term * greatest(p_length, 16) $$;
comment on function baza_internal.half_frequency is
  'How often a term must stand in a passage of this length to get half of what it could: `p_half` below.';

create or replace function baza_internal.in_all(p_frequency int, p_titled int, p_half double precision)
returns double precision
language sql immutable parallel safe
as $$
  select case when p_titled = 0 then p_frequency
    else p_frequency + p_titled * (0.5 / 1.2)::double precision * p_half end -- as numeric it takes many times as long
$$;
comment on function baza_internal.in_all is
  'The frequency of a term in the text and in the title and headings above it: once there counts as half the average '
  'frequency, however long they are.';

create or replace function baza_internal.bm25(p_frequency double precision, p_half double precision)
returns double precision
language sql immutable parallel safe
as $$ select 2.2 * p_frequency / (p_frequency + p_half) $$;
comment on function baza_internal.bm25 is 'The score that a term of rarity 1 gives to a passage.';

create or replace function baza_internal.similar_terms(p_base uuid, p_term text, p_beginnings text[], p_pattern text)
returns table (term text)
language sql stable rows 3 set search_path = public, baza_internal, extensions, pg_temp
as $$
  with recursive vocabulary as (
    select first.term, b.start from unnest(p_beginnings) b (start) cross join lateral (
      select t.term from posting_lists t
      where t.base_id = p_base and t.term >= b.start collate "C" and t.term < (b.start || chr(1114111)) collate "C"
      order by t.term limit 1) first
    union all
    (select later.term, v.start from vocabulary v cross join lateral (
       select t.term from posting_lists t
       where t.base_id = p_base and t.term > v.term and t.term < (v.start || chr(1114111)) collate "C"
       order by t.term limit 1) later)
  )
  select v.term from vocabulary v
  -- A word with one typo keeps its beginning or its end: checking that takes a tenth of the time of matching. A term of
  -- the other alphabet shares neither, and is always matched. "case", since the planner would match first.
  where case when left(v.term, 1) <> left(p_term, 1) or starts_with(v.term, left(p_term, length(p_term) / 2))
    or right(v.term, (length(p_term) - 1) / 2) = right(p_term, (length(p_term) - 1) / 2) then v.term ~ p_pattern end
  order by v.term limit 3
$$;
comment on function baza_internal.similar_terms is
  'The first three terms of the base that begin with one of `p_beginnings` and match `p_pattern`, to stand '
  'for `p_term`. Steps from term to term along the index: one step for each such term, however many passages hold it.';

create or replace function baza_internal.count_range(p_base uuid, p_low text, p_high text, p_hidden bigint[],
  out postings bigint, out said bigint, out firsts bigint, out firsts_said bigint, out reached bigint)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  select count(*), count(*) filter (where t.frequency > 0), count(*) filter (where t.spread > 0),
    count(*) filter (where t.spread > 0 and t.frequency > 0), sum(t.spread)
  into postings, said, firsts, firsts_said, reached from chunk_terms t
  where t.base_id = p_base and t.term >= p_low collate "C" and t.term < p_high collate "C"
    and t.chunk_id not in (select unnest(p_hidden));
end $$;
comment on function baza_internal.count_range is
  'What `common_terms` has, counted now: of all terms from `p_low` to before `p_high`.';

create or replace function baza_internal.count_postings(p_base uuid, p_term text, p_low text, p_high text,
  p_hidden bigint[],
  out own bigint, out around bigint, out said bigint, out firsts bigint, out firsts_said bigint, out reached bigint)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  exact record; -- of the term itself
  range record; -- of it and its relatives
begin
  if (select b.passages from bases b where b.id = p_base) > counted_anew() then
    select * into exact from common_terms c where c.base_id = p_base and c.term = p_term;
    select * into range from common_terms c
    where c.base_id = p_base and c.term in (p_low || '*', case when p_low = p_term then p_term end)
    order by c.term desc limit 1; -- of the whole range, if it is known
  else
    select null::bigint as postings into exact;
    range := exact;
  end if;
  if range.postings is null then
    select * into range from count_range(p_base, p_low, p_high, p_hidden);
  end if;
  if p_high = p_term || chr(1) then
    exact := range;
  elsif exact.postings is null then
    select * into exact from count_range(p_base, p_term, p_term || chr(1), p_hidden) where range.postings > 0;
  end if;
  own := exact.postings;
  around := range.postings;
  if exact.firsts > 0 then -- what documents are called: «электронной», said everywhere, tells nothing of «Электрон»
    select exact.said, exact.firsts, exact.firsts_said, around - (exact.postings - exact.reached)
    into said, firsts, firsts_said, reached;
  else
    select range.said, range.firsts, range.firsts_said, range.reached into said, firsts, firsts_said, reached;
  end if;
end $$;
comment on function baza_internal.count_postings is
  'How many postings a term has (`own`), and all terms from `p_low` to before `p_high` (`around`); of these, or of the '
  'term itself where a first passage or a name has it, also what `common_terms` has. The large counts of large bases '
  'are those of the last `count_common_terms`.';

create or replace function baza_internal.weigh_terms(p_base uuid, p_terms text[], p_spellings jsonb, p_hidden bigint[])
returns setof weighed_term
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  total constant bigint := (select b.passages from bases b where b.id = p_base);
begin
  return query
  with asked as materialized (
    select a.term, min(a.place)::int as place,
      exists (select from posting_lists t where t.base_id = p_base and t.term = a.term) as held
    from unnest(p_terms) with ordinality a (term, place) group by a.term
  ), meant as (
    select a.place, a.term from asked a
    union
    select a.place, s.term from asked a
    join jsonb_to_recordset(p_spellings) x (term text, beginnings text[], pattern text) on x.term = a.term
    cross join lateral similar_terms(p_base, a.term, x.beginnings, x.pattern) s
    where not a.held
  ), range as (
    select m.place, m.term, r.low, case when r.low = m.term and not is_word(m.term) then m.term || chr(1)
      else r.low || chr(1114111) end as high
    from meant m cross join lateral (select case when is_word(m.term) then left(m.term, 5) else m.term end) r (low)
  ), counted as (
    select r.*, c.*, row_number() over (partition by r.low order by c.own desc, r.place) = 1 as leads
    from range r cross join lateral count_postings(p_base, r.term, r.low, r.high, p_hidden) c
    where c.around > 0
  )
  select c.place, c.term, c.low, c.high,
    (case when is_word(c.term) then 1 - prefix_share() else 1 end) * rarity(c.own, total),
    case when is_word(c.term) and c.leads then prefix_share() else 0 end * rarity(c.around, total),
    c.around, c.said, c.firsts, c.firsts_said, c.reached
  from counted c order by c.around, c.place, c.term;
end $$;
comment on function baza_internal.weigh_terms is
  'The weight (rarity) of each term of a question in this base, and the range of the index that holds the '
  'term and its relatives, with the numbers of its postings; the rarest first. A term that the base does not hold is '
  'looked up in other spellings.';

create or replace function baza_internal.score_postings(p_base uuid, p_words weighed_term[], p_after bigint, p_hidden bigint[], p_allowed bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  half_at constant double precision := half_per_term(p_base);
  all_shown constant boolean := p_hidden = '{}';
  every constant int := 2147483647; -- rows; as an optimisation fence as good as "offset 0", but for an unknown limit
  -- the planner expects a tenth of the rows, and makes hash tables that fit the cache
begin
  return query
  select f.chunk_id, f.score
  from (
    -- Nearly every posting is the only one of its passage with its prefix: then one fraction serves the term and the
    -- prefix.
    select h.chunk_id, sum(
      case when h.term <> w.term then w.wide * bm25(h.around, h.half)
        when h.own = h.around then (w.own + w.wide) * bm25(h.own, h.half)
        else w.own * bm25(h.own, h.half) + w.wide * bm25(h.around, h.half)
      end) as score
    from (select u.term, u.low, u.high, u.own, u.wide from unnest(p_words) u offset 0) w
    cross join lateral (
      select x.chunk_id, x.term, half_frequency(x.length, half_at) as half,
        in_all(x.frequency, x.titled, half_frequency(x.length, half_at)) as own,
        in_all(x.around, x.around_titled, half_frequency(x.length, half_at)) as around
      from chunk_terms x
      where x.base_id = p_base and x.term >= w.low collate "C" and x.term < w.high collate "C"
        and x.run >= p_after >> 8 and x.chunk_id > p_after limit every) h
    group by h.chunk_id offset 0) f
  where (all_shown or f.chunk_id not in (select unnest(p_hidden)))
    and (p_allowed is null or f.chunk_id in (select unnest(p_allowed)))
  order by f.score desc, f.chunk_id limit p_limit;
end $$;
comment on function baza_internal.score_postings is
  'The best passages after `p_after`, by all postings of the ranges of these words.';

create or replace function baza_internal.search_postings(p_base uuid, p_words weighed_term[],
  p_share double precision, p_after bigint, p_hidden bigint[], p_allowed bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  readable constant int := 10000; -- postings that one search reads in full, beginning with the rarest word
  longest constant bigint := ( -- postings of a word other than the rarest; reading all of «cloud» outweighed the rest
    select case when p_share < 1 then 15000 else least(15000, greatest(1000, b.passages / 2)) end
    from bases b where b.id = p_base);
  looked_through constant int := greatest(10 * p_limit, 300); -- candidates that get a full score when words are left
  half_at constant double precision := half_per_term(p_base);
  few weighed_term[]; -- the words that are read; the `frequent` are looked up by key for the candidates found
  frequent weighed_term[];
begin
  select array_agg(p_words[w.nth]) filter (where not w.many), array_agg(p_words[w.nth]) filter (where w.many)
  into few, frequent
  from (
    select u.ordinality as nth, p_share * (sum(u.postings) over (order by u.ordinality) - u.postings) > readable
      or (p_share * u.postings > longest and u.ordinality > 1) as many
    from unnest(p_words) with ordinality u) w;
  return query
  with found as materialized (
    select * from score_postings(p_base, few, p_after, p_hidden, p_allowed,
      case when frequent is null then p_limit else looked_through end)
  )
  -- Summed, not joined: the planner would compare each passage found with each that has a frequent word.
  select u.chunk_id, sum(u.score) as score
  from (
    select found.chunk_id, found.score from found
    union all -- all passages at once for each term: one by one takes nearly twice as long
    select x.chunk_id, (w.own + w.wide) * bm25(x.own, x.half)
    from unnest(frequent) w
    cross join lateral (
      select x.chunk_id, half_frequency(x.length, half_at) as half,
        in_all(x.frequency, x.titled, half_frequency(x.length, half_at)) as own
      from chunk_terms x
      where x.base_id = p_base and x.term = w.term collate "C"
        and x.run = any (array(select distinct found.chunk_id >> 8 from found))
        and x.chunk_id in (select found.chunk_id from found) offset 0) x) u
  group by u.chunk_id order by score desc, u.chunk_id limit p_limit;
end $$;
comment on function baza_internal.search_postings is
  'The best passages after `p_after` by weighed terms, the rarest first, with the number of postings each '
  'has in the whole base. `p_share` is the part of them that has to be read; terms that are too frequent even then are '
  'looked up for what the others have found.';

create or replace function baza_internal.search_terms(p_base uuid, p_terms text[], p_spellings jsonb,
  p_within uuid[], p_limit int)
returns table (chunk_id bigint, score double precision, rarities double precision[], inherited double precision[])
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  total constant int := (select b.passages from bases b where b.id = p_base);
  passed_over constant double precision := 0.03; -- of reading a posting: to skip one in segments, before PostgreSQL 18
  hidden constant bigint[] := array(
    select c.id from hidden_documents h join documents_chunks c on c.document_id = h.id where h.base_id = p_base);
  allowed constant bigint[] := case when p_within is not null then array(
    select c.id from documents_chunks c where c.base_id = p_base and c.document_id = any (p_within)) end;
  in_segments constant bigint := coalesce(case when p_within is null then in_segments_up_to(p_base) end, 0);
  share constant double precision := case when in_segments = 0 then 1
    else greatest(share_outside_segments(p_base), passed_over) end;
  renamed constant bigint[] := case when in_segments > 0 then array(
    select c.id from renamed_documents r join documents_chunks c on c.document_id = r.document_id
    where r.base_id = p_base and c.id <= in_segments) else '{}' end;
  words constant weighed_term[] := array(select w from weigh_terms(p_base, p_terms, p_spellings, hidden) w);
  rarities constant double precision[] := array(
    select coalesce(max(w.own + w.wide), rarity(1, total))
    from unnest(p_terms) with ordinality t (term, place) left join unnest(words) w on w.place = t.place
    group by t.place order by t.place);
  keys text[]; -- of the words and their prefixes in segments
  highest double precision;
begin
  select array_agg(w.term) || array_agg(w.low || '*') filter (where w.wide > 0), 2.2 * sum(w.own + w.wide)
  into keys, highest from unnest(words) w;
  return query
  with plain as (
    select * from search_postings(p_base, words, share, in_segments, hidden, allowed, p_limit)
    union all
    select * from search_postings(p_base, words, 1, 0, hidden, renamed, p_limit) where renamed <> '{}'
    union all
    select * from search_posting_segments(p_base, keys, highest, hidden || renamed, p_limit) where in_segments > 0
  ), inside as (
    select * from search_chosen(p_base, cardinality(p_terms), words, p_limit) where p_within is null
  )
  select chunk_id, greatest(plain.score, inside.score) as score, rarities, inside.inherited
  from plain full join inside using (chunk_id)
  order by score desc, chunk_id limit p_limit;
end $$;
comment on function baza_internal.search_terms is
  'Passages by BM25 over the postings of the base; a repeated term counts once. `rarities` is the weight of '
  'each term of the question, the same in every row: of one that no passage holds that of a word in one passage; '
  '`inherited` is explained at `search_chosen`.';

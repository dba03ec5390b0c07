-- Segments of postings: the weight of each term in each passage of a large base, stored as vectors, which pgvector adds
-- up. In: bases that have grown. Out: `posting_segments`, their terms and passages, and the search in them
-- (term_search.sql calls it). Workers make them in the background, eight thousand passages a segment; nobody who writes
-- or searches waits for it. A passage that is in no segment yet is found by its postings. Grouping postings by passage
-- costs PostgreSQL nearly a microsecond each; adding a vector of 8,000 numbers to another costs four, however many of
-- them are zero. So no word is too frequent to be read.

create or replace function baza_internal.posting_segment_size() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 8000 $$;
comment on function baza_internal.posting_segment_size is 'Passages in a segment; a vector has at most 16,000 numbers.';

create or replace function baza_internal.passages_without_segments() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 20000 $$;
comment on function baza_internal.passages_without_segments is 'A base of up to this many passages has no segments.';

create or replace function baza_internal.in_segments_up_to(p_base uuid) returns bigint
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select max(b.last) from posting_segments b where b.base_id = p_base and not b.emptied
$$;
comment on function baza_internal.in_segments_up_to is
  'The last passage that is in a segment; null where there is none.';

create or replace function baza_internal.share_outside_segments(p_base uuid) returns double precision
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select least(greatest(b.passages - k.passages, posting_segment_size())::double precision / greatest(b.passages, 1), 1)
  from bases b cross join lateral (
    select coalesce(sum(k.passages), 0) as passages from posting_segments k where k.base_id = p_base and not k.emptied) k
  where b.id = p_base
$$;
comment on function baza_internal.share_outside_segments is
  'The share of the passages of a base that are in no segment; at least one segment, since some may be removed.';

create or replace function baza_internal.writing_key(p_base uuid) returns bigint
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select hashtextextended('passages of ' || p_base, 0) $$;
comment on function baza_internal.writing_key is
  'The key of the advisory lock that writers of passages and postings in a base hold, shared.';

create or replace function baza_internal.begin_writing(p_base uuid) returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$ select pg_advisory_xact_lock_shared(writing_key(p_base)) $$;
comment on function baza_internal.begin_writing is
  'Must be called before the id of a passage is assigned. It blocks nobody; the lock shows in `writers_in` '
  'until the transaction ends.';

create or replace function baza_internal.writers_in(p_base uuid) returns text[]
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select coalesce(array_agg(l.virtualtransaction), '{}') from pg_locks l
  where l.locktype = 'advisory' and (l.classid::bigint << 32 | l.objid::bigint) = writing_key(p_base)
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
$$;
comment on function baza_internal.writers_in is
  'The transactions that are writing passages in a base at this moment, not those that write in other bases.';

create or replace function baza_internal.note_changed_postings(p_held documents) returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select begin_writing(p_held.base_id);
  insert into renamed_documents (document_id, base_id)
  select p_held.id, b.id from bases b
  where b.id = p_held.base_id and (b.passages > passages_without_segments() or in_segments_up_to(b.id) is not null
    or exists (select from posting_segment_plans p where p.base_id = b.id))
  on conflict do nothing
$$;
comment on function baza_internal.note_changed_postings is
  'Notes that the postings of a document change, which may be in a segment or in one that is being made.';

create or replace function baza_internal.add_posting_segment(p_base uuid, p_up_to bigint) returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off
set enable_mergejoin = off set work_mem = '64MB' -- sorting postings by term would take a third of the time
as $$
declare
  many constant int := 1000; -- postings; terms that have more stand in `common_terms`
  next constant int := (select coalesce(max(b.number) + 1, 0) from posting_segments b where b.base_id = p_base);
  size constant int := posting_segment_size();
  total constant bigint := (select b.passages from bases b where b.id = p_base);
  half_at constant double precision := half_per_term(p_base);
  members constant bigint[] := array(
    select c.id from documents_chunks c
    where c.base_id = p_base and c.id > coalesce(in_segments_up_to(p_base), 0) and c.id <= p_up_to
    order by c.id limit size);
begin
  insert into posting_segments (base_id, number, passages, last, base_passages)
  values (p_base, next, cardinality(members), coalesce(members[size], p_up_to), total);
  insert into posting_segment_chunks (base_id, number, place, chunk_id)
  select p_base, next, m.place, m.chunk from unnest(members) with ordinality m (chunk, place);
  insert into posting_segment_terms (base_id, term, number, weights)
  with posting as materialized (
    select t.term, left(t.term, 5) as low, m.place, half_frequency(t.length, half_at) as half, t.frequency, t.titled,
      t.around, t.around_titled
    from (select distinct m.chunk >> 8 as run from unnest(members) m (chunk)) r
    -- By the run alone: without statistics the planner would read all postings of the base for each of them.
    cross join lateral (select * from chunk_terms x where x.run = r.run offset 0) t
    join unnest(members) with ordinality m (chunk, place) on m.chunk = t.chunk_id
    where t.base_id = p_base
  ), given as (
    select p.term, p.place, bm25(in_all(p.frequency, p.titled, p.half), p.half) as score from posting p
    union all
    select p.low || '*', p.place, bm25(in_all(p.around, p.around_titled, p.half), p.half) from posting p
    where p.around > 0 or p.around_titled > 0
  ), asked as (
    select p.term, p.term as low, p.term || chr(1) as high, case when is_word(p.term) then 1 - prefix_share() else 1 end
      as share
    from posting p group by p.term
    union all -- "offset 0": `is_word` is called for each prefix once, not for each posting
    select p.low || '*', p.low, p.low || chr(1114111), prefix_share()
    from (select distinct p.low from posting p offset 0) p
    where is_word(p.low)
  ), weighed as materialized (
    select a.term, a.share * rarity(counted.postings, total) as weight
    from asked a left join common_terms common on common.base_id = p_base and common.term = a.term
    cross join lateral (
      select coalesce(common.postings, (
        select count(*) from (
          select from chunk_terms t where t.base_id = p_base and t.term >= a.low collate "C"
            and t.term < a.high collate "C" limit many) t)) as postings offset 0) counted
  )
  select p_base, g.term, next,
    ('{' || string_agg(g.place || ':' || (w.weight * g.score)::real, ',')
      || '}/' || size)::sparsevec
  from given g join weighed w using (term) group by g.term;
end $$;
comment on function baza_internal.add_posting_segment is
  'Puts the next passages of a base, up to a given one, into a segment.';

create or replace function baza_internal.posting_segment_wanted()
returns table (base_id uuid, worn boolean, up_to bigint, writers text[])
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select b.id, worn.out, p.up_to, p.writers
  from bases b left join posting_segment_plans p on p.base_id = b.id
  cross join lateral (
    select coalesce(sum(k.passages), 0) as passages, coalesce(max(k.last), 0) as last, min(k.base_passages) as least,
      bool_or(k.emptied) as emptied
    from posting_segments k where k.base_id = b.id) placed
  cross join lateral (
    select count(*) as passages from (
      select from documents_chunks c where c.base_id = b.id and c.id > placed.last
        and (b.passages > passages_without_segments() or placed.passages > 0)
      order by c.id limit posting_segment_size()) c) late
  cross join lateral ( -- their passages are in segments, too
    select coalesce(sum(d.chunks), 0) as passages from hidden_documents h join documents d on d.id = h.id
    where h.base_id = b.id) hidden
  cross join lateral (
    select coalesce(sum(d.chunks), 0) as passages from renamed_documents r join documents d on d.id = r.document_id
    where r.base_id = b.id) renamed
  cross join lateral (
    select placed.passages > 0 and (placed.emptied or 1.25 * b.passages <= passages_without_segments()
      or b.passages > 1.5 * placed.least or placed.passages > 1.25 * (b.passages + hidden.passages - late.passages)
      or renamed.passages > 0.25 * placed.passages) as out) worn
  where worn.out or (b.passages > passages_without_segments() and late.passages = posting_segment_size())
  order by b.passages desc
$$;
comment on function baza_internal.posting_segment_wanted is
  'Large bases with enough passages for another segment, and those whose segments are `worn`: many of their '
  'passages were removed or renamed, or so many were added that term weights have changed.';

create or replace function ensure_posting_segments()
returns table (base_id uuid, number int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '15min'
as $$
#variable_conflict use_column
declare
  wanted record;
begin
  if not pg_try_advisory_xact_lock(hashtext('posting_segment_terms')) then -- another worker is at it
    return;
  end if;
  for wanted in select * from posting_segment_wanted() loop
    if wanted.worn then
      delete from posting_segments b where b.base_id = wanted.base_id;
      delete from posting_segment_plans p where p.base_id = wanted.base_id;
      delete from renamed_documents r where r.base_id = wanted.base_id;
    elsif wanted.up_to is null then -- `writers_in` runs later: it sees all who hold ids up to `up_to` and still write
      insert into posting_segment_plans (base_id, up_to, writers)
      select wanted.base_id, max(c.id), writers_in(wanted.base_id)
      from (select c.id from documents_chunks c
        where c.base_id = wanted.base_id and c.id > coalesce(in_segments_up_to(wanted.base_id), 0)
        order by c.id limit posting_segment_size()) c;
    elsif wanted.writers && writers_in(wanted.base_id) then
      continue;
    else
      perform add_posting_segment(wanted.base_id, wanted.up_to);
      delete from posting_segment_plans p where p.base_id = wanted.base_id;
    end if;
    return query select wanted.base_id, max(b.number) from posting_segments b where b.base_id = wanted.base_id;
    return;
  end loop;
end $$;
comment on function ensure_posting_segments is
  'One step of some seconds for the largest base that needs a segment; to be called until no row comes back. Search is '
  'complete at any time.';

create or replace function baza_internal.even_vector(p_number real) returns vector
language plpgsql immutable parallel safe set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  numbers vector := array_fill(p_number, array[125])::vector; -- doubled: filled one by one it takes four times as long
begin
  while vector_dims(numbers) < posting_segment_size() loop
    numbers := numbers || numbers;
  end loop;
  return subvector(numbers, 1, posting_segment_size());
end $$;
comment on function baza_internal.even_vector is 'A vector as long as a segment, the same number everywhere.';

create or replace function baza_internal.bound_above(p_sums vector[], p_wanted int,
  p_highest double precision) returns real
language plpgsql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  low real := 0; -- at least as many as wanted are above it, or there are no more
  high real := p_highest;
  bound real := 0;
  level vector;
  above bigint;
begin
  for step in 1 .. 20 loop
    level := even_vector(bound);
    above := (select sum(bit_count(binary_quantize(s - level))) from unnest(p_sums) s);
    if above >= p_wanted then
      low := bound;
    else
      high := bound;
    end if;
    exit when above between p_wanted and 3 * p_wanted or high <= 0;
    bound := (low + high) / 2;
  end loop;
  return low;
end $$;
comment on function baza_internal.bound_above is
  'By bisection, a bound with about as many sums above it as wanted, or somewhat more; 0 where there are '
  'fewer.';

create or replace function baza_internal.search_posting_segments(p_base uuid, p_terms text[],
  p_highest double precision, p_hidden bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  wanted int := p_limit + p_limit / 2;
  bound real;
  chunks bigint[];
  scores double precision[];
begin
  loop
    with sums as materialized ( -- 32 kB each: gathered in arrays they would be copied again and again
      select t.number, sum(t.weights::vector) as weights
      from unnest(p_terms) w (term) -- "offset 0": looked up by key, also while the table has no statistics
      cross join lateral (select * from posting_segment_terms x where x.base_id = p_base and x.term = w.term offset 0) t
      group by t.number
    ), found as materialized ( -- one bound for all, by a quarter of the segments, or six: by three it is often too high
      select bound_above(array_agg(s.weights), ceil(wanted * count(*)::real / max(counted.segments))::int, p_highest)
        as bound
      from sums s cross join (select count(*) as segments from sums) counted
      where s.number % least(4, greatest(1, counted.segments / 6)) = 0
    ), level as materialized (
      select f.bound, even_vector(f.bound) as even from found f
    ), above as ( -- 1 bits are above the bound: the bits as text, split at each 1; the lengths add up to the places
      select s.number, s.weights, z.place
      from sums s cross join level cross join lateral (
        select (sum(octet_length(z.zeros)) over (order by z.n) + z.n)::int as place
        from unnest(string_to_array(binary_quantize(s.weights - level.even)::text, '1')) with ordinality z (zeros, n)) z
      where z.place <= posting_segment_size()
    ), best as (
      select p.chunk_id, (subvector(a.weights, a.place, 1)::real[])[1]::double precision as score
      from above a cross join lateral (
        select * from posting_segment_chunks x
        where x.base_id = p_base and x.number = a.number and x.place = a.place offset 0) p
      where p.chunk_id not in (select unnest(p_hidden))
        and exists (select from documents_chunks c where c.id = p.chunk_id and c.base_id = p_base)
      order by score desc, p.chunk_id limit p_limit
    )
    select array_agg(best.chunk_id), array_agg(best.score), (select f.bound from found f) into chunks, scores, bound
    from best;
    exit when bound <= 0 or cardinality(chunks) >= p_limit;
    wanted := 4 * wanted;
  end loop;
  return query select * from unnest(chunks, scores);
end $$;
comment on function baza_internal.search_posting_segments is
  'The best passages that are in segments, by the sums of the weights of their terms. Removed passages keep '
  'their places: where they took too many, a lower bound is sought.';

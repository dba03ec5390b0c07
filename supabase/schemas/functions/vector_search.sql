-- What is searchable, and the search by vector. In: a base and a query vector. Out: the nearest passages.
-- The search by words is in term_search.sql, both together in search.sql. Only visible documents are seen.
-- A base of up to `exact_scan_limit` passages is scanned whole. For a larger one the worker makes a segment
-- (vector_segments.sql): each vector binary-quantised to some thousand bits. All bits are compared, then the nearest
-- hundreds by their vectors;
-- passages that came since are scanned as well. So writers need not maintain an index, and no result depends on how a
-- graph was walked. A process that keeps a copy of a segment in memory passes the candidates nearest by their bits.

create or replace function baza_internal.exact_scan_limit() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 5000 $$;
comment on function baza_internal.exact_scan_limit is
  'Up to this many passages are scanned one by one, which is exact and takes 6 ms; for more, segments are '
  'faster.';

create or replace function baza_internal.scan_vectors(p_base uuid, p_embedding halfvec, p_model text,
  p_within uuid[], p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
begin
  return query
  select c.id, c.embedding <=> p_embedding
  from documents_chunks c
  where c.base_id = p_base and c.model = p_model and c.embedding is not null
    and c.document_id not in (select h.id from hidden_documents h where h.base_id = p_base)
    and (p_within is null or c.document_id = any (p_within))
  order by c.embedding <=> p_embedding, c.id
  limit p_limit;
end $$;
comment on function baza_internal.scan_vectors is
  'The nearest passages by reading every vector of the base, through the index: a sequential or bitmap scan '
  'takes half as long again.';

create or replace function baza_internal.scan_documents(p_base uuid, p_embedding halfvec, p_model text,
  p_documents uuid[], p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  select c.id, c.embedding <=> p_embedding
  from documents d cross join lateral (select * from documents_chunks x where x.document_id = d.id offset 0) c
  where d.id = any (p_documents) and d.base_id = p_base and d.visible
    and c.model = p_model and c.embedding is not null
  order by c.embedding <=> p_embedding, c.id
  limit p_limit;
end $$;
comment on function baza_internal.scan_documents is
  'The nearest passages of some documents by reading all their vectors.';

create or replace function baza_internal.quantised(p_embedding halfvec, p_thresholds halfvec[]) returns bit varying
language plpgsql immutable strict parallel safe set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  bits bit varying := '';
  threshold halfvec;
begin
  foreach threshold in array p_thresholds loop
    bits := bits || binary_quantize(subvector(p_embedding, 1, vector_dims(threshold)) - threshold);
  end loop;
  return bits;
end $$;
comment on function baza_internal.quantised is
  'A bit for each threshold and each number of the vector. The more bits two vectors share, the nearer they '
  'are.';

create or replace function baza_internal.scan_segment(p_base uuid, p_segment text, p_bits bit varying,
  p_embedding halfvec, p_model text,
  p_within uuid[], p_count int, p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp
set jit = off set max_parallel_workers_per_gather = 1
as $$
declare
  distances constant text := (
    select string_agg(format('s.b%s <~> $1::bit(%s)', n, length(p_bits)), ', ') from generate_series(1, 10) n);
  asked constant text := format(
    'with sampled as materialized ( '
    '  select least(%2$s) as closest from segments.%1$I s tablesample system ($8) repeatable (0) '
    '  where $2 is null or s.document_id = any ($2) order by closest limit 20), '
    'bound as materialized ( '
    '  select case when count(*) = 20 then max(n.closest) else ''infinity'' end as distance from sampled n), '
    'near as materialized ( '
    '  select u.chunk from ( '
    '    select unnest(s.chunks) as chunk, unnest(array[%2$s]) as distance from segments.%1$I s '
    '    where ($2 is null or s.document_id = any ($2)) and least(%2$s) <= (select bound.distance from bound)) u '
    '  where u.distance <= (select bound.distance from bound) order by u.distance limit $3), '
    'compared as materialized ( ' -- fetched at once: one by one takes twice as long
    '  select c.id, c.embedding <=> $4 as distance '
    '  from (select * from documents_chunks x where x.id = any (array(select n.chunk from near n)) offset 0) c '
    '  where c.base_id = $5 and c.model = $6 and c.embedding is not null '
    '    and c.document_id not in (select h.id from hidden_documents h where h.base_id = $5)) '
    'select (select bound.distance = ''infinity'' from bound) and (select count(*) from near) < $3, '
    '  (select count(*) from compared), '
    '  array_agg(best.id), array_agg(best.distance) '
    'from (select * from compared order by distance, id limit $7) best', p_segment, distances);
  wanted int := p_count;
  everything boolean;
  compared bigint;
  chunks bigint[];
  nearness double precision[];
begin
  loop
    execute asked into everything, compared, chunks, nearness
    using p_bits, p_within, wanted, p_embedding, p_base, p_model, p_limit, least(100, 1333.0 / wanted)::real;
    exit when compared * 4 >= p_count * 3 or everything;
    wanted := wanted * 4;
  end loop;
  return query select * from unnest(chunks, nearness);
end $$;
comment on function baza_internal.scan_segment is
  'The nearest among the `p_count` passages whose bits are nearest, of documents that may be seen. The '
  'twentieth nearest row of a sample bounds the distance: half as many again as wanted are expected within it, and '
  'nothing further away is sorted. A row counts by the best of its ten passages. Removed passages are still in the '
  'segment: where they took more than a quarter of the places, more candidates are taken.';

create or replace function baza_internal.compare_chunks(p_base uuid, p_chunks bigint[], p_embedding halfvec,
  p_model text, p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  with compared as materialized ( -- fetched at once: one by one takes twice as long
    select c.id, c.embedding <=> p_embedding as distance
    from (select * from documents_chunks x where x.id = any (p_chunks) offset 0) c
    where c.base_id = p_base and c.model = p_model and c.embedding is not null
      and c.document_id not in (select h.id from hidden_documents h where h.base_id = p_base)
  )
  select compared.id, compared.distance from compared
  where (select count(*) from compared) * 4 >= cardinality(p_chunks) * 3
  order by compared.distance, compared.id limit p_limit;
end $$;
comment on function baza_internal.compare_chunks is
  'The nearest of these passages of the base; none where more than a quarter of them are gone, because other '
  'candidates should have been compared then.';

create or replace function baza_internal.search_vectors(p_base uuid, p_embedding halfvec, p_model text,
  p_within uuid[], p_limit int,
  p_near bigint[] default null, p_near_segment text default null, p_near_row bigint default null)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  segment constant vector_segments := (select s from vector_segments s where s.base_id = p_base and s.model = p_model);
  present bigint;
  effort int;
  chunks bigint[];
  distances double precision[];
begin
  if p_embedding is null then
    return;
  elsif coalesce(segment.thresholds, '{}') = '{}' then
    return query select * from scan_vectors(p_base, p_embedding, p_model, p_within, p_limit);
    return;
  elsif (select sum(d.chunks) from documents d where d.id = any (p_within)) <= exact_scan_limit() then
    return query select * from scan_documents(p_base, p_embedding, p_model, p_within, p_limit);
    return;
  elsif p_within is null and segment.name = p_near_segment and segment.last_row = p_near_row then
    select array_agg(chunk_id), array_agg(distance) into chunks, distances
    from compare_chunks(p_base, p_near, p_embedding, p_model, p_limit);
  end if;
  if chunks is null then
    -- How many candidates are compared by their vectors. Of 500,000 made vectors the best 700 by 1,024 bits hold .997
    -- of the nearest thirty; of 13,630 by MiniLM the best 330 .988, 500 .995. More where removed passages take places.
    present := (select b.passages from bases b where b.id = p_base);
    effort := greatest(17 * p_limit, 500 + least(present / 500, 150 + present / 2000))
      * least(greatest(1, segment.passages / greatest(1, present)::real), 4);
    begin
      select array_agg(chunk_id), array_agg(distance) into chunks, distances from scan_segment(
        p_base, segment.name, quantised(p_embedding, segment.thresholds), p_embedding, p_model, p_within, effort,
        p_limit);
    exception when undefined_table then -- dropped since this search began: all is scanned below
    end;
  end if;
  with found as (
    select * from unnest(chunks, distances) known (chunk_id, distance)
    union all
    select * from scan_documents(p_base, p_embedding, p_model, array(
      select d.id from documents d where d.base_id = p_base and d.chunks > 0 and not d.in_segment
        and (p_within is null or d.id = any (p_within))), p_limit)
    order by 2, 1 limit p_limit
  )
  select array_agg(chunk_id), array_agg(distance) into chunks, distances from found;
  if coalesce(cardinality(chunks), 0) < p_limit then -- some were removed during the search
    return query select * from scan_vectors(p_base, p_embedding, p_model, p_within, p_limit);
  else
    return query select * from unnest(chunks, distances);
  end if;
end $$;
comment on function baza_internal.search_vectors is
  'The nearest passages of a base among those that this model embedded: by the segment and what came since; by '
  'a full scan where there is no segment, where a filter leaves few, and where the segment gave too few. `p_near` are '
  'the '
  'candidates of a copy of the segment `p_near_segment` up to its place `p_near_row`; where nothing was put there '
  'since, '
  'they spare comparing the bits.';

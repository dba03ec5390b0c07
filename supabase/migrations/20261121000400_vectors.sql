-- What can be found, and the search by vector. In: a base and a query vector. Out: the nearest passages.
-- The leg of words is in 000410, both together in 000420. Only visible documents are seen.
-- A base of up to `exact_scan_limit` passages is read whole. Of a larger one the worker makes a shelf (000405): a copy of
-- its vectors with an HNSW graph of their own; what came since is read whole beside it. So no index is met by whoever
-- writes, no lock holds writing up, and the graph of a base knows no passage of another.

set search_path = public, extensions;
select '[1]'::vector; -- load pgvector: a non-superuser may not name hnsw.* in a function before

create view passages with (security_invoker = true) as
select c.id as chunk_id, c.base_id, c.document_id, c.ordinal, d.title, d.source_type, d.known_as as source_identifier,
  c.text, c.locator, d.published_at, d.source_url as url, d.author,
  d.status as document_status, d.chunks as searchable, d.progress_total
from documents_chunks c join documents d on d.id = c.document_id
where d.visible;
comment on view passages is
  'What can be found: the chunks of ready documents, and of those that are being read as far as they are, with what a '
  'citation needs. Of `progress_total` passages that a document will have, `searchable` are there.';

create view hidden_documents with (security_invoker = true) as
select d.id, d.base_id from documents d
where d.chunks > 0 and not d.visible;
comment on view hidden_documents is
  'Documents that have chunks which must not be found. Mostly none, so that leaving them out costs less than asking '
  'of each chunk whether its document is ready.';

create table vector_shelves (
  base_id   uuid primary key references bases on delete cascade,
  name      text not null unique,          -- of the table in the schema `shelves`
  model     text not null,                 -- that made the vectors on it
  passages  bigint not null                -- that were put there
);
comment on table vector_shelves is 'Which table holds the vectors of a large base once more, with an index.';

create function exact_scan_limit() returns int
language sql immutable security invoker set search_path = public, extensions, pg_temp
as $$ select 10000 $$;
comment on function exact_scan_limit is
  'Internal: up to so many passages are read one by one, which is complete and takes 15 ms; of more, an index is faster.';

create function scan_vectors(p_base uuid, p_embedding halfvec, p_model text, p_within uuid[], p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 security invoker set search_path = public, extensions, pg_temp set jit = off
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
comment on function scan_vectors is 'Internal: the nearest passages by reading every vector of the base.';

create function scan_documents(p_base uuid, p_embedding halfvec, p_model text, p_documents uuid[], p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 security invoker set search_path = public, extensions, pg_temp set jit = off
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
comment on function scan_documents is 'Internal: the nearest passages of some documents by reading every vector of theirs.';

create function walk_vectors(p_shelf text, p_effort int, p_embedding halfvec, p_within uuid[], p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 security invoker
set search_path = public, extensions, pg_temp set jit = off
set hnsw.iterative_scan = strict_order set hnsw.ef_search = 300
set enable_bitmapscan = off set enable_seqscan = off set enable_sort = off
as $$
begin
  perform set_config('hnsw.ef_search', p_effort::text, true); -- until the function ends, because it sets it itself
  return query execute format(
    'select s.chunk_id, s.embedding <=> $1 from shelves.%I s '
    'cross join lateral (select from documents d where d.id = s.document_id and d.visible offset 0) seen '
    'where $2 is null or s.document_id = any ($2) '
    'order by s.embedding <=> $1 limit $3', p_shelf) using p_embedding, p_within, p_limit;
end $$;
comment on function walk_vectors is
  'Internal: the nearest passages on a shelf by its HNSW index, walked on until enough are found of documents that may be '
  'seen: those that left meanwhile still stand there.';

create function search_vectors(p_base uuid, p_embedding halfvec, p_model text, p_within uuid[], p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 security invoker set search_path = public, extensions, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  shelf constant text := (select s.name from vector_shelves s where s.base_id = p_base and s.model = p_model);
  -- How many candidates a walk keeps. Of 50,000 passages 200 find .985 of the nearest thirty, 300 .995, 400 .999; a
  -- larger graph needs more.
  effort constant int := case when (select b.passages from bases b where b.id = p_base) <= 100000 then 300 else 600 end;
  chunks bigint[];
  distances double precision[];
begin
  if p_embedding is null then
    return;
  elsif shelf is null then
    return query select * from scan_vectors(p_base, p_embedding, p_model, p_within, p_limit);
    return;
  elsif (select sum(d.chunks) from documents d where d.id = any (p_within)) <= exact_scan_limit() then
    return query select * from scan_documents(p_base, p_embedding, p_model, p_within, p_limit);
    return;
  end if;
  with found as (
    select * from walk_vectors(shelf, effort, p_embedding, p_within, p_limit)
    union all
    select * from scan_documents(p_base, p_embedding, p_model, array(
      select d.id from documents d where d.base_id = p_base and d.chunks > 0 and not d.shelved
        and (p_within is null or d.id = any (p_within))), p_limit)
    order by 2, 1 limit p_limit
  )
  select array_agg(chunk_id), array_agg(distance) into chunks, distances from found;
  if coalesce(cardinality(chunks), 0) < p_limit then -- a graph is walked so far and no farther
    return query select * from scan_vectors(p_base, p_embedding, p_model, p_within, p_limit);
  else
    return query select * from unnest(chunks, distances);
  end if;
end $$;
comment on function search_vectors is
  'Internal: the nearest passages of a base among those that this model embedded: by the shelf and what came since; by '
  'reading all where there is no shelf, where a filter leaves few, and where the graph gave too few.';

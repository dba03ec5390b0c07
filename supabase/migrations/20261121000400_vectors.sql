-- What can be found, and the search by vector. In: a base and a query vector. Out: the nearest passages.
-- The leg of words is in 000410, both together in 000420. Only visible documents are seen.

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

create function exact_scan_limit() returns int
language sql immutable security invoker set search_path = public, extensions, pg_temp
as $$ select 20000 $$;
comment on function exact_scan_limit is
  'Internal: up to so many passages a base is scanned exactly, which is complete and fast; above it an index is faster.';

create function ensure_vector_index()
returns table (largest_base bigint, created boolean)
language plpgsql security definer
set search_path = public, extensions, pg_temp set maintenance_work_mem = '256MB' set statement_timeout = '15min'
as $$
declare
  largest constant bigint := coalesce((select max(b.passages) from bases b), 0);
  wanted constant boolean := largest > exact_scan_limit()
    and to_regclass('public.documents_chunks_embedding') is null;
begin
  if wanted then
    create index documents_chunks_embedding on documents_chunks using hnsw (embedding halfvec_cosine_ops);
  end if;
  return query select largest, wanted;
end $$;
comment on function ensure_vector_index is
  'Makes the HNSW index once a base is too large for an exact scan. Not before: measured on 1024 dimensions, inserting '
  '2,000 chunks takes 20 s with the index and 0.24 s without. Until then search stays exact. Security definer, because '
  'only the owner of a table may index it; writing waits while the index is made.';

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
  order by (c.embedding <=> p_embedding) + 0, c.id -- "+ 0": the planner must not reach for the HNSW index here
  limit p_limit;
end $$;
comment on function scan_vectors is 'Internal: the nearest passages by reading every vector of the base.';

create function walk_vectors(p_base uuid, p_embedding halfvec, p_model text, p_within uuid[], p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 security invoker
set search_path = public, extensions, pg_temp set jit = off
set hnsw.iterative_scan = strict_order set hnsw.ef_search = 200
set enable_bitmapscan = off set enable_seqscan = off set enable_sort = off
as $$
begin
  return query
  select c.id, c.embedding <=> p_embedding
  from documents_chunks c
  where c.base_id = p_base and c.model = p_model and c.embedding is not null
    and c.document_id not in (select h.id from hidden_documents h where h.base_id = p_base)
    and (p_within is null or c.document_id = any (p_within))
  order by c.embedding <=> p_embedding limit p_limit;
end $$;
comment on function walk_vectors is
  'Internal: the nearest passages by the HNSW index, walked on until the base has given enough.';

create function search_vectors(p_base uuid, p_embedding halfvec, p_model text, p_within uuid[], p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 security invoker set search_path = public, extensions, pg_temp set jit = off
as $$
begin
  if p_embedding is null then
    return;
  elsif to_regclass('public.documents_chunks_embedding') is not null
    and (select b.passages from bases b where b.id = p_base) > exact_scan_limit()
  then
    return query select * from walk_vectors(p_base, p_embedding, p_model, p_within, p_limit);
  else
    return query select * from scan_vectors(p_base, p_embedding, p_model, p_within, p_limit);
  end if;
end $$;
comment on function search_vectors is 'Internal: the nearest passages of a base among those that this model embedded.';

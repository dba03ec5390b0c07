-- Search in one base, by vector and by words at once. In: a base, a query vector and terms. Out: passages with scores.
-- Only visible documents are seen. Reads one snapshot, so that a publication is found whole or not at all.

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

create function scan_vectors(p_base uuid, p_embedding halfvec, p_model text, p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 security invoker set search_path = public, extensions, pg_temp set jit = off
as $$
#variable_conflict use_column
begin
  return query
  select c.id, c.embedding <=> p_embedding
  from documents_chunks c
  where c.base_id = p_base and c.model = p_model
    and c.document_id not in (select h.id from hidden_documents h where h.base_id = p_base)
  order by (c.embedding <=> p_embedding) + 0, c.id -- "+ 0": the planner must not reach for the HNSW index here
  limit p_limit;
end $$;
comment on function scan_vectors is 'Internal: the nearest passages by reading every vector of the base.';

create function walk_vectors(p_base uuid, p_embedding halfvec, p_model text, p_limit int)
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
  where c.base_id = p_base and c.model = p_model
    and c.document_id not in (select h.id from hidden_documents h where h.base_id = p_base)
  order by c.embedding <=> p_embedding limit p_limit;
end $$;
comment on function walk_vectors is
  'Internal: the nearest passages by the HNSW index, walked on until the base has given enough.';

create function search_vectors(p_base uuid, p_embedding halfvec, p_model text, p_limit int)
returns table (chunk_id bigint, distance double precision)
language plpgsql stable rows 30 security invoker set search_path = public, extensions, pg_temp set jit = off
as $$
begin
  if p_embedding is null then
    return;
  elsif to_regclass('public.documents_chunks_embedding') is not null
    and (select b.passages from bases b where b.id = p_base) > exact_scan_limit()
  then
    return query select * from walk_vectors(p_base, p_embedding, p_model, p_limit);
  else
    return query select * from scan_vectors(p_base, p_embedding, p_model, p_limit);
  end if;
end $$;
comment on function search_vectors is 'Internal: the nearest passages of a base among those that this model embedded.';

create function search_terms(p_base uuid, p_terms text[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 security invoker set search_path = public, extensions, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  -- Robertson and Zaragoza's BM25 with the usual settings.
  k1 constant double precision := 1.2;
  b constant double precision := 0.75;
  total double precision;
  average double precision;
begin
  select x.passages, greatest(x.terms, 1)::double precision / greatest(x.passages, 1) into total, average
  from bases x where x.id = p_base;
  return query
  with hidden as materialized (
    select c.id from hidden_documents h join documents_chunks c on c.document_id = h.id where h.base_id = p_base
  ), rarity as materialized (
    select t.term, ln(1 + greatest(total - count(*) + 0.5, 0) / (count(*) + 0.5)) as idf
    from chunk_terms t
    where t.base_id = p_base and t.term = any (p_terms) and t.chunk_id not in (select h.id from hidden h)
    group by t.term
  )
  select t.chunk_id,
    sum(r.idf * t.frequency * (k1 + 1) / (t.frequency + k1 * (1 - b + b * t.length / average))) as score
  from chunk_terms t join rarity r on r.term = t.term
  where t.base_id = p_base and t.term = any (p_terms) and t.chunk_id not in (select h.id from hidden h)
  group by t.chunk_id
  order by score desc, t.chunk_id limit p_limit;
end $$;
comment on function search_terms is
  'Internal: passages by BM25 over the postings of the base; a term asked twice counts once.';

create function search(p_base text, p_embedding text, p_model text, p_terms text[], p_limit int)
returns table (chunk_id bigint, document_id uuid, ordinal int, title text, source_type text, source_identifier text,
  text text, locator jsonb, published_at timestamptz, url text, author text, document_status text, searchable int,
  progress_total int, similarity double precision, bm25 double precision)
language plpgsql stable security invoker set search_path = public, extensions, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  query_vector constant halfvec := p_embedding::halfvec(1024);
begin
  return query
  with found as (
    select chunk_id, words.score from search_vectors(p_base::uuid, query_vector, p_model, p_limit)
    full join search_terms(p_base::uuid, p_terms, p_limit) words using (chunk_id)
  )
  select c.id, c.document_id, c.ordinal, d.title, d.source_type, d.known_as, c.text, c.locator, d.published_at,
    d.source_url, d.author, d.status, d.chunks, d.progress_total,
    case when c.model = p_model then nullif(1 - (c.embedding <=> query_vector), 'NaN') end, -- NaN: a vector of zeros
    found.score
  from found
  -- "offset 0": each is looked up by its key. Of a base without statistics the planner expects one row, and would
  -- read all of it again, which takes longer than finding did.
  cross join lateral (select * from documents_chunks x where x.id = found.chunk_id offset 0) c
  join documents d on d.id = c.document_id
  where c.base_id = p_base::uuid and d.visible;
end $$;
comment on function search is
  'Up to `p_limit` passages of each leg, each passage once. `similarity` (cosine) is there for all that the vector can '
  'be compared with, `bm25` for those that the words found. A leg without vector or terms is left out.';

create function passage(p_base text, p_chunk bigint)
returns setof passages
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select * from passages p where p.base_id = p_base::uuid and p.chunk_id = p_chunk
$$;
comment on function passage is 'One passage of this base, or none.';

create function holds_documents(p_base text)
returns table (base_id uuid, holds boolean)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select b.id, b.passages > 0 from bases b where b.id = p_base::uuid
$$;
comment on function holds_documents is 'Whether anything in the base can be found.';

-- Passages with their vectors and postings. In: a batch of them, under the lease of their document (see queue.sql). Out:
-- rows of `documents_chunks` and `chunk_terms`, and which chunks of an earlier attempt are kept.
create or replace function keep_chunks(p_document text, p_lease text, p_model text, p_digests text[])
returns table (id uuid, kept int[])
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
  remaining record;
begin
  delete from documents_chunks c
  where c.document_id = held.id and not exists (
    select from unnest(p_digests) with ordinality as wanted (digest, place)
    where wanted.place = c.ordinal + 1 and wanted.digest = md5(c.text) and c.model = p_model);
  select coalesce(array_agg(c.ordinal order by c.ordinal), '{}') as ordinals, count(*) as chunks,
    coalesce(sum(c.length), 0) as terms into remaining
  from documents_chunks c where c.document_id = held.id;
  update documents d set chunks = remaining.chunks, terms = remaining.terms where d.id = held.id;
  return query select held.id, remaining.ordinals;
end $$;
comment on function keep_chunks is
  'Keeps the chunks of an earlier attempt that have this model and these digests (md5 of the text, by ordinal), so '
  'that none is embedded twice; removes the rest. Returns the ordinals that were kept.';

create or replace function baza_internal.put_chunks(p_held documents, p_chunks jsonb, p_embeddings halfvec[])
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  gone record;
  ids bigint[]; -- by the position of the passage in this batch
  lengths int[];
begin
  perform begin_writing(p_held.base_id);
  if p_held.chunks > 0 then
    with old as (
      delete from documents_chunks c
      where c.document_id = p_held.id
        and c.ordinal in (select (g ->> 'ordinal')::int from jsonb_array_elements(p_chunks -> 'chunks') g)
      returning c.length
    )
    select count(*) as chunks, coalesce(sum(old.length), 0) as terms into gone from old;
    p_held.chunks := p_held.chunks - gone.chunks;
    p_held.terms := p_held.terms - gone.terms;
  end if;

  with chunk as materialized (
    select c.* from rows from (jsonb_to_recordset(p_chunks -> 'chunks') as (ordinal int, text text, span_start int,
      span_end int, locator jsonb, length int, model text, vector int)) with ordinality
      as c (ordinal, text, span_start, span_end, locator, length, model, vector, place)
  ), stored as (
    insert into documents_chunks as s (base_id, document_id, ordinal, text, span_start, span_end, locator, length,
      model, embedding)
    select p_held.base_id, p_held.id, c.ordinal, c.text, c.span_start, c.span_end, c.locator, c.length, c.model,
      e.embedding
    from chunk c left join unnest(p_embeddings) with ordinality e (embedding, place) on e.place = c.vector
    returning s.id, s.ordinal
  )
  select array_agg(s.id order by c.place), array_agg(c.length order by c.place) into ids, lengths
  from stored s join chunk c on c.ordinal = s.ordinal;

  insert into chunk_terms (base_id, term, chunk_id, frequency, around, length, titled, around_titled, spread)
  select p_held.base_id, p.term, ids[p.numbers & 65535], (p.numbers >> 16 & 127)::int::"char",
    (p.numbers >> 23 & 127)::int::"char", least(lengths[p.numbers & 65535], 32767),
    (p.numbers >> 30 & 127)::int::"char", (p.numbers >> 37 & 127)::int::"char", p.numbers >> 44
  from ( -- set-returning functions in `from` would materialise each column as a whole first
    select unnest(string_to_array(p_chunks ->> 'terms', E'\n')) as term,
      unnest((p_chunks ->> 'postings')::bigint[]) as numbers
  ) p;

  p_held.chunks := p_held.chunks + coalesce(cardinality(ids), 0);
  p_held.terms := p_held.terms + (select coalesce(sum(l), 0) from unnest(lengths) l);
  return p_held;
end $$;
comment on function baza_internal.put_chunks is
  'Stores chunks with their vectors and postings, replacing those of the same ordinal; returns the document '
  'with its new counts, which the caller stores. Postings come '
  'in the order of the index, so that neighbours land on one page, and six numbers are packed into one (from the '
  'lowest bit: 16 for the place of the chunk, 7 each for `frequency`, `around`, `titled` and `around_titled`, 15 for '
  '`spread` in this batch, see `chunk_terms`): six arrays take longer to read.';

create or replace function baza_internal.count_spread(p_held documents) returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  first constant bigint := (select c.id from documents_chunks c where c.document_id = p_held.id and c.ordinal = 0);
begin
  update chunk_terms t set spread = least(s.chunks, 32767)
  from (
    select x.term, count(*) as chunks from chunk_terms x
    where x.chunk_id = any (array(select c.id from documents_chunks c where c.document_id = p_held.id))
    group by x.term) s
  where t.chunk_id = first and t.term = s.term and t.spread <> least(s.chunks, 32767);
end $$;
comment on function baza_internal.count_spread is
  'Counts `spread` in the postings of the first chunk: of a document that was stored in batches, or renamed.';

create or replace function add_chunks(p_document text, p_lease text, p_chunks text, p_embeddings halfvec[])
returns table (id uuid, searchable int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  held documents := held_document(p_document, p_lease);
  was_visible constant boolean := held.visible;
begin
  held := put_chunks(held, p_chunks::jsonb, p_embeddings);
  -- The last batch does not make it visible: it is published next.
  held.visible := (was_visible or held.chunks < held.progress_total) and may_be_found(held);
  update documents d set chunks = held.chunks, terms = held.terms, visible = held.visible where d.id = held.id;
  if held.visible <> was_visible then
    perform touch_batch(held.batch_id);
  end if;
  return query select held.id, case when held.visible then held.chunks else 0 end;
end $$;
comment on function add_chunks is
  'Stores some chunks with their vectors and postings; an ordinal that is there already is replaced. They are '
  'searchable from now on, unless another document conflicts (`may_be_found`).';

-- Moving a base to another embedding model (`baza reindex`). In: new vectors, document by document. Out: the base has
-- switched to them at once. Until then they are stored beside the old ones, which search uses meanwhile. Progress is
-- not recorded: what remains are the passages with neither the new model nor a new vector.

create or replace function baza_internal.outdated_chunks(p_base uuid, p_model text)
returns setof documents_chunks
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select c.* from documents_chunks c
  where c.base_id = p_base and c.model <> p_model
    and not exists (select from next_vectors n where n.chunk_id = c.id and n.model = p_model)
    and exists (select from documents d where d.id = c.document_id and d.status = 'ready')
$$;
comment on function baza_internal.outdated_chunks is
  'Passages of ready documents for which this model has no vector yet. Documents in work are taken later.';

create or replace function outdated_bases(p_model text, p_name text)
returns table (id uuid, name text, passages bigint, waiting bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select b.id, b.name, b.passages, (select count(*) from outdated_chunks(b.id, p_model)) from bases b
  where (p_name is null or b.name = p_name and b.kind = 'named') and exists (
    select from documents_chunks c join documents d on d.id = c.document_id
    where c.base_id = b.id and c.model <> p_model and d.status = 'ready')
  order by b.id limit 500
$$;
comment on function outdated_bases is
  'Bases with passages of another model; all of them, or the one of this name. `waiting` passages have no vector of '
  'this model yet.';

create or replace function named_bases(p_name text)
returns table (name text)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select b.name from bases b
  where b.kind = 'named' and exists (select from documents d where d.base_id = b.id)
  order by b.name <> p_name, b.name limit 20
$$;
comment on function named_bases is
  'Some names of bases of the command line that something was added to, the requested one first if it exists: so a '
  'mistyped name can be reported.';

create or replace function outdated_documents(p_base text, p_model text, p_person bigint default null)
returns table (document_id uuid)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'own');
  select distinct c.document_id from outdated_chunks(p_base::uuid, p_model) c order by 1 limit 500
$$;
comment on function outdated_documents is 'Documents of the base with passages for which this model has no vector yet.';

create or replace function chunks_to_embed(p_base text, p_document text, p_model text, p_after int, p_limit int,
  p_person bigint default null)
returns table (id bigint, ordinal int, chunk jsonb, embedded boolean)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'own');
  select c.id, c.ordinal, jsonb_build_object('ordinal', c.ordinal, 'text', c.text, 'locator', c.locator,
      'span', jsonb_build_object('start', c.span_start, 'end', c.span_end)),
    c.model = p_model or exists (select from next_vectors n where n.chunk_id = c.id and n.model = p_model)
  from documents_chunks c
  where c.base_id = p_base::uuid and c.document_id = p_document::uuid and c.ordinal > p_after
  order by c.ordinal limit p_limit
$$;
comment on function chunks_to_embed is
  'Passages of a document of this base as they were cut, after an ordinal, and whether the model has embedded them.';

create or replace function store_next_vectors(p_base text, p_model text, p_vectors text, p_person bigint default null)
returns table (stored bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform require(p_base, p_person, 'own');
  insert into next_vectors (chunk_id, base_id, model, embedding)
  select c.id, c.base_id, p_model, v.embedding::halfvec(1024)
  from jsonb_to_recordset(p_vectors::jsonb) v (chunk_id bigint, embedding text)
  join documents_chunks c on c.id = v.chunk_id and c.base_id = p_base::uuid
  order by c.id for key share of c -- waits for a deletion under way, and then does not find the passage
  on conflict (chunk_id) do update set model = excluded.model, embedding = excluded.embedding;
  return query select count(*) from jsonb_to_recordset(p_vectors::jsonb) v (chunk_id bigint);
end $$;
comment on function store_next_vectors is
  'Stores new vectors beside the old ones; skips a passage that was deleted meanwhile.';

create or replace function switch_model(p_base text, p_model text, p_person bigint default null)
returns table (missing bigint, switched bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
declare
  absent bigint;
  changed bigint;
begin
  perform require(p_base, p_person, 'own');
  perform lock_base(p_base::uuid); -- nothing becomes ready meanwhile
  absent := (select count(*) from outdated_chunks(p_base::uuid, p_model));
  if absent > 0 then
    return query select absent, 0::bigint;
    return;
  end if;
  perform pg_advisory_xact_lock(hashtext('vector_segments')); -- nobody fills a segment meanwhile
  update documents d set in_segment = false -- a segment of this model stays, and lacks the new vectors
  from next_vectors n join documents_chunks c on c.id = n.chunk_id
  where n.base_id = p_base::uuid and n.model = p_model and d.id = c.document_id and d.in_segment;
  update documents_chunks c set embedding = n.embedding, model = n.model
  from next_vectors n where n.chunk_id = c.id and n.base_id = p_base::uuid and n.model = p_model;
  get diagnostics changed = row_count;
  delete from next_vectors n where n.base_id = p_base::uuid;
  delete from vector_segments s where s.base_id = p_base::uuid and s.model <> p_model;
  return query select 0::bigint, changed;
end $$;
comment on function switch_model is
  'Gives the base its new vectors. When some are missing, changes nothing and returns how many.';

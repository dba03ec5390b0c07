-- What a worker found in a document. In: hash, blocks, chunks, or the reason why there are none. Out: its state.
-- Everything here is called under a lease (see 000300) and unseen by readers until `publish_document`.

create function ready_twin(p_base uuid, p_content_hash text)
returns table (id uuid, title text, chunks int, created_at timestamptz)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select d.id, d.title, d.chunks, d.created_at from documents d
  where d.base_id = p_base and d.content_hash = p_content_hash and d.status = 'ready'
$$;
comment on function ready_twin is 'Internal: the ready document of this base with this very content, if any.';

create function finish_if_duplicate(p_document uuid, p_base uuid, p_content_hash text)
returns table (duplicate_of uuid, chunks int)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  twin record;
begin
  select * into twin from ready_twin(p_base, p_content_hash);
  if not found then
    return;
  end if;
  perform finish_document(p_document, 'duplicate', 'duplicate',
    jsonb_build_object('document_id', twin.id, 'title', twin.title, 'created_at', twin.created_at), null);
  return query select twin.id, twin.chunks;
end $$;
comment on function finish_if_duplicate is
  'Internal: ends the work on a document whose content is ready in the base already; no row when it is not.';

create function record_content(p_document text, p_lease text, p_content_hash text)
returns table (duplicate_of uuid, chunks int)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  held constant documents := held_document(p_document, p_lease);
begin
  update documents d set content_hash = p_content_hash where d.id = held.id;
  return query select * from finish_if_duplicate(held.id, held.base_id, p_content_hash);
end $$;
comment on function record_content is
  'Notes the hash of the content. A row comes back when the base holds the same: this one is its duplicate now.';

create function store_blocks(p_document text, p_lease text, p_parsed text)
returns table (id uuid, blocks bigint)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  held constant documents := held_document(p_document, p_lease);
  parsed constant jsonb := p_parsed::jsonb;
begin
  delete from document_blocks where document_id = held.id;
  insert into document_blocks (document_id, ordinal, kind, level, text, locator)
  select held.id, b.place - 1, b.kind, b.level, b.text, b.locator
  from rows from (jsonb_to_recordset(parsed -> 'blocks') as (kind text, level int, text text, locator jsonb))
    with ordinality as b (kind, level, text, locator, place);
  update documents d
  set title = parsed ->> 'title', language = parsed ->> 'language', pages = (parsed ->> 'pages')::int,
      pages_without_text = array(select jsonb_array_elements_text(parsed -> 'pages_without_text')::int),
      author = coalesce(parsed ->> 'author', d.author),
      published_at = coalesce((parsed ->> 'published_at')::timestamptz, d.published_at)
  where d.id = held.id;
  return query select held.id, jsonb_array_length(parsed -> 'blocks')::bigint;
end $$;
comment on function store_blocks is
  'Stores what the parser made of a document: title, language, pages and all blocks, in place of any earlier ones.';

create function stored_chunks(p_document text, p_lease text, p_model text, p_after int, p_limit int)
returns table (ordinal int, digest text)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  held constant documents := held_document(p_document, p_lease);
begin
  return query
  select c.ordinal, md5(c.text) from documents_chunks c
  where c.document_id = held.id and c.model = p_model and c.ordinal > p_after
  order by c.ordinal limit p_limit;
end $$;
comment on function stored_chunks is
  'What an earlier attempt stored with this model, after an ordinal: md5 of each text; none is embedded twice.';

create function add_chunks(p_document text, p_lease text, p_chunks text)
returns table (id uuid, chunks bigint)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
  given constant jsonb := p_chunks::jsonb;
begin
  delete from documents_chunks c
  where c.document_id = held.id and c.ordinal in (select (g ->> 'ordinal')::int from jsonb_array_elements(given) g);

  with chunk as materialized (
    select * from jsonb_to_recordset(given) as c (ordinal int, text text, span_start int, span_end int, locator jsonb,
      length int, model text, embedding text, terms jsonb)
  ), stored as (
    insert into documents_chunks as s (base_id, document_id, ordinal, text, span_start, span_end, locator, length,
      model, embedding)
    select held.base_id, held.id, c.ordinal, c.text, c.span_start, c.span_end, c.locator, c.length, c.model,
      c.embedding::halfvec(1024)
    from chunk c
    returning s.id, s.ordinal
  )
  insert into chunk_terms (base_id, term, chunk_id, frequency, length)
  select held.base_id, t.key, s.id, t.value::int, c.length
  from stored s join chunk c on c.ordinal = s.ordinal cross join lateral jsonb_each_text(c.terms) t
  where octet_length(t.key) <= 1000 -- a longer one is no word, and an index entry holds less than 2,704 bytes
  order by t.key, s.id; -- in the order of the index: neighbours land on one page

  return query select held.id, jsonb_array_length(given)::bigint;
end $$;
comment on function add_chunks is
  'Stores some chunks with their vectors and postings; an ordinal that is there already is replaced.';

create function publish_document(p_document text, p_lease text, p_chunks int)
returns table (duplicate_of uuid, chunks int)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held documents;
  stored record;
begin
  -- One publication at a time in a base: of two documents with the same content the second sees the first.
  perform from bases b where b.id = (select d.base_id from documents d where d.id = p_document::uuid) for no key update;
  held := held_document(p_document, p_lease);
  perform set_config('synchronous_commit', 'on', true); -- what a person is told to be ready must last
  delete from documents_chunks c where c.document_id = held.id and c.ordinal >= p_chunks;
  select count(*) as chunks, coalesce(sum(c.length), 0) as terms into stored
  from documents_chunks c where c.document_id = held.id;
  if stored.chunks <> p_chunks then
    raise exception 'document % has % of % chunks', held.id, stored.chunks, p_chunks using errcode = 'check_violation';
  end if;

  return query select * from finish_if_duplicate(held.id, held.base_id, held.content_hash);
  if found then
    return;
  end if;
  update documents d
  set status = 'ready', chunks = p_chunks, terms = stored.terms, progress_done = p_chunks, progress_total = p_chunks,
      lease = null, lease_until = null, finished_at = now()
  where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select null::uuid, p_chunks;
end $$;
comment on function publish_document is
  'Makes all chunks of a document visible at once, or ends it as a duplicate when its content became ready meanwhile.';

create function postpone_document(p_document text, p_lease text, p_delay_s double precision, p_code text,
  p_params text, p_detail text)
returns table (id uuid, run_after timestamptz)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  perform touch_batch(held.batch_id);
  return query
  update documents d
  set status = 'queued', run_after = now() + make_interval(secs => p_delay_s), waits_for_service = true,
      error_code = p_code, error_params = p_params::jsonb, error_detail = p_detail, lease = null, lease_until = null
  where d.id = held.id
  returning d.id, d.run_after;
end $$;
comment on function postpone_document is
  'Gives a document back for a later try, with what is stored of it. `waits_for_service` stays true to the end: '
  'a promise was made.';

create function fail_document(p_document text, p_lease text, p_code text, p_params text, p_detail text)
returns table (id uuid, status text)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  held constant documents := held_document(p_document, p_lease);
begin
  perform finish_document(held.id, 'failed', p_code, p_params::jsonb, p_detail);
  return query select held.id, 'failed'::text;
end $$;
comment on function fail_document is 'Gives a document up; what was stored of it is removed.';

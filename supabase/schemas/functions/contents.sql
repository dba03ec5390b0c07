-- What a worker found in a document. In: hash, blocks, chunks, or the reason why there are none. Out: its state.
-- Everything here is called under a lease (see queue.sql). Passages are searchable batch by batch, unless the document
-- conflicts with one that is searchable already (see conflicts.sql): then they would have to replace that one.
create or replace function baza_internal.put_content(p_held documents, p_content_hash text, p_size_bytes bigint,
  p_media_type text)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held documents;
begin
  update documents d
  set content_hash = p_content_hash, size_bytes = coalesce(p_size_bytes, d.size_bytes),
      media_type = coalesce(d.media_type, p_media_type)
  where d.id = p_held.id
  returning d.* into held;
  return query select * from stopped_by_another(held);
end $$;
comment on function baza_internal.put_content is 'See `record_content`.';

create or replace function record_content(p_document text, p_lease text, p_content_hash text,
  p_size_bytes bigint default null, p_media_type text default null)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  held constant documents := held_document(p_document, p_lease);
begin
  return query select * from put_content(held, p_content_hash, p_size_bytes, p_media_type);
end $$;
comment on function record_content is
  'Records the hash of the content. Returns a row when the work has to stop: the base holds the same content, or other '
  'content under this name and the person is asked.';

create or replace function record_contents(p_lease text, p_contents text)
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  given constant jsonb := p_contents::jsonb;
  sent record;
begin
  for sent in
    select g.*, held from rows from (jsonb_to_recordset(given) as (document uuid, hash text, size_bytes bigint,
      media_type text)) with ordinality as g (document, hash, size_bytes, media_type, place)
    join held_documents(p_lease, given) held on held.id = g.document order by g.place
  loop
    perform from put_content(sent.held, sent.hash, sent.size_bytes, sent.media_type);
    if not found then
      return query select sent.document;
    end if;
  end loop;
end $$;
comment on function record_contents is
  '`record_content` for several documents of one lease, in one call. Returns those with which the work goes on.';

create or replace function baza_internal.held_documents(p_lease text, p_given jsonb)
returns setof documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  return query
  select d.* from documents d
  where d.id = any (array(select g.document from jsonb_to_recordset(p_given) as g (document uuid)))
    and d.lease = p_lease::uuid and d.phase = 'working'
  order by d.id for update;
end $$;
comment on function baza_internal.held_documents is
  '`held_document` for the ones that are given, without those of which the lease is lost: whoever goes on with one alone '
  'learns of it. They are locked before anything else is: one after the other, each with its batch, two calls could '
  'deadlock.';

create or replace function become_link(p_document text, p_lease text, p_address text, p_name_key text, p_lane text)
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  update documents d
  set source_type = 'link', source_identifier = p_address, name_key = p_name_key, source_title = null,
      title = p_address, file_id = null, size_bytes = null, media_type = null, lane = p_lane, status = 'queued',
      visible = false, attempts = d.attempts - 1, progress_done = 0, progress_total = 0, lease = null, lease_until = null
  where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select held.id;
end $$;
comment on function become_link is
  'Turns a file that holds nothing but an address into a link, as if the address had been sent: it waits for its turn '
  'in the lane of links, and is recognised by its address. Its caption stays.';

create or replace function known_reading(p_document text, p_lease text)
returns table (id uuid, title text, source_text text, author text, published_at timestamptz, language text,
  medium text, duration_s double precision, pages int, pages_without_text int[], parts int, unread jsonb, blocks bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  return query
  select d.id, d.title, d.source_text, d.author, d.published_at, d.language, d.medium, d.duration_s, d.pages,
    d.pages_without_text, d.parts, d.unread, (select count(*) from document_blocks b where b.document_id = d.id)
  from ready_before(held) d where d.content_hash = held.content_hash;
end $$;
comment on function known_reading is
  'What was read in the ready version with the same content, and how many blocks it has: a file that only gets another '
  'caption (`adopt_caption`) need not be read again. No row when there is none.';

create or replace function baza_internal.insert_blocks(p_held documents, p_first int, p_blocks jsonb)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into document_blocks (document_id, ordinal, kind, level, text, locator)
  select p_held.id, p_first + b.place - 1, b.kind, b.level, b.text, b.locator
  from rows from (jsonb_to_recordset(p_blocks) as (kind text, level int, text text, locator jsonb))
    with ordinality as b (kind, level, text, locator, place)
$$;
comment on function baza_internal.insert_blocks is
  'Stores blocks of a document in their order; `p_first` is the ordinal of the first.';

create or replace function baza_internal.put_blocks(p_held documents, p_parsed jsonb)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  delete from document_blocks b where b.document_id = p_held.id;
  perform insert_blocks(p_held, 0, p_parsed -> 'blocks');
  p_held.title := coalesce(p_held.given_title, p_parsed ->> 'title');
  p_held.names := p_parsed -> 'names';
  p_held.language := p_parsed ->> 'language';
  p_held.author := coalesce(p_parsed ->> 'author', p_held.author);
  p_held.published_at := coalesce((p_parsed ->> 'published_at')::timestamptz, p_held.published_at);
  p_held.medium := p_parsed ->> 'medium';
  p_held.duration_s := (p_parsed ->> 'duration_s')::double precision;
  p_held.pages := (p_parsed ->> 'pages')::int;
  p_held.parts := (p_parsed ->> 'parts')::int;
  p_held.pages_without_text := array(select jsonb_array_elements_text(p_parsed -> 'pages_without_text')::int);
  p_held.unread := p_parsed -> 'unread';
  return p_held;
end $$;
comment on function baza_internal.put_blocks is
  'Replaces the blocks of a document; returns it with its new figures, which the caller stores.';

create or replace function store_blocks(p_document text, p_lease text, p_parsed text, p_chunks int,
  p_base_passages bigint default null)
returns table (id uuid, stored int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  held documents;
begin
  if p_base_passages is not null then
    perform lock_base((select d.base_id from documents d where d.id = p_document::uuid));
  end if;
  held := held_document(p_document, p_lease);
  perform ensure_room(held, p_chunks, p_base_passages);
  held := put_blocks(held, p_parsed::jsonb);
  update documents d
  set status = 'embedding', progress_done = 0, progress_total = p_chunks, promised = p_chunks,
      title = held.title, names = held.names, language = held.language, author = held.author,
      published_at = held.published_at, medium = held.medium, duration_s = held.duration_s, pages = held.pages,
      parts = held.parts, pages_without_text = held.pages_without_text, unread = held.unread
  where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select held.id, held.chunks;
end $$;
comment on function store_blocks is
  'Stores what was read in a document, in place of any earlier: its blocks, its figures, how many chunks it will have. '
  'Returns how many chunks an earlier attempt left. For `p_base_passages` see `ensure_room`.';

create or replace function add_blocks(p_document text, p_lease text, p_first int, p_blocks text)
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  held constant documents := held_document(p_document, p_lease);
begin
  perform insert_blocks(held, p_first, p_blocks::jsonb);
  return query select held.id;
end $$;
comment on function add_blocks is
  'Stores further blocks of a document after those of `store_blocks`, the first with the ordinal `p_first`: a book '
  'comes in several calls, so that no process holds all of it in memory.';

create or replace function baza_internal.supersede(p_held documents)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  before documents;
begin
  -- Locks the rivals: a call that stores their passages has ended before, or sees the new state after. No other
  -- document can become a rival: `record_content` notes its content and name in a call before the one that makes it
  -- visible.
  perform from documents d
  where d.base_id = p_held.base_id and d.phase = 'working' and d.id <> p_held.id
    and (d.content_hash = p_held.content_hash or d.lineage = p_held.lineage
      or d.source_type = p_held.source_type and d.name_key = p_held.name_key)
  order by d.id for update;
  select * into before from ready_before(p_held);
  if found then
    delete from documents_chunks c where c.document_id = before.id;
    update documents d set status = 'superseded', visible = false, chunks = 0, terms = 0 where d.id = before.id;
    p_held.version := before.version + 1;
    p_held.given_terms := case when p_held.given_title is null then before.given_terms else p_held.given_terms end;
    p_held.given_title := coalesce(p_held.given_title, before.given_title);
    p_held.title := coalesce(p_held.given_title, p_held.title);
    p_held.expires_at := case when p_held.expires_at is not null and before.expires_at is not null -- else one stays
      then greatest(p_held.expires_at, before.expires_at) end;
  end if;
  return p_held;
end $$;
comment on function baza_internal.supersede is
  'Takes the earlier version out of search, where it stays as a version; returns the document as the next '
  'one. Locks the documents being read in the base that conflict with it.';

create or replace function baza_internal.hide_rivals(p_ready documents)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update documents d set visible = false
  where d.base_id = p_ready.base_id and d.phase = 'working' and d.visible
    -- `may_be_found` is slow; for all others its answer does not depend on this document: see `supersede`.
    and (d.content_hash = p_ready.content_hash or d.lineage = p_ready.lineage
      or d.source_type = p_ready.source_type and d.name_key = p_ready.name_key)
    and not may_be_found(d)
$$;
comment on function baza_internal.hide_rivals is
  'Hides documents being read that have the content, the name or the lineage of the one that is ready now.';

create or replace function baza_internal.put_whole(p_held documents, p_last jsonb, p_embeddings halfvec[], p_parsed jsonb,
  p_content_hash text)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  p_held.content_hash := coalesce(p_content_hash, p_held.content_hash);
  if p_parsed is not null then
    p_held := put_blocks(p_held, p_parsed);
  end if;
  if p_last is not null then
    p_held := put_chunks(p_held, p_last, p_embeddings);
  end if;
  return p_held;
end $$;
comment on function baza_internal.put_whole is
  'Stores the last chunks of a document, and its blocks if it is one batch; returns it with its new figures for '
  '`publish`. `p_content_hash` is that of a document for which `record_content` was not called: one that is stored '
  'whole here, so that nobody could see it before.';

create or replace function baza_internal.publish(p_held documents, p_had int, p_chunks int, p_base_passages bigint)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  held documents := p_held;
begin
  if p_had > 0 then
    delete from documents_chunks c where c.document_id = held.id and c.ordinal >= p_chunks;
  end if;
  if p_had > 0 and found or held.chunks <> p_chunks then
    select count(*), coalesce(sum(c.length), 0) into held.chunks, held.terms
    from documents_chunks c where c.document_id = held.id;
  end if;
  if held.chunks <> p_chunks then
    raise exception 'document % has % of % chunks', held.id, held.chunks, p_chunks using errcode = 'check_violation';
  end if;

  held := in_lineage(held);
  return query select * from stopped_by_another(held);
  if found then
    return;
  end if;
  perform ensure_room(held, p_chunks, p_base_passages);
  held := bear_own_titles(supersede(held));
  update documents d
  set status = 'ready', visible = true, chunks = held.chunks, terms = held.terms, version = held.version,
      content_hash = held.content_hash, given_title = held.given_title, given_terms = held.given_terms,
      title = held.title, names = held.names, language = held.language, author = held.author,
      published_at = held.published_at, medium = held.medium, duration_s = held.duration_s, pages = held.pages,
      parts = held.parts, pages_without_text = held.pages_without_text, unread = held.unread,
      expires_at = held.expires_at, progress_done = p_chunks, progress_total = p_chunks, lease = null,
      lease_until = null, finished_at = now()
  where d.id = held.id;
  if held.given_terms is not null then -- the worker has indexed the document under its own title
    perform retitle(held, only_name(held.given_title, held.given_terms));
  elsif p_had > 0 then
    perform count_spread(held);
  end if;
  perform hide_rivals(held);
  perform touch_batch(held.batch_id);
  return query select null::uuid, null::uuid;
end $$;
comment on function baza_internal.publish is
  'Makes a document ready whose chunks are all stored, `p_had` of them before this call: all of it is searchable, and '
  'what it replaces no longer. When another became ready meanwhile, stops the work as `record_content` does. It commits '
  'asynchronously: see `held_document`.';

create or replace function publish_document(p_document text, p_lease text, p_chunks int, p_last text default null,
  p_embeddings halfvec[] default '{}', p_parsed text default null, p_base_passages bigint default null,
  p_content_hash text default null)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  held documents;
begin
  -- Serialised: of two documents with the same content or name the second sees the first.
  perform lock_base((select d.base_id from documents d where d.id = p_document::uuid));
  held := held_document(p_document, p_lease);
  return query select * from publish(put_whole(held, p_last::jsonb, p_embeddings, p_parsed::jsonb, p_content_hash),
    held.chunks, p_chunks, p_base_passages);
end $$;
comment on function publish_document is 'Stores what is left of a document (`put_whole`) and makes it ready (`publish`).';

create or replace function publish_documents(p_lease text, p_documents text, p_embeddings halfvec[],
  p_base_passages bigint default null)
returns table (id uuid, is_ready boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  given constant jsonb := p_documents::jsonb;
  sent record;
  stored documents[];
  had int[]; -- by the place in `stored`
  chunks int[];
  ended record;
begin
  perform lock_base(d.base_id) from documents d where d.id = (given -> 0 ->> 'document')::uuid;
  -- All are stored before the first is counted in its base: whoever else stores passages there waits from then on.
  for sent in
    select g.*, held from rows from (jsonb_to_recordset(given) as (document uuid, chunks int, last jsonb, parsed jsonb,
      hash text)) with ordinality as g (document, chunks, last, parsed, hash, place)
    join held_documents(p_lease, given) held on held.id = g.document order by g.place
  loop
    stored := stored || put_whole(sent.held, sent.last, p_embeddings, sent.parsed, sent.hash);
    had := had || (sent.held).chunks;
    chunks := chunks || sent.chunks;
  end loop;
  for place in 1 .. coalesce(cardinality(stored), 0) loop
    begin
      select * into ended from publish(stored[place], had[place], chunks[place], p_base_passages);
      return query select stored[place].id, ended.duplicate_of is null and ended.namesake is null;
    exception when sqlstate 'BZ003' then -- the same
      delete from documents_chunks c where c.document_id = stored[place].id;
      delete from document_blocks b where b.document_id = stored[place].id;
    end;
  end loop;
end $$;
comment on function publish_documents is
  '`publish` for several whole documents of one lease and base, in one transaction; the vectors of all stand in '
  '`p_embeddings`. Returns those that have ended, and whether they are ready or another was there first.';

create or replace function postpone_document(p_document text, p_lease text, p_delay_s double precision, p_code text,
  p_params text, p_detail text)
returns table (id uuid, run_after timestamptz)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  update documents d
  set status = 'queued', visible = false, run_after = now() + make_interval(secs => p_delay_s),
      waits_for_service = true, error_code = p_code, error_params = p_params::jsonb, error_detail = p_detail,
      lease = null, lease_until = null, attempts = d.attempts - (p_code = 'day-spent')::int
  where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select d.id, d.run_after from documents d where d.id = held.id;
end $$;
comment on function postpone_document is
  'Queues a document for a later retry, with what is stored of it; waiting for a person''s next day is no attempt. `waits_for_service` stays true to the end: the '
  'sender was promised that the document will be read.';

create or replace function fail_document(p_document text, p_lease text, p_code text, p_params text, p_detail text)
returns table (id uuid, status text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  held constant documents := held_document(p_document, p_lease);
begin
  perform finish_document(held.id, 'failed', p_code, p_params::jsonb, p_detail);
  return query select held.id, 'failed'::text;
end $$;
comment on function fail_document is 'Marks a document as failed and removes what was stored of it.';

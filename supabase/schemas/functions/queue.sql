-- A document's way through the queue. In: what was sent, then what a worker made of it. Out: rows of its state.
-- A worker acts under a lease: it holds until another worker claims the document, or it is cancelled or deleted.
-- Locks are taken in one order everywhere (`lock_base`, documents, the row of the base, its batch), so that no two
-- calls deadlock.
create or replace function baza_internal.lock_base(p_base uuid)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('base ' || p_base, 0))
$$;
comment on function baza_internal.lock_base is
  'Serialises the publications and removals of a base. An advisory lock, not a row lock: everybody who '
  'stores passages updates the counts in the row of the base, and need not wait for a publication.';

create or replace function baza_internal.count_removed() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  update bases b set passages = b.passages - gone.passages, terms = b.terms - gone.terms,
    documents = b.documents - gone.documents
  from (select base_id, sum(chunks) as passages, sum(terms) as terms, count(*) as documents
        from old_rows where visible group by base_id) gone
  where b.id = gone.base_id;
  return null;
end $$;
comment on function baza_internal.count_removed is
  'Subtracts deleted visible documents from the counts of their bases.';
create or replace trigger documents_removed after delete on documents
  referencing old table as old_rows for each statement execute function baza_internal.count_removed();

create or replace function baza_internal.count_changed() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  before constant int := old.visible::int;
  after constant int := new.visible::int;
begin
  update bases
  set passages = passages + after * new.chunks - before * old.chunks,
      terms = terms + after * new.terms - before * old.terms,
      documents = documents + after - before
  where id = new.base_id;
  return null;
end $$;
comment on function baza_internal.count_changed is
  'Adds a document to the counts of its base when it becomes visible and with each batch of chunks, and '
  'subtracts all of it when it is hidden.';
create or replace trigger documents_changed after update of visible, chunks, terms on documents
  for each row when (
    (old.visible or new.visible)
    and (old.visible, old.chunks, old.terms) is distinct from (new.visible, new.chunks, new.terms))
  execute function baza_internal.count_changed();

create or replace function baza_internal.remove_postings() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  -- Arrays, not joins: the planner does not know the size of the transition table, and would scan all postings.
  gone constant bigint[] := array(select o.id from old_rows o);
  bases constant uuid[] := array(select distinct o.base_id from old_rows o); -- a run of 0.1.0 may hold others
  runs constant bigint[] := array(select distinct c >> 8 from unnest(gone) c);
  kept constant bigint[] := array( -- with passages that stay
    select u.run from unnest(runs) u (run)
    where exists (select from documents_chunks c where c.id between u.run << 8 and (u.run << 8) + 255));
begin
  update posting_lists l set postings = array(
    select u.p from unnest(l.postings) u (p)
    where (l.run << 8) | (u.p >> 55) not in (select unnest(gone)) order by u.p)
  where l.run = any (kept) and case when l.base_id = any (bases) then true end; -- `case`: by the run, no other index
  delete from posting_lists l where l.run = any (runs) and (l.postings = '{}' or l.run <> all (kept));
  return null;
end $$;
comment on function baza_internal.remove_postings is 'Postings leave together with their chunks.';
create or replace trigger chunks_removed after delete on documents_chunks
  referencing old table as old_rows for each statement execute function baza_internal.remove_postings();

create or replace function enqueue_batch(p_base text, p_batch text, p_hold_s double precision default 0,
  p_most_waiting bigint default null, p_person bigint default null)
returns table (id uuid, "position" int, created boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  sent constant jsonb := p_batch::jsonb;
  its_batch uuid;
  earlier int := 0; -- documents that earlier messages of the album brought
begin
  perform require(p_base, p_person, 'write');
  insert into batches (base_id, chat_id, thread_id, message_id, media_group, language)
  values (p_base::uuid, (sent ->> 'chat_id')::bigint, (sent ->> 'thread_id')::bigint,
          (sent ->> 'message_id')::bigint, sent ->> 'media_group', sent ->> 'language')
  on conflict do nothing
  returning batches.id into its_batch;

  if its_batch is null then -- the next message of an album, or one that Telegram delivers again
    if sent ->> 'ttl_s' is null then -- or a message that was to be read only, and is to stay now
      perform keep_document(p_base, d.id::text) from documents d
      where d.base_id = p_base::uuid and d.expires_at is not null and d.chat_id = (sent ->> 'chat_id')::bigint
        and d.message_id = (sent ->> 'message_id')::bigint;
    end if;
    perform from bases b where b.id = p_base::uuid for key share;
    select b.id into its_batch from batches b
    where b.base_id = p_base::uuid and b.chat_id = (sent ->> 'chat_id')::bigint
      and (b.message_id = (sent ->> 'message_id')::bigint or b.media_group = sent ->> 'media_group')
    limit 1 for update;
    if not found then -- its documents are being removed at this moment
      return query select * from enqueue_batch(p_base, p_batch, p_hold_s, p_most_waiting);
      return;
    end if;
    return query
    select d.id, (row_number() over (order by d.position))::int - 1, false from documents d
    where d.batch_id = its_batch and d.message_id = (sent ->> 'message_id')::bigint
    order by d.position;
    if found or not exists (select from batches b where b.id = its_batch and b.media_group = sent ->> 'media_group') then
      return;
    end if;
    select coalesce(max(d.position) + 1, 0) into earlier from documents d where d.batch_id = its_batch;
    perform touch_batch(its_batch);
  end if;

  perform ensure_few_waiting((sent ->> 'user_id')::bigint, jsonb_array_length(sent -> 'sources'), p_most_waiting);
  return query
  insert into documents (base_id, batch_id, position, user_id, sender, chat_id, message_id, source_type,
    source_identifier, name_key, source_title, title, source_text, source_url, file_id, kept_file, size_bytes,
    media_type, author, published_at, lane, run_after, expires_at)
  select p_base::uuid, its_batch, earlier + s.place - 1, (sent ->> 'user_id')::bigint, sent ->> 'sender',
    (sent ->> 'chat_id')::bigint,
    (sent ->> 'message_id')::bigint, s.type, s.identifier, s.name_key, s.title, coalesce(s.title, s.identifier), s.text,
    s.url, s.file_id, held_file(p_base::uuid, s.kept_file), s.size_bytes, s.media_type, s.author, s.published_at,
    lane_of(s.lane, s.type, s.identifier, s.text, s.size_bytes),
    now() + make_interval(secs => p_hold_s), -- below, cut to the minute that people are told
    date_trunc('minute', now() + make_interval(secs => (sent ->> 'ttl_s')::double precision))
  from rows from (jsonb_to_recordset(sent -> 'sources') as (type text, identifier text, name_key text, title text,
    text text, url text, file_id text, kept_file uuid, size_bytes bigint, media_type text, author text,
    published_at timestamptz, lane text)) with ordinality
    as s (type, identifier, name_key, title, text, url, file_id, kept_file, size_bytes, media_type, author,
      published_at, lane, place)
  order by s.place
  returning documents.id, documents.position - earlier, true;
end $$;
comment on function enqueue_batch is
  'Stores all sources of a message; the messages of an album share a batch. A repeated message only gets its rows '
  'again.';

create or replace function baza_internal.album_caption(p_held documents)
returns text
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select d.source_text from documents d join batches b on b.id = d.batch_id
  where d.batch_id = p_held.batch_id and b.media_group is not null and d.source_text is not null
  order by d.position limit 1
$$;
comment on function baza_internal.album_caption is
  'The caption of an album, which Telegram keeps with one of its files though people mean all of them. Where '
  'that file could not be taken, the caption is in a note or a link of the album.';

create or replace function baza_internal.source_of(p_sent documents)
returns jsonb
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select jsonb_build_object('type', p_sent.source_type,
    'identifier', case when p_sent.given_terms is null then p_sent.known_as else p_sent.source_identifier end,
    'title', p_sent.source_title, 'text', p_sent.source_text, 'url', p_sent.source_url,
    'file_id', p_sent.file_id, 'kept_file', p_sent.kept_file, 'size_bytes', p_sent.size_bytes,
    'media_type', p_sent.media_type, 'author', p_sent.author, 'published_at', p_sent.published_at,
    'lane', p_sent.lane)
$$;
comment on function baza_internal.source_of is
  'What was sent, by the name that the person knows it by («План (2).docx»).';

create or replace function claim_documents(p_worker text, p_lease_s double precision, p_only text[] default null,
  p_together int default 1, p_lanes text[] default '{short,small,quick,long}', p_person_places int[] default null,
  p_base_passages bigint default null)
returns table (id uuid, base_id uuid, lease uuid, attempt int, source jsonb, is_known boolean, full_at bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  its_ids uuid[];
  its_base uuid;
  its_person bigint;
  its_lease constant uuid := gen_random_uuid();
begin
  if p_only is null then
    its_ids := next_documents(p_worker, p_lanes, p_person_places, p_together);
  else
    its_ids := array(
      select d.id from documents d
      where d.id = any (p_only::uuid[]) and (d.phase = 'waiting' or d.phase = 'working' and d.lease_until <= now())
      order by d.id for update skip locked);
  end if;
  select d.base_id, d.person into its_base, its_person from documents d where d.id = its_ids[1];
  if its_base is null then
    return;
  end if;
  perform set_config('synchronous_commit', 'off', true); -- after a crash it is simply claimed again
  update documents d
  set status = 'fetching', visible = false, progress_done = 0, progress_total = 0, attempts = d.attempts + 1,
      worker = p_worker, lease = its_lease, lease_until = now() + make_interval(secs => p_lease_s),
      run_after = least(d.run_after, now()), -- a held document that was claimed early: if its worker dies, anybody's
      source_text = coalesce(d.source_text, case when d.source_type = 'file' then album_caption(d) end),
      started_at = coalesce(d.started_at, now()), error_code = null, error_params = '{}', error_detail = null
  where d.id = any (its_ids);
  perform from bases b where b.id = its_base for no key update skip locked; -- nobody waits for a row being counted
  if found then -- a single statement would update the row version that it saw, not the one that it locked: a deadlock
    update bases b set served_at = now() where b.id = its_base;
  end if;
  if pg_try_advisory_xact_lock(hashtextextended('served ' || its_person, 0)) then -- else somebody notes the same just now
    insert into served as s (person, served_at) values (its_person, now())
    on conflict (person) do update set served_at = excluded.served_at;
  end if;
  perform touch_batch(b.id) from (
    select distinct d.batch_id as id from documents d where d.id = any (its_ids) order by 1) b;
  return query
  select taken.id, taken.base_id, taken.lease, taken.attempts, source_of(taken),
    taken.source_type in ('file', 'link') and taken.chosen and taken.content_hash is not null,
    full_at(taken, p_base_passages)
  from documents taken where taken.id = any (its_ids)
  order by array_position(its_ids, taken.id);
end $$;
comment on function claim_documents is
  'Leases to a worker the documents whose turn it is in these lanes, if any (`next_documents`), all under one lease; '
  '`p_person_places` is how many of its places in each lane one person, and one base, may hold. `p_only`: these, which '
  'are of one base, also before `run_after`. What an earlier attempt stored is hidden. `is_known`, `full_at`: see '
  '`known_reading`, `full_at`.';

create or replace function baza_internal.touch_batch(p_batch uuid)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update batches set revision = revision + 1 where id = p_batch and chat_id is not null
$$;
comment on function baza_internal.touch_batch is
  'The live message of this batch has something new to show; a batch of the command line has none.';

create or replace function baza_internal.held_document(p_document text, p_lease text)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held documents;
begin
  select * into held from documents
  where id = p_document::uuid and lease = p_lease::uuid and phase = 'working'
  for update;
  if not found then
    raise exception 'the lease of document % is lost', p_document using errcode = 'BZ001';
  end if;
  perform set_config('synchronous_commit', 'off', true);
  return held;
end $$;
comment on function baza_internal.held_document is
  'Locks the document for the holder of its lease; raises BZ001 for anybody else. The commit is '
  'asynchronous, of a publication too, which would hold up all others of the base while it waits for the disk: after a '
  'crash within that second the document is still queued as its sender left it (that commit was synchronous), and is '
  'read again. Nobody is told of an end before it is durable: `due_notices` writes, and its commit flushes all before '
  'it.';

create or replace function baza_internal.finish_document(p_document uuid, p_status text, p_code text, p_params jsonb,
  p_detail text)
returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  its_batch uuid;
begin
  perform set_config('synchronous_commit', 'on', true); -- people are told of an end, so it must be durable
  delete from documents_chunks where document_id = p_document;
  delete from document_blocks where document_id = p_document;
  update documents
  set status = p_status, error_code = p_code, error_params = p_params, error_detail = p_detail, chunks = 0, terms = 0,
      visible = false, lease = null, lease_until = null, finished_at = now()
  where id = p_document
  returning batch_id into its_batch;
  perform touch_batch(its_batch);
end $$;
comment on function baza_internal.finish_document is
  'Ends the work on a document that will not be ready, at least not now, and removes what was stored of it.';

create or replace function renew_lease(p_document text, p_lease text, p_lease_s double precision)
returns table (id uuid, lease_until timestamptz)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  return query
  update documents d set lease_until = now() + make_interval(secs => p_lease_s)
  where d.id = held.id
  returning d.id, d.lease_until;
end $$;
comment on function renew_lease is 'Extends the lease to that many seconds from now.';

create or replace function return_document(p_document text, p_lease text)
returns table (id uuid, attempts int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  update documents d
  set status = 'queued', visible = false, attempts = d.attempts - 1, progress_done = 0, progress_total = 0,
      lease = null, lease_until = null
  where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select held.id, held.attempts - 1;
end $$;
comment on function return_document is
  'Releases a document as if it had not been claimed, with what is stored of it, because its worker has to stop.';

create or replace function report_progress(p_document text, p_lease text, p_status text, p_done int, p_total int)
returns table (id uuid, status text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held documents := held_document(p_document, p_lease);
begin
  update documents d set status = p_status, progress_done = p_done, progress_total = p_total
  where d.id = held.id
  returning d.* into held;
  if held.phase <> 'working' then
    raise exception 'a report cannot move a document to %', p_status using errcode = 'invalid_parameter_value';
  end if;
  perform touch_batch(held.batch_id);
  return query select held.id, p_status;
end $$;
comment on function report_progress is 'Records the stage and progress of a document; ends nothing, extends no lease.';

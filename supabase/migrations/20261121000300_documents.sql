-- The way of a document through the queue. In: what was sent, then what a worker made of it. Out: rows of its state.
-- A worker acts under a lease: it is good until another worker claims the document, or it is cancelled or deleted.
-- Locks are taken in one order everywhere (base, document, batch), so that no two calls wait for each other.

create function count_removed() returns trigger
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
begin
  update bases b set passages = b.passages - gone.passages, terms = b.terms - gone.terms
  from (select base_id, sum(chunks) as passages, sum(terms) as terms
        from old_rows where status = 'ready' group by base_id) gone
  where b.id = gone.base_id;
  return null;
end $$;
comment on function count_removed is 'Internal: takes deleted ready documents out of the counts of their bases.';
create trigger documents_removed after delete on documents
  referencing old table as old_rows for each statement execute function count_removed();

create function count_changed() returns trigger
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  sign constant int := case when new.status = 'ready' then 1 else -1 end;
begin
  update bases set passages = passages + sign * new.chunks, terms = terms + sign * new.terms
  where id = new.base_id;
  return null;
end $$;
comment on function count_changed is
  'Internal: counts a document in when it becomes ready, and out when it no longer is.';
create trigger documents_changed after update of status on documents
  for each row when ((old.status = 'ready') <> (new.status = 'ready')) execute function count_changed();

create function remove_postings() returns trigger
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
begin
  -- An array, not a join: of the table of deleted rows the planner knows no size, and would read all postings.
  delete from chunk_terms t where t.chunk_id = any (array(select gone.id from old_rows gone));
  return null;
end $$;
comment on function remove_postings is 'Internal: postings leave together with their chunks.';
create trigger chunks_removed after delete on documents_chunks
  referencing old table as old_rows for each statement execute function remove_postings();

create function enqueue_batch(p_base text, p_batch text, p_hold_s double precision default 0)
returns table (id uuid, "position" int, created boolean)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  sent constant jsonb := p_batch::jsonb;
  its_batch uuid;
  earlier int := 0; -- documents that earlier messages of the album have brought
begin
  insert into batches (base_id, chat_id, thread_id, message_id, media_group, language)
  values (p_base::uuid, (sent ->> 'chat_id')::bigint, (sent ->> 'thread_id')::bigint,
          (sent ->> 'message_id')::bigint, sent ->> 'media_group', sent ->> 'language')
  on conflict do nothing
  returning batches.id into its_batch;

  if its_batch is null then -- the next message of an album, or one that Telegram delivers again
    perform from bases b where b.id = p_base::uuid for key share;
    select b.id into its_batch from batches b
    where b.base_id = p_base::uuid and b.chat_id = (sent ->> 'chat_id')::bigint
      and (b.message_id = (sent ->> 'message_id')::bigint or b.media_group = sent ->> 'media_group')
    limit 1 for update;
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

  return query
  insert into documents (base_id, batch_id, position, user_id, chat_id, message_id, source_type, source_identifier,
    source_title, title, source_text, file_id, size_bytes, media_type, author, published_at, run_after)
  select p_base::uuid, its_batch, earlier + s.place - 1, (sent ->> 'user_id')::bigint, (sent ->> 'chat_id')::bigint,
    (sent ->> 'message_id')::bigint, s.type, s.identifier, s.title, coalesce(s.title, s.identifier), s.text,
    s.file_id, s.size_bytes, s.media_type, s.author, s.published_at, now() + make_interval(secs => p_hold_s)
  from rows from (jsonb_to_recordset(sent -> 'sources') as (type text, identifier text, title text, text text,
    file_id text, size_bytes bigint, media_type text, author text, published_at timestamptz)) with ordinality
    as s (type, identifier, title, text, file_id, size_bytes, media_type, author, published_at, place)
  order by s.place
  returning documents.id, documents.position - earlier, true;
end $$;
comment on function enqueue_batch is
  'Stores all sources of one message at once. Messages of an album share a batch. The same message again returns what '
  'was stored the first time.';

create function claim_document(p_worker text, p_lease_s double precision, p_only text default null)
returns table (id uuid, base_id uuid, lease uuid, attempts int, source_type text, source_identifier text,
  source_title text, source_text text, file_id text, size_bytes bigint, media_type text, author text,
  published_at timestamptz)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  taken documents;
begin
  update documents d
  set status = 'fetching', progress_done = 0, progress_total = 0, attempts = d.attempts + 1, worker = p_worker,
      lease = gen_random_uuid(), lease_until = now() + make_interval(secs => p_lease_s),
      run_after = least(d.run_after, now()), -- a held document whose worker dies is anybody's
      started_at = coalesce(d.started_at, now()), error_code = null, error_params = '{}', error_detail = null
  where d.id = (
    select turn.id from documents turn
    where turn.status in ('queued', 'fetching', 'parsing', 'embedding')
      and (p_only is null or turn.id = p_only::uuid)
      and (turn.run_after <= now() or p_only is not null)
      and (turn.status = 'queued' or turn.lease_until <= now()) -- silent for too long: its worker died
    order by turn.run_after, turn.created_at, turn.position
    limit 1
    for update skip locked)
  returning d.* into taken;
  if taken.id is null then
    return;
  end if;
  perform touch_batch(taken.batch_id);
  return query
  select taken.id, taken.base_id, taken.lease, taken.attempts, taken.source_type, taken.source_identifier,
    taken.source_title, taken.source_text, taken.file_id, taken.size_bytes, taken.media_type, taken.author,
    taken.published_at;
end $$;
comment on function claim_document is
  'Gives a worker the document whose turn it is, or none. `p_only` asks for one and does not wait for its hour.';

create function touch_batch(p_batch uuid)
returns void
language sql security invoker set search_path = public, extensions, pg_temp
as $$
  update batches set revision = revision + 1 where id = p_batch
$$;
comment on function touch_batch is 'Internal: the live message of this batch has something new to show.';

create function held_document(p_document text, p_lease text)
returns documents
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  held documents;
begin
  select * into held from documents
  where id = p_document::uuid and lease = p_lease::uuid and status in ('fetching', 'parsing', 'embedding')
  for update;
  if not found then
    raise exception 'the lease of document % is lost', p_document using errcode = 'BZ001';
  end if;
  perform set_config('synchronous_commit', 'off', true);
  return held;
end $$;
comment on function held_document is
  'Internal: locks the document for its holder; anybody else is refused with BZ001. What is stored on the way need not '
  'wait for the disk: should the machine stop, the work is done again, and a publication waits for all before it.';

create function finish_document(p_document uuid, p_status text, p_code text, p_params jsonb, p_detail text)
returns void
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  its_batch uuid;
begin
  perform set_config('synchronous_commit', 'on', true); -- an end is told to people, so it must last
  delete from documents_chunks where document_id = p_document;
  delete from document_blocks where document_id = p_document;
  update documents
  set status = p_status, error_code = p_code, error_params = p_params, error_detail = p_detail, chunks = 0, terms = 0,
      lease = null, lease_until = null, finished_at = now()
  where id = p_document
  returning batch_id into its_batch;
  perform touch_batch(its_batch);
end $$;
comment on function finish_document is
  'Internal: ends the work on a document that will not be ready, and removes what was stored of it.';

create function renew_lease(p_document text, p_lease text, p_lease_s double precision)
returns table (id uuid, lease_until timestamptz)
language plpgsql security invoker set search_path = public, extensions, pg_temp
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
comment on function renew_lease is 'Holds the document for that many seconds from now.';

create function report_progress(p_document text, p_lease text, p_status text, p_done int, p_total int)
returns table (id uuid, status text)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  if p_status not in ('fetching', 'parsing', 'embedding') then
    raise exception 'a report cannot move a document to %', p_status using errcode = 'invalid_parameter_value';
  end if;
  update documents d set status = p_status, progress_done = p_done, progress_total = p_total where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select held.id, p_status;
end $$;
comment on function report_progress is
  'Says which stage a document is in and how far; ends nothing and extends no lease.';

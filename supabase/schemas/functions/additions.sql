-- Additions to a document that exists already. In: the next part of a long text, or a request to read a source anew.
-- Out: the document that it became part or the next version of.

create or replace function baza_internal.utf16_length(p_text text)
returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select length(p_text) + length(regexp_replace(p_text, '[\u0001-\uFFFF]', '', 'g'))
$$;
comment on function baza_internal.utf16_length is 'The length as Telegram counts it.';

create or replace function baza_internal.joint(p_before text, p_after text)
returns text
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select case
    when utf16_length(p_before) >= 4095 and p_before ~ '[[:alnum:]]$' and p_after ~ '^[[:alnum:]]' then ''
    when p_before !~ '[.!?…:;»")]$' and p_after ~ '^[[:lower:]]' then ' '
    else E'\n' end
$$;
comment on function baza_internal.joint is
  'The separator that Telegram''s client dropped between two parts of a text. It splits a message of more '
  'than 4,096 UTF-16 units at an empty line, a line''s end, a sentence''s end or a blank, in this order of preference, '
  'and drops the blank. It splits inside a word only when the second half of the part has no blank at all; then the '
  'part is full (4,095 units: a surrogate pair is not split).';

create or replace function join_note(p_base text, p_batch text, p_hold_s double precision default 0,
  p_person bigint default null)
returns table (id uuid, created boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  sent constant jsonb := p_batch::jsonb;
  number constant bigint := (sent ->> 'message_id')::bigint;
  words text := sent -> 'sources' -> 0 ->> 'text';
  part documents;
begin
  perform require(p_base, p_person, 'write');
  return query
  select d.id, false from documents d
  where d.base_id = p_base::uuid and d.joined_messages <> '{}' and number = any (d.joined_messages)
    and d.chat_id = (sent ->> 'chat_id')::bigint;
  if found then
    return;
  end if;
  select * into part from documents d
  where d.phase = 'waiting' and d.lane in ('short', 'quick') and d.base_id = p_base::uuid and d.run_after > now()
    and d.attempts = 0 and d.source_type = 'note' and d.user_id = (sent ->> 'user_id')::bigint
    and d.chat_id = (sent ->> 'chat_id')::bigint
    and number - coalesce(d.joined_messages[cardinality(d.joined_messages)], d.message_id) in (1, 2)
  limit 1 for update;
  if not found or words is null then
    return;
  end if;
  words := part.source_text || joint(part.source_text, words) || words;
  update documents d
  set source_text = words, lane = lane_of(d.lane, 'note', d.source_identifier, words, null),
      joined_messages = part.joined_messages || number, run_after = now() + make_interval(secs => p_hold_s)
  where d.id = part.id;
  perform touch_batch(part.batch_id);
  return query select part.id, true;
end $$;
comment on function join_note is
  'Appends the text of a message to the note that the same person sent one or two messages before, while that note is '
  'held; no row when there is none. Idempotent: the same message again changes nothing (created is false).';

create or replace function baza_internal.begin_batch(p_base uuid, p_batch jsonb)
returns uuid
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into batches (base_id, chat_id, thread_id, language)
  values (p_base, (p_batch ->> 'chat_id')::bigint, (p_batch ->> 'thread_id')::bigint, p_batch ->> 'language')
  returning id
$$;
comment on function baza_internal.begin_batch is
  'A batch, and so a live message, of its own for what a button asked for.';

create or replace function baza_internal.try_again(p_failed documents, p_sent jsonb)
returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  its_batch uuid := p_failed.batch_id;
begin
  perform from batches b where b.id = its_batch and b.chat_id is not null and b.shown_revision < b.revision for update;
  if found then -- nobody was told of the failure yet: the same live message goes on
    perform touch_batch(its_batch);
  else
    its_batch := begin_batch(p_failed.base_id, p_sent);
  end if;
  update documents d
  set batch_id = its_batch, position = case when d.batch_id = its_batch then d.position else 0 end, status = 'queued',
      attempts = 0, run_after = now(), waits_for_service = false, started_at = null, finished_at = null,
      progress_done = 0, progress_total = 0, error_code = null, error_params = '{}', error_detail = null,
      content_hash = null
  where d.id = p_failed.id;
  delete from batches b
  where b.id = p_failed.batch_id and not exists (select from documents d where d.batch_id = b.id);
end $$;
comment on function baza_internal.try_again is
  'Queues a failed document as if it had just been sent, in one step, so that it is always in one of the two states.';

create or replace function refresh_document(p_base text, p_document text, p_batch text, p_person bigint default null)
returns table (id uuid, created boolean, source jsonb)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  sent constant jsonb := p_batch::jsonb;
  asked documents;
  current documents;
  its_id uuid;
  is_new boolean;
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid); -- the same request twice starts one reading
  select * into asked from documents d
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.source_type <> 'note';
  select d.id into its_id from documents d
  where d.base_id = asked.base_id and d.lineage = asked.lineage and d.phase <> 'ended' limit 1;
  is_new := not found;
  select * into current from documents d
  where d.base_id = asked.base_id and d.lineage = asked.lineage and d.status = 'ready';
  if is_new and current.id is not null and asked.status <> 'failed' then -- a failed attempt is retried
    select * into asked from documents d
    where d.base_id = current.base_id and d.lineage = current.lineage and d.status = 'failed'
      and d.source_type <> 'file'
    order by d.finished_at desc limit 1;
  end if;
  if is_new and asked.status = 'failed' then
    perform try_again(asked, sent);
    its_id := asked.id;
  elsif is_new and current.id is not null then
    insert into documents as d (base_id, batch_id, position, user_id, sender, chat_id, message_id, source_type,
      source_identifier, name_key, source_title, given_title, given_terms, title, source_text, source_url, file_id,
      kept_file, media_type, lane, lineage, chosen, expires_at)
    values (current.base_id, begin_batch(current.base_id, sent), 0, (sent ->> 'user_id')::bigint, current.sender,
      current.chat_id, current.message_id, current.source_type, current.source_identifier, current.name_key,
      current.source_title, current.given_title,
      current.given_terms, current.title, current.source_text, current.source_url, current.file_id, current.kept_file,
      current.media_type, current.lane, current.lineage, true, current.expires_at)
    returning d.id into its_id;
  end if;
  return query select d.id, is_new, source_of(d) from documents d where d.id = its_id;
end $$;
comment on function refresh_document is
  'Has the source of a ready document read anew, as its next version; any version of it may be named. A failed '
  'document is retried itself. `p_batch` says who asked and where the live message goes. When it is being read '
  'already, returns that attempt. No row when there is nothing that can be read anew.';

-- Functions as they were when this was collected by `make migration`: see supabase/schemas/functions.

set search_path = public, baza_internal, extensions;
set check_function_bodies = off; -- functions call others that come later
select baza_internal.drop_function_files('{additions,bases,chunks,contents,dialogue,enrichment,entities,library,notices,queue,reindexing,search,sharing,spending,statistics,tokens,vector_segments,webhooks}');

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

select baza_internal.record_function_file('additions', '0c4daa5cf01cafe674b47df0de50862f');

-- Bases and rights in them. In: a base and who acts. Out: whether they may, lists, changes. Every function that takes
-- a base takes `p_person` as well and asks `require` first: a person, a group by its (negative) chat id, or a token.
-- Null is nobody in particular: the command line and the workers, which the operator of Baza runs.

create or replace function baza_internal.rights_in(p_base uuid, p_person bigint)
returns int
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select coalesce(
    (select array_position('{reader,writer,owner}', m.role) from base_members m
     where m.base_id = p_base and m.user_id = p_person and (m.until is null or m.until > now())),
    (select least(case when t.read_only then 1 when t.user_id is null or t.base_id is null then 3 else 2 end,
        case when t.user_id is null then 3 else rights_in(p_base, t.user_id) end)
     from api_tokens t
     where t.id = p_person and (t.base_id is null or t.base_id = p_base)
       and (t.expires_at is null or t.expires_at > now())),
    0)
$$;
comment on function baza_internal.rights_in is
  '0: none, 1: to read, 2: to write, too, 3: the owner''s. A token may do no more than the person whose it is, '
  'and one of theirs for a single base no more than write it.';

create or replace function baza_internal.require(p_base text, p_person bigint, p_right text)
returns void
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held int;
begin
  if p_person is null then
    return;
  end if;
  held := rights_in(p_base::uuid, p_person);
  if held = 0 then
    raise exception 'no base of this person' using errcode = 'BZ005';
  elsif held < array_position('{read,write,own}', p_right) then
    raise exception 'this person may not % this base', p_right using errcode = 'BZ006';
  end if;
end $$;
comment on function baza_internal.require is
  'Raises BZ005 for whom the base is not there at all, BZ006 for whom may do less than `p_right` (read, write, own).';

create or replace view bases_of_people with (security_invoker = true) as
select m.user_id, b.id as base_id, b.kind, b.chat_id, b.thread_id,
  coalesce(b.name, case when b.kind = 'group' then owner.name end) as name,
  (array['reader', 'writer', 'owner'])[rights_in(b.id, m.user_id)] as role, m.until,
  case when owner.user_id <> m.user_id then owner.name end as owner_name
from base_members m join bases b on b.id = m.base_id
left join lateral (
  select o.user_id, o.name from base_members o where o.base_id = b.id and o.role = 'owner' limit 1) owner on true;
comment on view bases_of_people is
  'The bases of everybody, with the right that they have now (null: it has ended) and whose base it is.';

create or replace view user_states with (security_invoker = true) as
select s.user_id, s.thread_id, s.current_mode, s.session_id, s.base_id, s.language, s.only_document,
  coalesce(o.name, b.name) as base_name, o.role, b.kind as base_kind, b.chat_id as base_chat, o.owner_name
from user_state s join bases b on b.id = s.base_id left join bases_of_people o on o.base_id = s.base_id and o.user_id = s.user_id;
comment on view user_states is 'States with what a person sees of the open base; `role` is null once their right is gone.';

create or replace function list_bases(p_user bigint, p_thread bigint default 0)
returns table (id uuid, name text, role text, owner_name text, "group" bigint, until timestamptz, documents bigint,
  others bigint, is_open boolean, is_first boolean)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select o.base_id, o.name, o.role, o.owner_name, case o.kind when 'group' then o.chat_id end, o.until, held.documents,
    (select count(*) from base_members m
     where m.base_id = o.base_id and m.user_id <> p_user and (m.until is null or m.until > now())),
    exists (select from user_state s where s.user_id = p_user and s.thread_id = p_thread and s.base_id = o.base_id),
    o.chat_id is not null and o.thread_id = 0
  from bases_of_people o cross join lateral count_base(o.base_id::text) held
  where o.user_id = p_user and (o.role is not null or o.kind = 'group')
  order by o.role is distinct from 'owner', o.chat_id is distinct from p_user, o.thread_id, lower(o.name), o.base_id
  limit 200
$$;
comment on function list_bases is
  'The bases of a person or a group, its own first. Of a group''s base `role` is null when Telegram has to be asked again.';

create or replace function show_base(p_base text, p_person bigint default null)
returns table (id uuid, name text, role text, owner_name text, "group" bigint, until timestamptz, documents bigint,
  others bigint, is_open boolean, is_first boolean)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select b.id, coalesce(o.name, b.name),
    case when p_person is null then 'owner' else (array['reader', 'writer', 'owner'])[rights_in(b.id, p_person)] end,
    o.owner_name, case b.kind when 'group' then b.chat_id end, o.until, held.documents,
    (select count(*) from base_members m
     where m.base_id = b.id and m.role <> 'owner' and (m.until is null or m.until > now())),
    false, b.chat_id is not null and b.thread_id = 0
  from bases b cross join lateral count_base(b.id::text) held
  left join bases_of_people o on o.base_id = b.id
    and o.user_id = coalesce((select t.user_id from api_tokens t where t.id = p_person), p_person)
  where b.id = p_base::uuid
$$;
comment on function show_base is 'One base, as who acts sees it; a token sees it as its person does.';

create or replace function make_base(p_user bigint, p_name text, p_most int default 50)
returns table (base_id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  made uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('bases of ' || p_user, 0));
  if (select count(*) from base_members m join bases b on b.id = m.base_id
      where m.user_id = p_user and m.role = 'owner') >= p_most then
    return;
  end if;
  insert into bases (kind, name) values (case when p_user < 0 then 'group' else 'private' end, p_name)
  returning id into made;
  insert into base_members (base_id, user_id, role, name)
  select made, p_user, 'owner', (
    select m.name from base_members m join bases b on b.id = m.base_id and b.chat_id = p_user
    where m.user_id = p_user limit 1);
  return query select made;
end $$;
comment on function make_base is 'A further base of a person; no row when they own `p_most` already.';

create or replace function rename_base(p_base text, p_name text, p_person bigint default null)
returns table (base_id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'own');
  update bases b set name = p_name where b.id = p_base::uuid returning b.id
$$;
comment on function rename_base is 'Gives a base another name. Names of the command line''s bases differ (23505).';

create or replace function baza_internal.send_home(p_base uuid, p_user bigint default null)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update user_state s set base_id = home.id, only_document = null, session_id = gen_random_uuid(), updated_at = now()
  from (
    select at.user_id, at.thread_id, (
      select b.id from bases b
      where b.chat_id = at.user_id and b.thread_id in (at.thread_id, 0) and b.id <> p_base
      order by b.thread_id desc limit 1) as id
    from user_state at where at.base_id = p_base and (p_user is null or at.user_id = p_user)
  ) home
  where s.user_id = home.user_id and s.thread_id = home.thread_id and home.id is not null
$$;
comment on function baza_internal.send_home is
  'Where this base is open (to this person), the chat''s own is opened, with a new dialogue.';

create or replace function baza_internal.erase_base(p_base uuid)
returns bigint
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held bigint;
begin
  perform send_home(p_base);
  delete from chat_session_summary s
  where exists (select from chat_messages m where m.base_id = p_base and (m.user_id, m.session_id) = (s.user_id, s.session_id));
  select cleaned.documents into held from clean_base(p_base::text) cleaned;
  delete from bases b where b.id = p_base;
  return held;
end $$;
comment on function baza_internal.erase_base is
  'Removes a base with everything: documents, dialogues about it, members, links, tokens; returns how many documents.';

create or replace function delete_base(p_base text, p_person bigint default null)
returns table (base_id uuid, documents bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
begin
  perform require(p_base, p_person, 'own');
  perform from bases b where b.id = p_base::uuid and (b.chat_id is null or b.thread_id <> 0);
  if found then
    return query select p_base::uuid, erase_base(p_base::uuid);
  end if;
end $$;
comment on function delete_base is
  'Removes a base with everything. No row for the first base of a chat, which stays and can be emptied.';

create or replace function open_in_chat(p_user bigint, p_base text, p_thread bigint default 0, p_person bigint default null)
returns setof opened_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select require(p_base, p_user, 'read');
  update user_state s set base_id = p_base::uuid, only_document = null, updated_at = now(), session_id = coalesce((
      select m.session_id from chat_messages m
      where m.user_id = p_user and m.base_id = p_base::uuid and not exists (
        select from user_state o where o.user_id = p_user and o.session_id = m.session_id)
      order by m.id desc limit 1), gen_random_uuid())
  where s.user_id = p_user and s.thread_id = p_thread and s.base_id <> p_base::uuid;
  select * from user_states u where u.user_id = p_user and u.thread_id = p_thread
$$;
comment on function open_in_chat is
  'Opens a base in a chat or topic, and goes on with the last dialogue about it, or begins one.';

create or replace function bind_base(p_base text, p_chat bigint, p_thread bigint, p_name text, p_person bigint default null)
returns setof opened_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'own');
  insert into base_members as m (base_id, user_id, role, name)
  values (p_base::uuid, p_chat, 'writer', p_name)
  on conflict (base_id, user_id) do update set name = excluded.name;
  select * from open_in_chat(p_chat, p_base, p_thread)
$$;
comment on function bind_base is
  'Opens a base of a person in a group, all of whom may read and write it there until the owner takes the group off.';

create or replace function forget_person(p_user bigint)
returns table (bases bigint, documents bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
declare
  own uuid;
begin
  bases := 0;
  documents := 0;
  perform revoke_token(null, t.id) from api_tokens t where t.user_id = p_user;
  for own in select m.base_id from base_members m where m.user_id = p_user and m.role = 'owner' loop
    documents := documents + erase_base(own);
    bases := bases + 1;
  end loop;
  perform lock_dialogue(p_user);
  delete from base_members m where m.user_id = p_user;
  delete from user_state s where s.user_id = p_user;
  delete from chat_messages m where m.user_id = p_user;
  delete from chat_archive a where a.user_id = p_user;
  delete from chat_session_summary s where s.user_id = p_user;
  delete from answer_feedback f where f.user_id = p_user;
  delete from answer_tables t where t.user_id = p_user;
  delete from pending_questions q where q.user_id = p_user;
  delete from reservations r where p_user in (r.user_id, r.asker);
  delete from served s where s.person = p_user;
  delete from turn_metrics t where p_user in (t.user_id, t.asker) and t.created_at < now() - interval '24 hours';
  update turn_metrics t set base_id = null where p_user in (t.user_id, t.asker);
  update batches b set chat_id = null where b.chat_id = p_user;
  update documents d set user_id = 0, sender = null, chat_id = nullif(d.chat_id, p_user)
  where p_user in (d.user_id, d.person); -- also what a token of theirs has sent
  return next;
end $$;
comment on function forget_person is
  'Removes all that is theirs: bases with everything in them (for those they are shared with, too), tokens, dialogues, '
  'thumbs, memberships. What they have sent into bases of others stays there without their name; what they have spent '
  'stays for a day.';

select baza_internal.record_function_file('bases', '289bdfca0ba71e3db083035dc1effb1c');

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

select baza_internal.record_function_file('chunks', '75a9af93d7728f95cbec413451caf432');

-- What a worker found in a document. In: hash, blocks, chunks, or the reason why there are none. Out: its state.
-- Everything here is called under a lease (see queue.sql). Passages are searchable batch by batch, unless the document
-- conflicts with one that is searchable already (see conflicts.sql): then they would have to replace that one.
create or replace function record_content(p_document text, p_lease text, p_content_hash text,
  p_size_bytes bigint default null, p_media_type text default null)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  held documents := held_document(p_document, p_lease);
begin
  update documents d
  set content_hash = p_content_hash, size_bytes = coalesce(p_size_bytes, d.size_bytes),
      media_type = coalesce(d.media_type, p_media_type)
  where d.id = held.id
  returning d.* into held;
  return query select * from stopped_by_another(held);
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
  sent record;
begin
  perform lock_held(array(select content.document from jsonb_to_recordset(p_contents::jsonb) as content (document uuid)));
  for sent in
    select * from jsonb_to_recordset(p_contents::jsonb) as content (document text, hash text, size_bytes bigint,
      media_type text)
  loop
    begin
      perform from record_content(sent.document, p_lease, sent.hash, sent.size_bytes, sent.media_type);
      if not found then
        return query select sent.document::uuid;
      end if;
    exception when sqlstate 'BZ001' then
      null; -- whoever goes on with it alone learns of it
    end;
  end loop;
end $$;
comment on function record_contents is
  '`record_content` for several documents of one lease, in one call. Returns those with which the work goes on.';

create or replace function baza_internal.lock_held(p_documents uuid[])
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select from documents d where d.id = any (p_documents) order by d.id for update
$$;
comment on function baza_internal.lock_held is
  'Locks several documents before anything else is: one after the other, each with its batch, two calls could deadlock.';

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
  held documents;
  stored documents[];
  had int[]; -- by the place in `stored`
  chunks int[];
  ended record;
begin
  perform lock_base(d.base_id) from documents d where d.id = (given -> 0 ->> 'document')::uuid;
  perform lock_held(array(select g.document from jsonb_to_recordset(given) as g (document uuid)));
  -- All are stored before the first is counted in its base: whoever else stores passages there waits from then on.
  for sent in
    select * from jsonb_to_recordset(given) as g (document text, chunks int, last jsonb, parsed jsonb, hash text)
  loop
    begin
      held := held_document(sent.document, p_lease);
      stored := stored || put_whole(held, sent.last, p_embeddings, sent.parsed, sent.hash);
      had := had || held.chunks;
      chunks := chunks || sent.chunks;
    exception when sqlstate 'BZ001' then
      null; -- whoever goes on with it alone learns of it
    end;
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

select baza_internal.record_function_file('contents', '4c4201240f601caffa31ee3aeea546f3');

-- Dialogues. In: a person and a dialogue. Out: its last exchanges. The window is small, the archive keeps the rest.
create or replace function baza_internal.lock_dialogue(p_user bigint)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('dialogue of ' || p_user, 0))
$$;
comment on function baza_internal.lock_dialogue is
  'One writer at a time to the dialogues of a person, until the transaction ends.';

create or replace function insert_and_trim_pairs(p_user bigint, p_session text, p_base text, p_question text,
  p_answer text,
  p_question_terms text[] default '{}', p_answer_terms text[] default '{}', p_keep int default 30,
  p_sources text default '[]', p_context text default '[]', p_person bigint default null)
returns table (kept bigint, archived bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform require(p_base, p_person, 'read');
  perform lock_dialogue(p_user);
  insert into chat_messages (user_id, session_id, base_id, role, content, terms, sources, context_used)
  select p_user, p_session::uuid, p_base::uuid, said.role, said.content, said.terms, said.sources::jsonb,
    said.context::jsonb
  from (values (1, 'user', p_question, p_question_terms, '[]', '[]'),
      (2, 'assistant', p_answer, p_answer_terms, p_sources, p_context))
    as said (turn, role, content, terms, sources, context)
  order by said.turn;
  return query
  with leaving as (
    delete from chat_messages m
    where m.user_id = p_user and m.session_id = p_session::uuid and m.id not in (
      select w.id from chat_messages w where w.user_id = p_user and w.session_id = p_session::uuid
      order by w.id desc limit p_keep)
    returning m.*
  ), moved as (
    insert into chat_archive (id, user_id, session_id, base_id, role, content, created_at, terms, sources, context_used)
    select l.id, l.user_id, l.session_id, l.base_id, l.role, l.content, l.created_at, l.terms, l.sources, l.context_used
    from leaving l
    returning 1
  )
  select least(count(*), p_keep), (select count(*) from moved) -- counted as it was before the deletion
  from chat_messages m where m.user_id = p_user and m.session_id = p_session::uuid;
end $$;
comment on function insert_and_trim_pairs is
  'Adds a question with its answer, keeps the last `p_keep` messages of the dialogue, moves older ones to the archive.';

create or replace function baza_internal.dialogue_window(p_user bigint, p_session text, p_pairs int)
returns table (id bigint, question text, answer text)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
  select pair.id, pair.question, pair.answer
  from (
    select m.id, m.role, m.content as question, lead(m.content) over (order by m.id) as answer
    from (
      select * from chat_messages
      where user_id = p_user and session_id = p_session::uuid
      order by id desc limit 2 * p_pairs) m
  ) pair
  where pair.role = 'user' and pair.answer is not null
  order by pair.id
$$;
comment on function baza_internal.dialogue_window is 'The last exchanges of a dialogue, oldest first.';

create or replace function baza_internal.archived_pairs(p_user bigint, p_session text)
returns table (id bigint, last_id bigint, question text, answer text, terms text[])
language sql stable set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
  select pair.id, pair.next_id, pair.content, pair.answer, pair.terms || pair.next_terms
  from (
    select a.id, a.role, a.content, a.terms, lead(a.id) over told as next_id, lead(a.content) over told as answer,
      lead(a.terms) over told as next_terms
    from chat_archive a
    where a.user_id = p_user and a.session_id = p_session::uuid
    window told as (order by a.id)
  ) pair
  where pair.role = 'user' and pair.answer is not null
$$;
comment on function baza_internal.archived_pairs is
  'The exchanges that have left the window of a dialogue, with their terms.';

create or replace function baza_internal.recall_pairs(p_user bigint, p_session text, p_terms text[], p_limit int)
returns table (id bigint, question text, answer text, score double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
  with pairs as materialized (
    select p.*, cardinality(p.terms) as length from archived_pairs(p_user, p_session) p
  ), whole as (
    select count(*)::double precision as total, greatest(avg(length), 1)::double precision as average from pairs
  ), hits as (
    select p.id, t.term, count(*) as frequency, p.length
    from pairs p cross join lateral unnest(p.terms) as t (term)
    where t.term = any (p_terms)
    group by p.id, t.term, p.length
  ), rarity as (
    select h.term, ln(1 + (w.total - count(*) + 0.5) / (count(*) + 0.5)) as idf
    from hits h cross join whole w group by h.term, w.total
  ), scored as (
    select h.id, sum(r.idf * h.frequency * 2.2 / (h.frequency + 1.2 * (0.25 + 0.75 * h.length / w.average))) as score
    from hits h join rarity r on r.term = h.term cross join whole w
    group by h.id
    order by score desc, h.id desc limit p_limit
  )
  select p.id, p.question, p.answer, s.score from scored s join pairs p on p.id = s.id order by p.id
$$;
comment on function baza_internal.recall_pairs is
  'Exchanges that have left the window and are most like a question, by BM25 within the dialogue; oldest first.';

create or replace function recollect(p_user bigint, p_session text, p_pairs int, p_terms text[], p_recalled int)
returns table (part text, question text, answer text)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
  select said.part, said.question, said.answer
  from (
    select 1 as place, 0::bigint as id, 'summary' as part, '' as question, s.summary as answer
    from chat_session_summary s where s.user_id = p_user and s.session_id = p_session::uuid
    union all
    select 2, r.id, 'recalled', r.question, r.answer from recall_pairs(p_user, p_session, p_terms, p_recalled) r
    union all
    select 3, w.id, 'window', w.question, w.answer from dialogue_window(p_user, p_session, p_pairs) w
  ) said
  order by said.place, said.id
$$;
comment on function recollect is
  'All that a turn remembers of its dialogue, in one call: the summary, old exchanges like the question, the window.';

create or replace function unsummarised_pairs(p_user bigint, p_session text, p_limit int)
returns table (question text, answer text, last_id bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select p.question, p.answer, p.last_id from archived_pairs(p_user, p_session) p
  where p.last_id > coalesce((
    select s.up_to from chat_session_summary s where s.user_id = p_user and s.session_id = p_session::uuid), 0)
  order by p.id limit p_limit
$$;
comment on function unsummarised_pairs is
  'Exchanges that have left the window and are not in the summary yet, oldest first.';

create or replace function save_summary(p_user bigint, p_session text, p_summary text, p_up_to bigint)
returns table (up_to bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
begin
  perform lock_dialogue(p_user);
  if not exists (
      select from chat_archive a
      where a.user_id = p_user and a.session_id = p_session::uuid and a.id = p_up_to) then
    return; -- the chat was cleaned while the summary was being written
  end if;
  return query
  insert into chat_session_summary as s (user_id, session_id, summary, up_to)
  values (p_user, p_session::uuid, p_summary, p_up_to)
  on conflict (user_id, session_id) do update
    set summary = excluded.summary, up_to = excluded.up_to, updated_at = now() where s.up_to < excluded.up_to
  returning s.up_to;
end $$;
comment on function save_summary is
  'Keeps the running summary of a dialogue; no row when a later one is there, or when the dialogue was erased '
  'meanwhile.';

create or replace function list_sessions(p_user bigint, p_limit int, p_base text default null,
  p_person bigint default null)
returns table (id uuid, title text, exchanges bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read') where p_base is not null;
  with said as (
    select m.session_id, m.id, m.base_id, m.role, m.content, m.created_at from chat_messages m where m.user_id = p_user
    union all
    select a.session_id, a.id, a.base_id, a.role, a.content, a.created_at from chat_archive a where a.user_id = p_user
  )
  select s.session_id, coalesce((array_agg(s.content order by s.id) filter (where s.role = 'user'))[1], ''),
    count(*) filter (where s.role = 'user')
  from said s where p_base is null or s.base_id = p_base::uuid
  group by s.session_id order by max(s.created_at) desc limit p_limit
$$;
comment on function list_sessions is 'Dialogues of a person (about one base) by their first question, the latest first.';

create or replace function list_messages(p_user bigint, p_base text, p_session text, p_limit int,
  p_before bigint default null, p_person bigint default null)
returns table (id bigint, role text, content text, sources jsonb, context_used jsonb, created_at timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select * from (
    select m.id, m.role, m.content, m.sources, m.context_used, m.created_at from chat_messages m
    where m.user_id = p_user and m.base_id = p_base::uuid and m.session_id = p_session::uuid
      and (p_before is null or m.id < p_before)
    union all
    select a.id, a.role, a.content, a.sources, a.context_used, a.created_at from chat_archive a
    where a.user_id = p_user and a.base_id = p_base::uuid and a.session_id = p_session::uuid
      and (p_before is null or a.id < p_before)
    order by id desc limit p_limit
  ) said
  order by said.id
$$;
comment on function list_messages is
  'The last messages of a dialogue with a base, or the last ones before `p_before`; oldest first, archived ones, too.';

create or replace function resume_session(p_user bigint, p_session text, p_thread bigint default 0)
returns setof opened_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update user_state u set session_id = p_session::uuid, updated_at = now()
  where u.user_id = p_user and u.thread_id = p_thread and exists (
    select from list_sessions(p_user, null, u.base_id::text) s where s.id = p_session::uuid);
  select * from user_states u
  where u.user_id = p_user and u.thread_id = p_thread and u.session_id = p_session::uuid
$$;
comment on function resume_session is
  'Goes on with an earlier dialogue of the same person about the base that is open; no row when there is none.';

create or replace function clean_chat(p_user bigint, p_base text default null, p_person bigint default null)
returns table (session_id uuid, messages bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  erased bigint;
begin
  if p_base is not null then
    perform require(p_base, p_person, 'read');
  end if;
  perform lock_dialogue(p_user);
  with recent as (
    delete from chat_messages m where m.user_id = p_user and (p_base is null or m.base_id = p_base::uuid) returning 1
  ), archived as (
    delete from chat_archive a where a.user_id = p_user and (p_base is null or a.base_id = p_base::uuid) returning 1
  )
  select (select count(*) from recent) + (select count(*) from archived) into erased;
  delete from chat_session_summary s
  where s.user_id = p_user and not exists (
    select from chat_messages m where m.user_id = p_user and m.session_id = s.session_id);
  update user_state u set session_id = gen_random_uuid(), updated_at = now()
  where u.user_id = p_user and (p_base is null or u.base_id = p_base::uuid);
  return query
  select u.session_id, erased from user_state u
  where u.user_id = p_user and (p_base is null or u.base_id = p_base::uuid)
  union all select gen_random_uuid(), erased limit 1;
end $$;
comment on function clean_chat is
  'Erases window, archive and summaries of a person''s dialogues (about one base), begins a new dialogue where it is '
  'open, and returns how many messages were erased.';

select baza_internal.record_function_file('dialogue', '8b3a3b05593f4b86268d9de3a06aefd7');

-- What documents say of people, projects, organisations, places and technologies (seed 4, sections 5.1 and 7.1).
-- In: what a worker found in a ready document, under a lease of its own. Out: entities by the keys of their names, and
-- facts with the passages they stand in. Everything is deleted with the document that says it.
-- Locks are taken in one order: the document, its enrichment, `lock_entities`.

create or replace function baza_internal.lock_entities(p_base uuid)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('entities ' || p_base, 0))
$$;
comment on function baza_internal.lock_entities is
  'Serialises the writers of a base''s entities, so that none is removed for lack of mentions while another '
  'document adds one.';

create or replace function baza_internal.drop_unmentioned() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform lock_entities(g.base_id) from (select distinct o.base_id from old_rows o order by o.base_id) g;
  delete from entities e
  where e.id = any (array(select o.entity_id from old_rows o))
    and not exists (select from entity_mentions m where m.entity_id = e.id);
  return null;
end $$;
comment on function baza_internal.drop_unmentioned is
  'Removes an entity together with the last document that names it.';
create or replace trigger mentions_removed after delete on entity_mentions
  referencing old table as old_rows for each statement execute function baza_internal.drop_unmentioned();

create or replace function baza_internal.forget_entities(p_document uuid)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  delete from graph_facts f where f.document_id = p_document;
  delete from entity_aliases a where a.document_id = p_document;
  delete from entity_mentions m where m.document_id = p_document;
$$;
comment on function baza_internal.forget_entities is 'Removes what was read from a document.';

create or replace function baza_internal.await_enrichment() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  if new.status = 'ready' then
    insert into enrichments (document_id, base_id, turn)
    values (new.id, new.base_id, greatest(now(), (
      select max(e.turn) from enrichments e where e.base_id = new.base_id and e.finished_at is null and not e.again)
      + interval '30 seconds'))
    on conflict do nothing;
  else
    delete from enrichments e where e.document_id = new.id;
    perform forget_entities(new.id);
  end if;
  return null;
end $$;
comment on function baza_internal.await_enrichment is
  'Queues a document that became ready for enrichment; removes all facts of one that no longer is.';
create or replace trigger documents_enriched after update of status on documents
  for each row when ((old.status = 'ready') is distinct from (new.status = 'ready'))
  execute function baza_internal.await_enrichment();

create or replace function claim_enrichment(p_lease_s double precision, p_attempts int, p_only text default null)
returns table (document uuid, base_id uuid, lease uuid, attempt int, title text, language text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  its_id uuid;
begin
  update enrichments e set finished_at = now(), problem = 'no attempt came to an end'
  where e.finished_at is null and e.attempts >= p_attempts and e.lease_until <= now();
  select e.document_id into its_id from enrichments e
  where e.finished_at is null and e.run_after <= now() and (e.lease_until is null or e.lease_until <= now())
    and (p_only is null or (e.base_id = p_only::uuid and not e.again))
  order by e.again, e.turn limit 1 for update skip locked;
  return query
  update enrichments e
  set lease = gen_random_uuid(), lease_until = now() + make_interval(secs => p_lease_s), attempts = e.attempts + 1
  from documents d
  where e.document_id = its_id and d.id = its_id
  returning e.document_id, e.base_id, e.lease, e.attempts, d.title, d.language;
end $$;
comment on function claim_enrichment is
  'Leases to a worker the next ready document to read entities from, or one whose lease has expired; `p_only` asks for '
  'new documents of one base. Gives up what has ended none of `p_attempts` attempts.';

create or replace function unread_for_entities(p_base text, p_person bigint default null)
returns table (unread bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select count(*) from enrichments e where e.base_id = p_base::uuid and e.finished_at is null and not e.again
$$;
comment on function unread_for_entities is
  'How many ready documents of a base wait for their first reading of entities, or are being read.';

create or replace function read_again(p_reader text, p_limit int)
returns table (document_id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  with chosen as (
    select e.document_id from enrichments e
    where e.finished_at is not null and e.reader = p_reader
    order by e.turn limit p_limit for update skip locked
  )
  update enrichments e set again = true, finished_at = null, attempts = 0, run_after = now()
  from chosen c where e.document_id = c.document_id
  returning e.document_id
$$;
comment on function read_again is
  'Queues documents that this reader has read once more, behind all new ones, up to `p_limit` at a time. What is known '
  'of them stays until `store_entities` replaces it.';

create or replace function baza_internal.held_enrichment(p_document text, p_lease text)
returns enrichments
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held enrichments;
begin
  perform from documents d where d.id = p_document::uuid for key share;
  select * into held from enrichments e
  where e.document_id = p_document::uuid and e.lease = p_lease::uuid and e.finished_at is null
  for update;
  if not found then
    raise exception 'the lease of enrichment % is lost', p_document using errcode = 'BZ001';
  end if;
  return held;
end $$;
comment on function baza_internal.held_enrichment is
  'Locks an enrichment for the holder of its lease; raises BZ001 for anybody else.';

create or replace function renew_enrichment(p_document text, p_lease text, p_lease_s double precision)
returns table (document_id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant enrichments := held_enrichment(p_document, p_lease);
begin
  update enrichments e set lease_until = now() + make_interval(secs => p_lease_s)
  where e.document_id = held.document_id;
  return query select held.document_id;
end $$;
comment on function renew_enrichment is 'Extends the lease of an enrichment to that many seconds from now.';

create or replace function postpone_enrichment(p_document text, p_lease text, p_delay_s double precision,
  p_problem text,
  p_final boolean)
returns table (document_id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant enrichments := held_enrichment(p_document, p_lease);
begin
  update enrichments e
  set run_after = now() + make_interval(secs => p_delay_s), lease = null, lease_until = null, problem = p_problem,
      finished_at = case when p_final then now() end
  where e.document_id = held.document_id;
  return query select held.document_id;
end $$;
comment on function postpone_enrichment is 'Releases an enrichment for a later retry, or (`p_final`) gives it up.';

create or replace function store_entities(p_document text, p_lease text, p_found text, p_reader text)
returns table (entities_stored int, facts_stored int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held constant enrichments := held_enrichment(p_document, p_lease);
  its_base constant uuid := held.base_id;
  its_id constant uuid := held.document_id;
  content constant jsonb := p_found::jsonb;
  its_entities bigint[];
  stored int;
begin
  perform lock_entities(its_base);
  delete from graph_facts f where f.document_id = its_id;
  delete from entity_aliases a where a.document_id = its_id;

  insert into entities (base_id, canonical, type, name)
  select its_base, e.canonical, e.type, e.name
  from jsonb_to_recordset(content -> 'entities') as e (canonical text, type text, name text)
  on conflict (base_id, canonical) do nothing;

  insert into entity_mentions as m (base_id, entity_id, document_id, count, chunk_id, confidence)
  select its_base, n.id, its_id, e.count, e.chunk, e.confidence
  from jsonb_to_recordset(content -> 'entities') as e (canonical text, count int, chunk bigint, confidence real)
  join entities n on n.base_id = its_base and n.canonical = e.canonical
  on conflict (entity_id, document_id) do update
  set count = excluded.count, chunk_id = excluded.chunk_id, confidence = excluded.confidence;
  its_entities := array(
    select n.id from jsonb_array_elements(content -> 'entities') e
    join entities n on n.base_id = its_base and n.canonical = e ->> 'canonical');
  delete from entity_mentions m where m.document_id = its_id and m.entity_id <> all (its_entities);

  insert into entity_aliases (base_id, key, entity_id, document_id, form, weight, as_name)
  select distinct on (a.key, n.id) its_base, a.key, n.id, its_id, a.form, a.weight, a.as_name
  from jsonb_to_recordset(content -> 'aliases') as a (canonical text, key text, form text, weight real, as_name boolean)
  join entities n on n.base_id = its_base and n.canonical = a.canonical
  order by a.key, n.id, a.weight desc, a.as_name;

  insert into graph_facts (base_id, entity_id, relation, text, object_id, document_id, chunk_id, position, confidence)
  select its_base, n.id, f.relation, f.text, o.id, its_id, f.chunk, f.position, f.confidence
  from jsonb_to_recordset(content -> 'facts') as f (canonical text, relation text, text text, object text,
    chunk bigint, position int, confidence real)
  join entities n on n.base_id = its_base and n.canonical = f.canonical
  left join entities o on o.base_id = its_base and o.canonical = f.object
  order by f.position;
  get diagnostics stored = row_count;

  update enrichments e
  set finished_at = now(), reader = p_reader, problem = null, lease = null, lease_until = null
  where e.document_id = its_id;
  return query select cardinality(its_entities), stored;
end $$;
comment on function store_entities is
  'Stores what was read from a document in place of any earlier, and ends its enrichment, in one transaction.';

select baza_internal.record_function_file('enrichment', '0e564b5c6c106e321f390045430f0aaa');

-- Looking up what documents say of entities. In: a base, with keys of names or an entity. Out: spans to read, entities,
-- facts with their passages. It changes nothing.
create or replace function read_spans(p_base text, p_document text, p_after int, p_limit int,
  p_person bigint default null)
returns table (chunk bigint, ordinal int, start int, "end" int)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select c.id, c.ordinal, c.span_start, c.span_end from documents_chunks c join documents d on d.id = c.document_id
  where c.base_id = p_base::uuid and c.document_id = p_document::uuid and d.visible and c.ordinal > p_after
  order by c.ordinal limit p_limit
$$;
comment on function read_spans is 'Which characters of a document each of its passages holds, in reading order.';

create or replace function resolve_names(p_base text, p_keys text[], p_limit int, p_person bigint default null)
returns table (id text, type text, name text, forms text[], key text, weight real, as_name boolean,
  confidence real, facts bigint)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp
  set plan_cache_mode = force_generic_plan
as $$ -- planning it takes ten times as long as running it
#variable_conflict use_column
begin
  perform require(p_base, p_person, 'read');
  return query
  with named as (
    select a.entity_id, a.key, max(a.weight) as weight, bool_and(a.as_name) as as_name,
      row_number() over (partition by a.key order by max(a.weight) desc, count(*) desc, a.entity_id) as place
    from entity_aliases a
    where a.base_id = p_base::uuid and a.key = any (p_keys)
    group by a.entity_id, a.key
  ), found as (
    select n.entity_id, n.key, n.weight, n.as_name from named n
    where n.place <= 12 -- a first name may mean hundreds: the ones that most documents call so
    order by n.weight desc, n.entity_id limit p_limit
  )
  select e.canonical, e.type, e.name,
    array(select x.form from entity_aliases x where x.entity_id = e.id and x.weight = 1
          group by x.form order by count(*) desc, x.form limit 8),
    f.key, f.weight, f.as_name,
    (select coalesce(max(m.confidence), 0) from entity_mentions m where m.entity_id = e.id),
    (select count(*) from (select from graph_facts g where g.entity_id = e.id limit 100) own)
      + (select count(*) from ( -- facts about a technology have other entities as their subject
           select from graph_facts g where g.object_id = e.id and e.type = 'technology' limit 100) said)
  from found f join entities e on e.id = f.entity_id
  order by f.weight desc, e.canonical;
end $$;
comment on function resolve_names is
  'Entities of a base that are found under these keys, the surest first; at most twelve for each key.';

create or replace function entity_facts(p_base text, p_entity text, p_relations text[], p_related boolean, p_limit int,
  p_person bigint default null)
returns table (entity text, relation text, text text, object text, confidence real, passage jsonb)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp
  set plan_cache_mode = force_generic_plan
as $$ -- planning it takes ten times as long as running it
#variable_conflict use_column
begin
  perform require(p_base, p_person, 'read');
  return query
  with asked as (
    select e.id, e.type from entities e where e.base_id = p_base::uuid and e.canonical = p_entity
  ), chosen as (
    select f.id, 0 as remoteness from asked a join graph_facts f on f.entity_id = a.id
    union all
    select f.id, 1 from asked a join graph_facts f on f.object_id = a.id
    union all -- for an employer or a technology: the facts of the projects that name it
    select f.id, 2 from asked a join graph_facts t on t.object_id = a.id join graph_facts f on f.entity_id = t.entity_id
    where p_related and a.type <> 'project'
    union all
    select f.id, 0 from graph_facts f
    where p_entity is null and f.base_id = p_base::uuid and f.relation = any (p_relations)
  ), nearest as (
    select c.id, min(c.remoteness) as remoteness from chosen c group by c.id
  )
  select e.name, f.relation, f.text, o.name, f.confidence, to_jsonb(p)
  from nearest n
  join graph_facts f on f.id = n.id
  join entities e on e.id = f.entity_id
  left join entities o on o.id = f.object_id
  join passages p on p.chunk_id = f.chunk_id and p.base_id = p_base::uuid
  join documents d on d.id = f.document_id
  where f.base_id = p_base::uuid and f.relation = any (p_relations)
  order by n.remoteness, coalesce(d.published_at, d.created_at) desc, d.id, f.position limit p_limit;
end $$;
comment on function entity_facts is
  'Facts about an entity, or about all (null), in these relations: its own, then those of others that name it, then '
  'with `p_related` all facts of those others. Only facts whose passage is searchable.';

select baza_internal.record_function_file('entities', 'eb8338cfd2b5735644e74f1f7db9123a');

-- The library of a base, as people see it. In: a base and a document of it. Out: cards, counts, what was removed.
-- A document is reached only through its base: the right id with a wrong base finds nothing.
create or replace function baza_internal.documents_ahead(p_document uuid)
returns int
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with mine as materialized (
    select d.lane, d.person, d.base_id, greatest(d.run_after, now()) as due, (
      select count(*) from documents x
      where x.phase = 'waiting' and x.lane = d.lane and x.person = d.person and x.base_id = d.base_id
        and (x.run_after, x.created_at, x.position, x.id) < (d.run_after, d.created_at, d.position, d.id)) as in_base
    from documents d
    where d.id = p_document and d.phase = 'waiting'
  ), waiting as materialized (
    select s.person, s.base_id from mine m cross join lateral waiting_senders(m.lane) s
  ), own as (
    select m.in_base + coalesce(sum(beside.turns), 0) as turns
    from mine m left join waiting w on w.person = m.person and w.base_id <> m.base_id
    left join lateral (
      select count(*) as turns from (
        select from documents d
        where d.phase = 'waiting' and d.lane = m.lane and d.person = w.person and d.base_id = w.base_id
          and d.run_after <= m.due
        limit m.in_base + 1) as some_of_them) beside on true
    group by m.in_base
  )
  select (own.turns + coalesce(sum(others.turns), 0))::int
  from own cross join mine m left join (select distinct w.person from waiting w) p on p.person <> m.person
  left join lateral (
    select count(*) as turns from (
      select from documents d
      where d.phase = 'waiting' and d.lane = m.lane and d.person = p.person and d.run_after <= m.due
      limit own.turns + 1) as some_of_them) others on true
  group by own.turns
$$;
comment on function baza_internal.documents_ahead is
  'How many documents of its lane are processed before a waiting one: those of its sender before it in its base, from '
  'every other base of theirs, and from every other person, as many turns as this one will have had (see `turns`).';

create or replace view document_cards with (security_invoker = true) as
select d.id, d.base_id, d.batch_id, d.position, d.source_type, d.known_as as source_identifier, d.title, d.status,
  d.progress_done, d.progress_total, d.waits_for_service, d.error_code, d.error_params,
  d.language, d.medium, d.duration_s, d.pages, d.pages_without_text, d.parts, d.unread,
  case when d.status = 'ready' then d.chunks else 0 end as chunks,
  case when d.visible then d.chunks else 0 end as searchable,
  case when d.phase = 'waiting' then coalesce(documents_ahead(d.id), 0) else 0 end as ahead,
  case when d.status = 'ready' then extract(epoch from d.finished_at - d.started_at)::double precision end as seconds,
  d.version, d.author, d.user_id as sent_by, d.sender, d.published_at, d.source_url as url,
  d.created_at, d.expires_at, d.chat_id, d.message_id, d.kept_file, d.size_bytes,
  case when d.status = 'ready' then (
    select jsonb_build_object('code', f.error_code, 'params', f.error_params) from documents f
    where f.base_id = d.base_id and f.lineage = d.lineage and f.status = 'failed' and f.finished_at > d.finished_at
    order by f.finished_at desc limit 1) end as next_failure,
  case d.status
    when 'failed' then not exists (
      select from documents r where r.base_id = d.base_id and r.lineage = d.lineage and r.status = 'ready')
    else d.status not in ('duplicate', 'cancelled', 'superseded') end as is_listed
from documents d;
comment on view document_cards is
  'A document as people see it: without its text, lease and internal errors. A renamed file goes by its new name. A '
  'failed attempt to replace a ready document is shown on that document (`next_failure`), not listed beside it.';

create or replace function baza_internal.is_called(p_title text, p_identifier text, p_words text)
returns boolean
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select not exists (
    select from unnest(string_to_array(replace(lower(p_words), 'ё', 'е'), ' ')) word
    where strpos(replace(lower(p_title || E'\n' || p_identifier), 'ё', 'е'), word) = 0)
$$;
comment on function baza_internal.is_called is
  'Whether title or file name hold each of these words or parts of words, in any order; ё equals е.';

create or replace function list_documents(p_base text, p_limit int, p_offset int default 0,
  p_name_contains text default null, p_person bigint default null)
returns setof document_cards
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select * from document_cards d
  where d.base_id = p_base::uuid and d.is_listed
    and (p_name_contains is null or is_called(d.title, d.source_identifier, p_name_contains))
  order by d.status = 'failed', d.created_at desc, d.id
  limit p_limit offset p_offset
$$;
comment on function list_documents is
  'Documents of a base, newest first, those that could not be read at the end; without duplicates, cancelled and superseded ones and failed attempts to replace '
  'one; filtered by words of title or name.';

create or replace function count_base(p_base text, p_name_contains text default null, p_person bigint default null)
returns table (documents bigint, chunks bigint, choosing bigint, waiting bigint, failed bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select count(*) filter (where d.status = 'ready'),
    coalesce(sum(d.chunks) filter (where d.status = 'ready'), 0)::bigint,
    count(*) filter (where d.status = 'choosing'), count(*) filter (where d.status not in ('ready', 'choosing', 'failed')),
    count(*) filter (where d.status = 'failed')
  from document_cards d
  where d.base_id = p_base::uuid and d.is_listed
    and (p_name_contains is null or is_called(d.title, d.source_identifier, p_name_contains))
$$;
comment on function count_base is
  'How many of the documents that `list_documents` lists are ready, with their passages, how many wait for a choice, '
  'how many wait to be read or are in work, and how many could not be read; `base_statistics` counts the same ready ones.';

create or replace function document_card(p_base text, p_document text, p_person bigint default null)
returns setof document_cards
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select card.* from documents d join document_cards card on card.id = coalesce((
    select current.id from documents current
    where d.status in ('superseded', 'failed') and current.base_id = d.base_id and current.lineage = d.lineage
      and current.status = 'ready'), d.id)
  where d.base_id = p_base::uuid and d.id = p_document::uuid
$$;
comment on function document_card is
  'One document of the base, in any state; no row when there is none. For an earlier version, or a failed attempt at '
  'the next one, the current version: buttons stay under messages for years.';

create or replace function read_cards(p_base text, p_documents text[], p_person bigint default null)
returns table (asked uuid, card jsonb)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select d.asked::uuid, to_jsonb(card) from unnest(p_documents) as d (asked)
    cross join lateral document_card(p_base, d.asked, p_person) card
$$;
comment on function read_cards is '`document_card` for several documents of a base, in one call.';

create or replace function document_versions(p_base text, p_document text, p_person bigint default null)
returns setof document_cards
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select card.* from documents d join documents v on v.base_id = d.base_id and v.lineage = d.lineage
    join document_cards card on card.id = v.id
  where d.base_id = p_base::uuid and d.id = p_document::uuid
    and (v.id = d.id or v.status = 'superseded' and v.version < d.version)
  order by card.version desc limit 900
$$;
comment on function document_versions is
  'A document and the versions that it replaced, newest first; no row when there is none.';

create or replace function cancel_document(p_base text, p_document text, p_person bigint default null)
returns table (id uuid, status text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform require(p_base, p_person, 'write');
  perform from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid and d.phase <> 'ended' for update;
  if found then
    perform finish_document(p_document::uuid, 'cancelled', 'cancelled', '{}', null);
    return query select p_document::uuid, 'cancelled'::text;
  end if;
end $$;
comment on function cancel_document is
  'Stops the work on a document and removes what was stored of it; no row when the work had ended already.';

create or replace function cancel_batch(p_base text, p_batch_id text, p_person bigint default null)
returns table (cancelled bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  open_ones uuid[];
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid);
  with locked as (
    select d.id from documents d
    where d.base_id = p_base::uuid and d.batch_id = p_batch_id::uuid and d.phase <> 'ended'
    order by d.id for update
  )
  select coalesce(array_agg(locked.id), '{}') into open_ones from locked;
  perform finish_document(one, 'cancelled', 'cancelled', '{}', null) from unnest(open_ones) one;
  return query select cardinality(open_ones)::bigint;
end $$;
comment on function cancel_batch is 'Stops the work on all documents of a batch that have not ended; returns how many.';

create or replace function sender_of_batch(p_base text, p_batch_id text, p_person bigint default null)
returns table (user_id bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select d.user_id from documents d where d.base_id = p_base::uuid and d.batch_id = p_batch_id::uuid limit 1
$$;
comment on function sender_of_batch is 'Who sent the documents of a batch together.';

create or replace function baza_internal.beside(p_name text, p_number int)
returns text
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  -- Before the ending, as file managers do: «План (2).docx».
  select regexp_replace(p_name, '(.)(\.[^./\s]{1,8})?$', '\1 (' || p_number || ')\2')
$$;
comment on function baza_internal.beside is 'The name of the second, third … file of the same name.';

create or replace function baza_internal.free_number(p_held documents)
returns int
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select min(n) from generate_series(2, 1000) n
  where not exists (
    select from documents d
    where d.base_id = p_held.base_id and d.source_type = p_held.source_type and d.phase <> 'asking'
      and d.status not in ('failed', 'duplicate', 'cancelled', 'superseded')
      and d.name_key = beside(p_held.name_key, n))
$$;
comment on function baza_internal.free_number is 'The first number that gives a name no other document has.';

create or replace function choose_document(p_base text, p_document text, p_choice text, p_person bigint default null)
returns table (id uuid, status text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  asking documents;
  number int;
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid); -- two that are kept beside a third get different names
  select * into asking from documents d
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.phase = 'asking' for update;
  if not found then
    return;
  elsif p_choice = 'skip' then
    perform finish_document(asking.id, 'cancelled', 'skipped', '{}', null);
    return query select asking.id, 'cancelled'::text;
    return;
  elsif p_choice = 'keep_both' then
    number := free_number(asking);
  elsif p_choice <> 'replace' then
    raise exception 'nobody can choose %', p_choice using errcode = 'invalid_parameter_value';
  end if;
  update documents d
  set status = 'queued', chosen = true, attempts = 0, started_at = null, finished_at = null, run_after = now(),
      error_params = '{}', name_key = coalesce(beside(d.name_key, number), d.name_key),
      given_title = coalesce(beside(d.known_as, number), d.given_title),
      title = coalesce(beside(d.known_as, number), d.title),
      given_terms = case when number is null then d.given_terms end,
      lineage = coalesce((
        select other.lineage from documents other
        where number is null and other.base_id = d.base_id and other.id = (d.error_params ->> 'document_id')::uuid
          and other.status in ('ready', 'superseded')), d.lineage)
  where d.id = asking.id;
  perform touch_batch(asking.batch_id);
  return query select asking.id, 'queued'::text;
end $$;
comment on function choose_document is
  'Takes the person''s answer on a file whose name the base has with other content: it replaces the other once it is '
  'read, is read under another name, or is dropped. No row when nothing is asked any more.';

create or replace function delete_document(p_base text, p_document text, p_person bigint default null)
returns table (id uuid, batch_id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
#variable_conflict use_column
declare
  doomed documents;
  its_versions uuid[];
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid);
  select * into doomed from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid for update;
  if not found then
    return;
  end if;
  select array_agg(d.id) into its_versions from documents d
  where d.base_id = doomed.base_id and d.lineage = doomed.lineage
    and (d.id = doomed.id or doomed.status = 'ready' and (d.status in ('superseded', 'failed')
      or d.phase <> 'ended' and d.source_type <> 'file'));
  update documents d set error_params = d.error_params - 'title' - 'source_identifier'
  where d.base_id = doomed.base_id and d.status = 'choosing'
    and d.error_params ->> 'document_id' = any (its_versions::text[]);
  delete from documents d
  where d.id = any (its_versions || array(
    select twin.id from documents twin
    where twin.base_id = doomed.base_id and twin.status = 'duplicate'
      and twin.error_params ->> 'document_id' = any (its_versions::text[])));
  return query select doomed.id, doomed.batch_id;
end $$;
comment on function delete_document is
  'Removes a document, in any state, with its earlier versions and all that is stored of them, its duplicates, and '
  'what is reading its source anew, which would bring it back; a file that was sent to replace it stays. No row when '
  'there is none. For its batch see `tell_removed`.';

create or replace function clean_base(p_base text, p_person bigint default null)
returns table (documents bigint, chunks bigint, choosing bigint, waiting bigint, failed bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
declare
  held record;
begin
  perform require(p_base, p_person, 'own');
  perform lock_base(p_base::uuid);
  perform from documents d where d.base_id = p_base::uuid order by d.id for update; -- workers finish their call first
  select * into held from count_base(p_base);
  delete from documents d where d.base_id = p_base::uuid;
  return query select held.documents, held.chunks, held.choosing, held.waiting, held.failed;
end $$;
comment on function clean_base is
  'Removes everything of a base, also what is being read right now; returns how many ready documents and passages.';

create or replace function read_blocks(p_base text, p_document text, p_after int, p_limit int,
  p_person bigint default null)
returns table (ordinal int, kind text, level int, text text, locator jsonb)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select b.ordinal, b.kind, b.level, b.text, b.locator
  from document_blocks b join documents d on d.id = b.document_id
  where d.base_id = p_base::uuid and d.id = p_document::uuid and b.ordinal > p_after
  order by b.ordinal limit p_limit
$$;
comment on function read_blocks is 'The parsed text of a document in reading order, after an ordinal.';

select baza_internal.record_function_file('library', 'bd6e141c9cd6d10e6398a05c76da069e');

-- The live messages of batches. In: what the bot has shown. Out: what it has to show next. They survive restarts.
-- These functions take a batch and no base: they are the bot's own work on messages that it sent, over all bases.
create or replace function baza_internal.tell_removed() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  if not exists (select from old_rows) then -- fired by the cascade of the delete below
    return null;
  end if;
  delete from batches b -- nobody waits for its message, or the message says already how all of it ended
  using (select batch_id, bool_and(phase = 'ended') as were_over from old_rows group by batch_id) gone
  where b.id = gone.batch_id and (b.chat_id is null or gone.were_over and b.shown_revision >= b.revision)
    and not exists (select from documents d where d.batch_id = b.id);
  update batches b
  set removed = b.removed + gone.documents,
      revision = b.revision + (not gone.were_over or b.shown_revision < b.revision)::int,
      message_id = case when left_over.any_left then b.message_id end,
      media_group = case when left_over.any_left then b.media_group end
  from (select batch_id, count(*)::int as documents, bool_and(phase = 'ended') as were_over
        from old_rows group by batch_id) gone
    cross join lateral (select exists (select from documents d where d.batch_id = gone.batch_id) as any_left) left_over
  where b.id = gone.batch_id;
  return null;
end $$;
comment on function baza_internal.tell_removed is
  'When documents are removed, a live message that has not reported their end yet is due once more. A batch '
  'left without documents keeps nothing of them, is no longer found by its message, and is deleted once that was shown '
  '(`confirm_notice`).';
-- After `documents_removed`, which locks the row of the base: triggers run in the order of their names.
create or replace trigger documents_removed_told after delete on documents
  referencing old table as old_rows for each statement execute function baza_internal.tell_removed();

create or replace function attach_notice(p_batch text, p_message bigint)
returns table (id uuid, notice_message_id bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update batches b set notice_message_id = p_message where b.id = p_batch::uuid returning b.id, b.notice_message_id
$$;
comment on function attach_notice is 'Remembers which message of ours is the live one of a batch.';

create or replace function due_notices(p_limit int, p_hold_s double precision)
returns table (batch_id uuid, chat_id bigint, thread_id bigint, reply_to bigint, message_id bigint, language text,
  revision bigint, removed int, elsewhere jsonb, documents jsonb)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  v_due uuid[];
begin
  with due as (
    update batches b set notice_due_at = now() + make_interval(secs => p_hold_s)
    where b.id in (
      select waiting.id from batches waiting
      where waiting.chat_id is not null and waiting.shown_revision < waiting.revision and waiting.notice_due_at <= now()
      order by waiting.notice_due_at limit p_limit
      for update skip locked)
    returning b.id)
  select array_agg(due.id) into v_due from due;
  -- A statement of its own: the one above may lock a row that is newer than its snapshot, and would tell the newest
  -- revision with documents from before it.
  return query
  select b.id, b.chat_id, b.thread_id, b.message_id, b.notice_message_id, b.language, b.revision, b.removed,
    (select jsonb_build_object('id', its.id, 'name', coalesce(o.name, its.name), 'role', null, 'owner_name', o.owner_name)
     from bases its left join bases_of_people o on o.base_id = its.id and o.user_id = b.chat_id
     where its.id = b.base_id and exists (
       select from user_state s
       where s.user_id = b.chat_id and s.thread_id = coalesce(b.thread_id, 0) and s.base_id <> b.base_id)),
    coalesce((select jsonb_agg(to_jsonb(card) order by card.position)
              from document_cards card where card.batch_id = b.id), '[]')
  from batches b where b.id = any(v_due) order by b.created_at, b.id;
end $$;
comment on function due_notices is
  'Batches that have changed since they were shown, in the order in which they came, with their documents; each is '
  'reserved for this caller for `p_hold_s`. `elsewhere`: their base, where it is not the one that is open there.';

create or replace function confirm_notice(p_batch text, p_revision bigint)
returns table (id uuid, shown_revision bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  update batches b set shown_revision = greatest(b.shown_revision, p_revision), notice_due_at = now()
  where b.id = p_batch::uuid
  returning b.id, b.shown_revision;
  delete from batches b
  where b.id = p_batch::uuid and b.shown_revision >= b.revision and b.removed > 0
    and not exists (select from documents d where d.batch_id = b.id);
end $$;
comment on function confirm_notice is
  'Records that a batch is shown up to this revision; a newer one is due at once. Deletes it if all its documents were '
  'removed.';

select baza_internal.record_function_file('notices', '6f8b48d5b0e5da269c3a0352c02a52f5');

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
begin
  -- An array, not a join: the planner does not know the size of the transition table, and would scan all postings.
  delete from chunk_terms t where t.chunk_id = any (array(select gone.id from old_rows gone));
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

select baza_internal.record_function_file('queue', '7e2978a1956345a4c438f6f373fc5067');

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

select baza_internal.record_function_file('reindexing', 'f13c38bbe3fb4bd45525f6c168c7a19f');

create or replace view passages with (security_invoker = true) as
select c.id as chunk_id, c.base_id, c.document_id, c.ordinal, d.title, d.source_type, d.known_as as source_identifier,
  c.text, c.locator, d.published_at, d.source_url as url, d.author,
  d.sender, d.status as document_status, d.chunks as searchable, d.progress_total,
  case when c.ordinal > 0 then head.opening end as opening
from documents_chunks c join documents d on d.id = c.document_id left join lateral (
  select left(x.text, 400) as opening from documents_chunks x where x.document_id = c.document_id and x.ordinal = 0
  offset 0) head on true
where d.visible;
comment on view passages is
  'Searchable passages: the chunks of ready documents, and of those being read as far as they are stored, with what a '
  'citation needs. Of the `progress_total` passages that a document will have, `searchable` are there.';

create or replace view hidden_documents with (security_invoker = true) as
select d.id, d.base_id from documents d
where d.chunks > 0 and not d.visible;
comment on view hidden_documents is
  'Documents whose chunks must not be found. There are mostly none, so that excluding them costs less than checking '
  'for each chunk whether its document is visible.';

-- Search in one base, by vector and by words at once. In: a base, a query vector, terms, a filter. Out: passages.
-- Reads one snapshot, so that a publication is found whole or not at all. Planned once per connection, like what it
-- calls (`force_generic_plan`): planning anew for the values of each question took up to a third of a search by vector.

create or replace function baza_internal.folded(p_name text) returns text
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select translate(lower(p_name), 'ё', 'е') $$;
comment on function baza_internal.folded is 'A name in lower case, with е for ё, as people type it.';

create or replace function baza_internal.matching_documents(p_base uuid, p_filter jsonb) returns uuid[]
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select case when p_filter is not null then array(
    select d.id from documents d
    where d.base_id = p_base and d.visible
      and (p_filter -> 'documents' is null or p_filter -> 'documents' ? d.id::text)
      and (p_filter -> 'types' is null or p_filter -> 'types' ? d.source_type)
      and (p_filter -> 'media' is null or p_filter -> 'media' ? d.medium)
      and (p_filter ->> 'sender' is null or strpos(folded(d.sender), folded(p_filter ->> 'sender')) > 0)
      and (p_filter -> 'sent_by' is null or d.user_id = (p_filter ->> 'sent_by')::bigint)
      and (p_filter ->> 'author' is null
        or strpos(folded(coalesce(d.author, d.sender)), folded(p_filter ->> 'author')) > 0)
      and exists (
        select from unnest(array[d.published_at, d.created_at]) as dated (at)
        where (p_filter ->> 'since' is null or at >= (p_filter ->> 'since')::timestamptz)
          and (p_filter ->> 'before' is null or at < (p_filter ->> 'before')::timestamptz))
  ) end
$$;
comment on function baza_internal.matching_documents is
  'The documents of the base that pass a filter; null where there is no filter. Either the document''s own '
  'date or the date when it was sent has to be within since and before: «приказы 2024 года», «что присылали в мае». A '
  'document without an author, such as a note, counts as written by its sender.';

create or replace function search(p_base text, p_embedding halfvec[], p_model text, p_terms text[], p_spellings text,
  p_filter text,
  p_limit int, p_near bigint[] default null, p_near_segment text default null, p_near_row bigint default null,
  p_by_vector boolean default true, p_person bigint default null)
returns table (chunk_id bigint, document_id uuid, ordinal int, title text, source_type text, source_identifier text,
  text text, locator jsonb, published_at timestamptz, url text, author text, sender text,
  document_status text, searchable int, progress_total int, similarity double precision, bm25 double precision,
  rarities double precision[], inherited double precision[], opening text, as_of text)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  as_of constant text := (select b.xmin::text from bases b where b.id = p_base::uuid);
  within constant uuid[] := case when p_filter is not null then matching_documents(p_base::uuid, p_filter::jsonb) end;
  query_vector constant halfvec := p_embedding[1];
begin
  perform require(p_base, p_person, 'read');
  if within = '{}' then -- no document fits
    return;
  end if;
  return query
  with found as (
    select chunk_id, near.distance, words.score, words.rarities, words.inherited
    from search_vectors(p_base::uuid, case when p_by_vector then query_vector end, p_model, within, p_limit, p_near,
      p_near_segment, p_near_row) near
    full join (
      select * from search_terms(p_base::uuid, p_terms, p_spellings::jsonb, within, p_limit)
      where cardinality(p_terms) > 0) words using (chunk_id) -- without terms it is not even called
  )
  select c.id, c.document_id, c.ordinal, d.title, d.source_type, d.known_as, c.text, c.locator, d.published_at,
    d.source_url, d.author, d.sender, d.status, d.chunks, d.progress_total,
    case when c.model = p_model then -- NaN: a vector of zeros
      nullif(1 - coalesce(found.distance, c.embedding <=> query_vector), 'NaN') end,
    found.score, found.rarities, found.inherited, case when c.ordinal > 0 then head.opening end, as_of
  from found
  -- "offset 0": each row is looked up by key. Without statistics the planner expects one row and would read the whole
  -- base again, which takes longer than the search did; the same with a few hundred documents.
  cross join lateral (select * from documents_chunks x where x.id = found.chunk_id offset 0) c
  cross join lateral (select * from documents x where x.id = c.document_id offset 0) d
  left join lateral (
    select left(x.text, 400) as opening from documents_chunks x where x.document_id = c.document_id and x.ordinal = 0
    offset 0) head on true
  where c.base_id = p_base::uuid and d.visible;
end $$;
comment on function search is
  'Up to `p_limit` passages of each leg (vector, words), each passage once. `similarity` (cosine) is there for all '
  'that the vector can be compared with, `bm25` for those that the words found, with the weight of each term of the '
  'question in `rarities` and what it is `inherited` (see `search_chosen`), `opening` how the document of a later '
  'passage begins. A leg without vector or terms is left out, that of the vector also where it serves `similarity` '
  'alone (not `p_by_vector`). Calls with the same `as_of` see the same documents: who adds or removes any changes the '
  'counts of its base. `p_near` are candidates from a copy of the segment `p_near_segment` up to its place '
  '`p_near_row`; like all others they are looked up in this base alone.';

create or replace function passage(p_base text, p_chunk bigint, p_person bigint default null)
returns setof passages
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select * from passages p where p.base_id = p_base::uuid and p.chunk_id = p_chunk
$$;
comment on function passage is 'One passage of this base, or none.';

create or replace function holds_documents(p_base text, p_person bigint default null)
returns table (base_id uuid, holds boolean)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select b.id, b.passages > 0 from bases b where b.id = p_base::uuid
$$;
comment on function holds_documents is 'Whether the base has any searchable passage.';

-- Reading a document through, passage by passage. In: a base, a document, where to begin. Out: rows of `passages`.

create or replace function read_passages(p_base text, p_document text, p_after int, p_limit int,
  p_person bigint default null)
returns setof passages
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select * from passages p
  where p.base_id = p_base::uuid and p.document_id = p_document::uuid and p.ordinal > p_after
  order by p.ordinal limit p_limit
$$;
comment on function read_passages is
  'Passages of a document in reading order, after an ordinal; none when the base does not hold the document.';

create or replace function find_documents(p_base text, p_terms text[], p_spellings text, p_limit int,
  p_person bigint default null)
returns table (id uuid, title text, file_name text, source_type text, published_at timestamptz, pages int,
  passages int, score double precision, opening text)
language plpgsql stable security invoker set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  looked_into constant int := 200; -- passages; a long document has many good ones
begin
  perform require(p_base, p_person, 'read');
  return query
  select d.id, d.title, d.known_as, d.source_type, d.published_at, d.pages, d.chunks, best.score,
    coalesce((select left(x.text, 400) from documents_chunks x where x.document_id = d.id and x.ordinal = 0), '')
  from (
    select c.document_id, max(found.score) as score
    from search_terms(p_base::uuid, p_terms, p_spellings::jsonb, null, looked_into) found
    cross join lateral (select * from documents_chunks x where x.id = found.chunk_id offset 0) c
    group by c.document_id) best
  cross join lateral (select * from documents x where x.id = best.document_id offset 0) d
  where d.base_id = p_base::uuid and d.visible
  order by best.score desc, d.id limit p_limit;
end $$;
comment on function find_documents is
  'The documents that these terms choose, by their best passage, each with how it begins; `passages` is how many of '
  'theirs can be found.';

create or replace function documents_saying_first(p_base text, p_terms text[], p_limit int, p_offset int default 0,
  p_person bigint default null)
returns table (id uuid, title text, file_name text, source_type text, published_at timestamptz, pages int,
  passages int, score double precision, opening text)
language plpgsql stable security invoker set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  perform require(p_base, p_person, 'read');
  return query
  with first as materialized (
    select x.chunk_id from unnest(p_terms) u (term) cross join lateral (
      select t.chunk_id from chunk_terms t
      where t.base_id = p_base::uuid and t.term = u.term collate "C" and t.spread > 0 offset 0) x
    group by x.chunk_id having count(*) = cardinality(p_terms)
  )
  select d.id, d.title, d.known_as, d.source_type, d.published_at, d.pages, d.chunks, 0::double precision,
    left(c.text, 400)
  from first
  cross join lateral (select * from documents_chunks x where x.id = first.chunk_id offset 0) c
  cross join lateral (select * from documents x where x.id = c.document_id offset 0) d
  where d.base_id = p_base::uuid and d.visible
  order by d.id limit p_limit offset p_offset;
end $$;
comment on function documents_saying_first is
  'The documents that have all of these terms (each given once) in their first passage or in their names, by id; '
  '`opening` is how the text begins, with its lines. Every one is found: for counting.';

select baza_internal.record_function_file('search', 'd38175e19468aa656b9b3f1c4c40b743');

-- Sharing a base. In: a base, or the hash of a link's secret. Out: members and links. Only the owner makes and ends them;
-- who joined can leave.

create or replace function make_invitation(p_base text, p_hash text, p_role text, p_once boolean, p_days int,
  p_person bigint default null)
returns table (id bigint, role text, once boolean, until timestamptz)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'own');
  insert into invitations as i (base_id, hash, role, once, until)
  values (p_base::uuid, p_hash, p_role, p_once, now() + make_interval(days => p_days))
  returning i.id, i.role, i.once, i.until
$$;
comment on function make_invitation is 'A link by which people join the base; without `p_days` neither it nor their right ends.';

create or replace function list_invitations(p_base text, p_person bigint default null)
returns table (id bigint, role text, once boolean, until timestamptz, created_at timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'own');
  select i.id, i.role, i.once, i.until, i.created_at from invitations i
  where i.base_id = p_base::uuid and (i.until is null or i.until > now())
  order by i.id desc limit 100
$$;
comment on function list_invitations is 'The links of a base that still work, newest first.';

create or replace function revoke_invitation(p_base text, p_invitation bigint, p_person bigint default null)
returns table (id bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'own');
  delete from invitations i where i.base_id = p_base::uuid and i.id = p_invitation returning i.id
$$;
comment on function revoke_invitation is 'Ends a link; who has joined by it stays until the owner takes them off.';

create or replace function accept_invitation(p_user bigint, p_hash text, p_name text)
returns table (base uuid, name text, role text, owner_name text, is_new boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  link invitations;
  gains boolean;
begin
  select * into link from invitations i
  where i.hash = p_hash and (i.until is null or i.until > now()) for update;
  if not found then
    return;
  end if;
  gains := rights_in(link.base_id, p_user) < array_position('{reader,writer}', link.role);
  if gains then
    insert into base_members as m (base_id, user_id, role, name, until)
    values (link.base_id, p_user, link.role, p_name, link.until)
    on conflict (base_id, user_id) do update
      set role = excluded.role, name = excluded.name, until = excluded.until, joined_at = now();
    delete from invitations i where i.id = link.id and i.once;
  end if;
  return query
  select o.base_id, o.name, o.role, o.owner_name, gains from bases_of_people o
  where o.base_id = link.base_id and o.user_id = p_user;
end $$;
comment on function accept_invitation is
  'Makes the person a member; one who may do as much already stays as they are, and does not use the link up. No row '
  'for a link that is unknown, used, revoked or over.';

create or replace function list_members(p_base text, p_person bigint default null)
returns table (id bigint, name text, role text, until timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'own');
  select m.user_id, m.name, m.role, m.until from base_members m
  where m.base_id = p_base::uuid and m.role <> 'owner' and (m.until is null or m.until > now())
  order by m.joined_at, m.user_id limit 500
$$;
comment on function list_members is 'Who else may read the base, in the order in which they joined.';

create or replace function remove_member(p_base text, p_member bigint, p_person bigint default null)
returns table (user_id bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  if p_person is distinct from p_member then
    perform require(p_base, p_person, 'own');
  end if;
  delete from base_members m where m.base_id = p_base::uuid and m.user_id = p_member and m.role <> 'owner';
  if found then
    if p_person = p_member then -- whoever is taken off is told so when they next write (`go_home`)
      perform send_home(p_base::uuid, p_member);
    end if;
    return query select p_member;
  end if;
end $$;
comment on function remove_member is
  'Takes somebody off, or lets them leave: at once they see nothing of it any more. No row for who is no member; the '
  'owner stays.';

select baza_internal.record_function_file('sharing', '8036130c1070c8fef1fa4712b55b2b2a');

-- What a day costs. In: turns and readings, and what they took. Out: what a person has spent in 24 hours, and whether one
-- more question may be asked of models: what those being answered may cost is reserved, so that many questions at one
-- moment do not pass a bound together.

create or replace function baza_internal.whose_day(p_user bigint)
returns bigint
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select coalesce((select t.user_id from api_tokens t where t.id = p_user), p_user)
$$;
comment on function baza_internal.whose_day is 'In whose day something counts: of a token, that of the person who made it.';

create or replace function save_turn(p_user bigint, p_base text, p_turn text, p_asker bigint default null,
  p_reservation text default null, p_person bigint default null)
returns table (id bigint, created_at timestamptz)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  delete from reservations r where r.id = p_reservation::uuid and r.user_id = p_user;
  delete from turn_metrics t where t.base_id is null and t.created_at < now() - interval '24 hours';
  insert into turn_metrics as t (user_id, asker, base_id, kind, model, seconds, planned_s, found_s, first_s, plan,
    facts, facts_used, passages, steps_planned, steps_run, adapted, each_step, used_rank, checked, searching_s, models_s,
    calls, prompt_tokens, answer_tokens, cost)
  select p_user, coalesce(p_asker, whose_day(p_user)), p_base::uuid, x.kind, x.model, x.seconds, pace.planned_s,
    pace.found_s, pace.first_s, x.plan, x.facts, x.facts_used, x.passages, steps.planned, steps.run, steps.adapted,
    x.each_step, x.used_rank, x.checked, used.searching_s, used.models_s, used.calls, used.prompt_tokens,
    used.answer_tokens, used.cost
  from jsonb_to_record(p_turn::jsonb) x (kind text, model text, seconds real, pace jsonb, plan text, facts int,
      facts_used int, passages int, steps jsonb, each_step jsonb, used_rank real, checked jsonb, usage jsonb),
    jsonb_to_record(x.pace) pace (planned_s real, found_s real, first_s real),
    jsonb_to_record(x.steps) steps (planned int, run int, adapted int),
    jsonb_to_record(x.usage) used (searching_s real, models_s real, calls int, prompt_tokens bigint,
      answer_tokens bigint, cost double precision)
  returning t.id, t.created_at
$$;
comment on function save_turn is
  'What a turn took and cost; no texts. `p_turn`: the program''s `TurnMetrics`. `p_asker`: who asked in a group. '
  'What `p_reservation` held for it is free again in the same moment.';

create or replace function baza_internal.likely_cost(p_asker bigint)
returns double precision
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select coalesce(
    (select max(r.cost) from (
      select t.cost from turn_metrics t where t.asker = p_asker and t.by_model order by t.created_at desc limit 20) r),
    (select max(r.cost) from (select t.cost from turn_metrics t where t.by_model order by t.created_at desc limit 20) r),
    'infinity')
$$;
comment on function baza_internal.likely_cost is
  'What a question of this person may cost, in US dollars: as much as the dearest of their last 20, or else of '
  'everybody''s. Infinity before the first: then one is asked at a time.';

create or replace function reserve_question(p_user bigint, p_asker bigint, p_questions bigint, p_cost double precision,
  p_token_cost double precision, p_lease_s double precision)
returns table (id uuid, cost double precision, refused text, until timestamptz)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  likely constant double precision := likely_cost(p_asker);
  day record;
begin
  perform pg_advisory_xact_lock(hashtextextended('spending ' || p_asker, 0));
  delete from reservations r where r.asker = p_asker and r.ends_at < now();
  select own.questions, own.cost, own.until, by_token.cost as token_cost, by_token.until as token_until, held.*
  into day
  from spent_in_a_day(p_asker, p_questions, p_cost) own, spent_in_a_day(p_asker, null, p_token_cost, p_user) by_token, (
    select count(*) as held_questions, coalesce(sum(r.cost), 0) as held_cost,
      coalesce(sum(r.cost) filter (where r.user_id = p_user), 0) as held_by_token
    from reservations r where r.asker = p_asker) held;
  if day.token_until is not null or day.until is not null then
    return query select null::uuid, 0::double precision,
      case when day.token_until is null then 'spent' else 'token_spent' end, coalesce(day.token_until, day.until);
  elsif day.questions + day.held_questions >= p_questions
      or day.held_cost > 0 and day.cost + day.held_cost + likely > p_cost
      or day.held_by_token > 0 and day.token_cost + day.held_by_token + likely > p_token_cost then
    return query select null::uuid, 0::double precision, 'busy', null::timestamptz;
  else
    return query
    insert into reservations as r (user_id, asker, cost, ends_at)
    values (p_user, p_asker, likely, now() + make_interval(secs => p_lease_s))
    returning r.id, case when r.cost < 'infinity' then r.cost else 0 end, null::text, null::timestamptz;
  end if;
end $$;
comment on function reserve_question is
  'Whether `p_user` (a person, a group, a token) may ask models one more question in the day of `p_asker`; null bounds '
  'hold nobody back. It is asked and counted in one step. `cost`: what is held for it until `save_turn`, or until '
  '`p_lease_s` have passed without `renew_reservation`; 0: nobody knows what a question costs. `refused`: '
  '`token_spent` or `spent`, until then; `busy`: those being answered may take what is left. The last question of a day '
  'may pass a bound, never two.';

create or replace function renew_reservation(p_reservation text, p_lease_s double precision)
returns table (id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update reservations r set ends_at = now() + make_interval(secs => p_lease_s) where r.id = p_reservation::uuid
  returning r.id
$$;
comment on function renew_reservation is 'The question is still being answered; no row for one that is over.';

create or replace function save_reading_cost(p_base text, p_document text, p_cost double precision,
  p_person bigint default null)
returns table (id bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'write');
  with old as (
    delete from reading_costs r where r.created_at < now() - interval '24 hours'
  )
  insert into reading_costs as r (user_id, asker, base_id, cost)
  select d.user_id, whose_day(d.user_id), d.base_id, p_cost from documents d
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.user_id <> 0
  returning r.id
$$;
comment on function save_reading_cost is
  'What models have cost for reading a document, counted in the day of its sender; the command line has none.';

create or replace function spent_in_a_day(p_user bigint, p_questions bigint default null,
  p_cost double precision default null, p_token bigint default null)
returns table (questions bigint, cost double precision, until timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with spent as (
    select t.created_at, t.cost, 1 as questions from turn_metrics t
    where t.asker = p_user and t.by_model and t.created_at > now() - interval '24 hours'
      and t.user_id = coalesce(p_token, t.user_id)
    union all
    select r.created_at, r.cost, 0 from reading_costs r
    where r.asker = p_user and r.created_at > now() - interval '24 hours' and r.user_id = coalesce(p_token, r.user_id)
  ), running as (
    select s.*, sum(s.questions) over latest as questions_since, sum(s.cost) over latest as cost_since
    from spent s
    window latest as (order by s.created_at desc rows unbounded preceding)
  )
  select coalesce(sum(r.questions), 0), coalesce(sum(r.cost), 0),
    max(r.created_at) filter (where r.questions > 0 and r.questions_since >= p_questions or r.cost_since >= p_cost)
      + interval '24 hours'
  from running r
$$;
comment on function spent_in_a_day is
  'Questions of a person, in any chat, that a model has answered or planned in the last 24 hours, and their cost in US '
  'dollars, with that of reading what the person has sent; with `p_token` only what came by this token of theirs. '
  '`until`: when enough of them are older than that for both bounds to be kept again; null while both are kept (a null '
  'bound always is).';

create or replace function sender_spent_until(p_base text, p_document text, p_cost double precision,
  p_token_cost double precision, p_exempt bigint[], p_person bigint default null)
returns table (until timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'write');
  select greatest(own.until, by_token.until)
  from documents d cross join lateral whose_day(d.user_id) payer
    left join lateral spent_in_a_day(payer, null, p_cost) own on payer <> all (p_exempt)
    left join api_tokens t on t.id = d.user_id
    left join lateral spent_in_a_day(payer, null, p_token_cost, t.id) by_token on t.id is not null
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.user_id <> 0
$$;
comment on function sender_spent_until is
  'Until when the sender of a document, or the person whose token sent it, has spent what models may cost in a day, or '
  'the token has; null while there is room. Those exempt, and the command line, are not bounded; their tokens are.';

select baza_internal.record_function_file('spending', 'c1d896725babd019c2da7f53cd6863ed');

-- Statistics for people (/stats) and for the operator. In: thumbs; then a base, or nothing for all of them. Out: counts,
-- times, money; no text, no name, no id of anybody. A person sees the figures of the base; the bot decides who may see
-- those of all.

create or replace function save_feedback(p_user bigint, p_base text, p_chat bigint, p_message bigint, p_rating int,
  p_person bigint default null)
returns table (id bigint, rating int)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  insert into answer_feedback as f (user_id, base_id, chat_id, message_id, rating)
  values (p_user, p_base::uuid, p_chat, p_message, p_rating)
  on conflict (user_id, chat_id, message_id) do update set rating = excluded.rating
  returning f.id, f.rating::int
$$;
comment on function save_feedback is 'A thumb under an answer; a person has one for each answer and may change it.';

create or replace function baza_internal.local_day(p_at timestamptz, p_offset_minutes int) returns date
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select (p_at at time zone 'UTC' + make_interval(mins => p_offset_minutes))::date $$;
comment on function baza_internal.local_day is 'The day by a clock that is so many minutes ahead of UTC.';

create or replace function baza_internal.turn_figures(p_base uuid, p_days int)
returns jsonb
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select jsonb_build_object(
    'median_s', percentile_cont(0.5) within group (order by t.seconds),
    'p95_s', percentile_cont(0.95) within group (order by t.seconds),
    'thumbs_up', (select count(*) from answer_feedback f where f.rating > 0
      and (p_base is null or f.base_id = p_base) and f.created_at > now() - make_interval(days => p_days)),
    'thumbs_down', (select count(*) from answer_feedback f where f.rating < 0
      and (p_base is null or f.base_id = p_base) and f.created_at > now() - make_interval(days => p_days)),
    'tokens', coalesce(sum(t.prompt_tokens + t.answer_tokens), 0), 'cost', coalesce(sum(t.cost), 0),
    'steps', jsonb_build_object(
      'turns', count(*) filter (where t.steps_planned > 0), 'planned', coalesce(sum(t.steps_planned), 0),
      'run', coalesce(sum(t.steps_run), 0), 'adapted', coalesce(sum(t.adapted), 0),
      'median_s', percentile_cont(0.5) within group (order by t.seconds) filter (where t.steps_planned > 0)))
  from turn_metrics t
  where (p_base is null or t.base_id = p_base) and t.created_at > now() - make_interval(days => p_days)
$$;
comment on function baza_internal.turn_figures is
  'How the turns of the last `p_days` days went, in a base or (null) in all: seconds of an answer (none without turns), '
  'tokens, US dollars, thumbs; `steps` are of those that were planned in several steps.';

create or replace function base_statistics(p_base text, p_days int, p_offset_minutes int, p_person bigint default null)
returns table (documents bigint, passages bigint, pages bigint, recorded_s double precision, figures jsonb, days json)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select count(*), coalesce(sum(d.chunks), 0)::bigint, coalesce(sum(d.pages), 0)::bigint,
    coalesce(sum(d.duration_s), 0), turn_figures(p_base::uuid, p_days),
    (select coalesce(json_agg(t), '[]') from turns_by_day(p_base::uuid, p_days, p_offset_minutes) t)
  from documents d where d.base_id = p_base::uuid and d.status = 'ready'
$$;
comment on function base_statistics is
  'What a base holds, and how its turns of the last `p_days` days went, together and day by day.';

create or replace function baza_internal.turns_by_day(p_base uuid, p_days int, p_offset_minutes int)
returns table (day date, kind text, turns bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with shifted as (
    select local_day(t.created_at, p_offset_minutes) as day, t.kind from turn_metrics t
    where t.base_id = p_base and t.created_at > now() - make_interval(days => p_days + 1)
  )
  select s.day, s.kind, count(*) from shifted s
  where s.day > local_day(now(), p_offset_minutes) - p_days
  group by s.day, s.kind order by s.day, s.kind
$$;
comment on function baza_internal.turns_by_day is
  'How many turns of each kind a base had on each of the last `p_days` days, today included; days are those of a clock '
  'that is so many minutes ahead of UTC. Days without turns are left out.';

create or replace function queue_state()
returns table (waiting bigint, working bigint, oldest_s double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select count(*) filter (where d.phase = 'waiting'), count(*) filter (where d.phase = 'working'),
    coalesce(extract(epoch from now() - min(d.created_at) filter (where d.phase = 'waiting')), 0)::double precision
  from documents d where d.phase in ('waiting', 'working')
$$;
comment on function queue_state is 'How many documents wait or are in work, and the age of the oldest that waits.';

create or replace function overall_statistics(p_days int, p_offset_minutes int)
returns table (people bigint, active bigint, bases bigint, turns bigint, general bigint, quoted bigint,
  unanswered bigint, model_calls bigint, slowest_s double precision, slowest_document_s double precision,
  figures jsonb, total_s double precision, searching_s double precision, models_s double precision, facts bigint,
  facts_used bigint, actions json, days json, documents json, failures json, queue json)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select (select count(*) from user_state u where u.user_id > 0), count(distinct r.user_id),
    (select count(*) from bases b), count(*), count(*) filter (where r.kind = 'general'),
    count(*) filter (where r.kind = 'quotes'), count(*) filter (where r.kind = 'nothing'),
    coalesce(sum(r.calls), 0)::bigint, max(r.seconds)::double precision,
    (select max(extract(epoch from d.finished_at - d.started_at))::double precision from documents d
     where d.status = 'ready' and d.finished_at > now() - make_interval(days => p_days)),
    turn_figures(null, p_days),
    coalesce(sum(r.seconds), 0)::double precision, coalesce(sum(r.searching_s), 0)::double precision,
    coalesce(sum(r.models_s), 0)::double precision,
    coalesce(sum(r.facts), 0)::bigint, coalesce(sum(r.facts_used), 0)::bigint,
    (select coalesce(json_agg(a), '[]') from steps_by_action(p_days) a),
    (select coalesce(json_agg(o), '[]') from overall_by_day(p_days, p_offset_minutes) o),
    (select coalesce(json_object_agg(d.status, d.held), '{}') from (
      select status, count(*) as held from documents group by status order by status) d),
    (select coalesce(json_object_agg(f.code, f.documents), '{}') from (
      select coalesce(d.error_code, 'internal') as code, count(*) as documents from documents d
      where d.status = 'failed' and d.finished_at > now() - make_interval(days => p_days)
      group by 1 order by 2 desc, 1 limit 10) f),
    (select row_to_json(q) from queue_state() q)
  from turn_metrics r where r.created_at > now() - make_interval(days => p_days)
$$;
comment on function overall_statistics is
  'All people and bases, and how the turns of the last `p_days` days went. `active` counts groups as one each; '
  '`documents` are counted by their status, `failures` by why they could not be read, the most frequent first.';

create or replace function baza_internal.overall_by_day(p_days int, p_offset_minutes int)
returns table (day date, turns bigint, people bigint, tokens bigint, cost double precision, median_s double precision,
  p95_s double precision, thumbs_up bigint, thumbs_down bigint, read bigint, failed bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with asked as (
    select local_day(t.created_at, p_offset_minutes) as day, count(*) as turns, count(distinct t.user_id) as people,
      coalesce(sum(t.prompt_tokens + t.answer_tokens), 0)::bigint as tokens, coalesce(sum(t.cost), 0) as cost,
      percentile_cont(0.5) within group (order by t.seconds) as median_s,
      percentile_cont(0.95) within group (order by t.seconds) as p95_s
    from turn_metrics t where t.created_at > now() - make_interval(days => p_days + 1) group by 1
  ),
  rated as (
    select local_day(f.created_at, p_offset_minutes) as day, count(*) filter (where f.rating > 0) as up,
      count(*) filter (where f.rating < 0) as down
    from answer_feedback f where f.created_at > now() - make_interval(days => p_days + 1) group by 1
  ),
  worked as (
    select local_day(d.finished_at, p_offset_minutes) as day,
      count(*) filter (where d.status in ('ready', 'superseded')) as read,
      count(*) filter (where d.status = 'failed') as failed
    from documents d where d.finished_at > now() - make_interval(days => p_days + 1) group by 1
  )
  select day, coalesce(a.turns, 0), coalesce(a.people, 0), coalesce(a.tokens, 0), coalesce(a.cost, 0), a.median_s,
    a.p95_s, coalesce(r.up, 0), coalesce(r.down, 0), coalesce(w.read, 0), coalesce(w.failed, 0)
  from asked a full join rated r using (day) full join worked w using (day)
  where day > local_day(now(), p_offset_minutes) - p_days order by day
$$;
comment on function baza_internal.overall_by_day is
  'What everybody did on each of the last `p_days` days, today included, by a clock so many minutes ahead of UTC: '
  'turns, who asked (a group is one), seconds of their answers, thumbs, documents that were read or could not be.';

create or replace function baza_internal.steps_by_action(p_days int)
returns table (action text, steps bigint, failed bigint, median_s double precision, tokens bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select s.action, count(*), count(*) filter (where s.state = 'failed'),
    coalesce(percentile_cont(0.5) within group (order by s.seconds), 0), coalesce(sum(s.tokens), 0)::bigint
  from turn_metrics t
  cross join jsonb_to_recordset(t.each_step) s (action text, state text, seconds double precision, tokens bigint)
  where t.created_at > now() - make_interval(days => p_days) and t.steps_planned > 0
  group by s.action order by 2 desc, 1
$$;
comment on function baza_internal.steps_by_action is
  'Steps of everybody''s plans in the last days, by action: counts, times, tokens.';

select baza_internal.record_function_file('statistics', 'bb5a1b7370dac611adabcc88cc51d038');

-- Tokens of the HTTP API. In: a base, or the hash of a token. Out: who asks, of which base, and whether too often.
create or replace function add_token(p_base text, p_hash text, p_read_only boolean, p_days int,
  p_person bigint default null)
returns table (id bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read') where p_base is not null;
  insert into api_tokens as t (base_id, hash, read_only, expires_at, user_id)
  values (p_base::uuid, p_hash, p_read_only, now() + make_interval(days => p_days), p_person)
  returning t.id
$$;
comment on function add_token is
  'A token by its hash, for one base or (null) all of a person; without `p_days` it does not end. One that a person '
  'makes is theirs, and may do no more than they may.';

create or replace function use_token(p_hash text, p_per_minute int)
returns table (token bigint, person bigint, base uuid, base_name text, opens_all boolean, is_read_only boolean,
  wait_s int)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update api_tokens as t set
    requests = case when t.minute = date_trunc('minute', now()) then t.requests + 1 else 1 end,
    minute = date_trunc('minute', now()),
    used_at = now()
  from (select 1) one left join lateral (
    select b.id from api_tokens k join bases b on b.chat_id = k.user_id and b.thread_id = 0
    where k.hash = p_hash and k.base_id is null) home on true
  where t.hash = p_hash and (t.expires_at is null or t.expires_at > now())
  returning t.id, t.user_id, coalesce(t.base_id, home.id), (
      select b.name from bases b where b.id = coalesce(t.base_id, home.id)), t.base_id is null, t.read_only,
    case when t.requests > p_per_minute then 60 - extract(second from now())::int end
$$;
comment on function use_token is
  'Whose token it is, and counts the request; no row for an unknown or ended one. One that opens all bases of a person '
  'has their first one as `base`. `wait_s` is set once the token has '
  'made more than `p_per_minute` requests in this minute of the clock, over all processes.';

create or replace function list_tokens(p_base text, p_person bigint default null)
returns table (id bigint, base uuid, base_name text, is_read_only boolean, created_at timestamptz,
  expires_at timestamptz, used_at timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select t.id, t.base_id, b.name, t.read_only, t.created_at, t.expires_at, t.used_at
  from api_tokens t left join bases b on b.id = t.base_id
  where (p_base is null or t.base_id = p_base::uuid) and (p_person is null or t.user_id = p_person)
  order by t.id limit 500
$$;
comment on function list_tokens is 'The tokens of a base (null: of all) that a person has made; the oldest first.';

create or replace function revoke_token(p_base text, p_token bigint, p_person bigint default null)
returns table (id bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  delete from api_tokens t
  where t.id = p_token and (p_base is null or t.base_id = p_base::uuid) and (p_person is null or t.user_id = p_person);
  if not found then
    return;
  end if;
  perform lock_dialogue(p_token);
  delete from chat_messages m where m.user_id = p_token;
  delete from chat_archive a where a.user_id = p_token;
  delete from chat_session_summary s where s.user_id = p_token;
  return query select p_token;
end $$;
comment on function revoke_token is
  'Ends a token of this base, or of this person, and erases its dialogues, which nobody could read any more; no row '
  'when there is none.';

select baza_internal.record_function_file('tokens', 'fbba4c4ae544d22fa00623b119da1703');

-- Segments: the binary-quantised vectors of a large base, in a table of its own (vector_search.sql searches them).
-- In: bases that have grown. Out: `vector_segments` and tables in the schema `segments`. Workers make them in the
-- background, from ready documents, whose passages no longer change. Nobody who writes or searches waits for it.
-- `ensure_vector_segments` is a security definer, because only the owner of a schema may create tables in it.

create or replace function baza_internal.vector_segment_wanted()
returns table (base_id uuid, segment text, present bigint, in_segment bigint, outside bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select b.id, s.name, b.passages, s.passages, late.passages
  from bases b left join vector_segments s on s.base_id = b.id
  cross join lateral (
    select coalesce(sum(d.chunks), 0)::bigint as passages
    from documents d -- only of bases that have a segment: the documents of small bases are never read here
    where s.base_id is not null and d.base_id = b.id and d.status = 'ready' and d.chunks > 0 and not d.in_segment) late
  where case when s.base_id is null then b.passages > exact_scan_limit()
    else late.passages > exact_scan_limit() / 4 or s.passages > 1.25 * b.passages end
  order by b.passages desc limit 1
$$;
comment on function baza_internal.vector_segment_wanted is
  'A large base without a segment, or one whose segment is outdated: more than a few ready passages are not in '
  'it, or many that are in it were removed.';

create or replace function baza_internal.segment_thresholds(p_base uuid, p_model text) returns halfvec[]
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with sampled as materialized ( -- an even sample: the ids of documents are random
    select c.embedding
    from (select d.id from documents d where d.base_id = p_base and d.chunks > 0 order by d.id limit 5000) d
    cross join lateral (select * from documents_chunks x where x.document_id = d.id offset 0) c
    where c.model = p_model and c.embedding is not null
      and c.ordinal % (1 + (select b.passages / 5000 from bases b where b.id = p_base)) = 0
    limit 5000
  ), shape as (
    select w.width, (select avg(embedding) from sampled) as middle
    from (select coalesce(max(u.place), 1)::int as width
      from (select embedding from sampled limit 100) s
      cross join unnest(s.embedding::real[]) with ordinality u (number, place) where u.number <> 0) w
  ), spread as (
    select sqrt(avg((s.embedding <-> shape.middle) ^ 2) / min(shape.width)) as one from sampled s cross join shape
  )
  select coalesce(array_agg(subvector(shape.middle, 1, shape.width)
    + array_fill((cut * spread.one)::real, array[shape.width])::halfvec order by cut)
    filter (where shape.middle is not null), '{}')
  from shape cross join spread cross join unnest(case
    when shape.width >= 1000 then '{0}'
    when shape.width >= 500 then '{-0.43, 0.43}'
    when shape.width >= 340 then '{-0.67, 0, 0.67}'
    else '{-0.84, -0.25, 0.25, 0.84}' end::double precision[]) cut
$$;
comment on function baza_internal.segment_thresholds is
  'The thresholds that cut the numbers of a vector into bits: their mean in this base (vectors of many models '
  'lean to one side); for a narrow model more thresholds, so that a vector has a thousand bits: these divide a normal '
  'distribution into equal shares. Empty where no passage has a vector.';

create or replace function baza_internal.new_vector_segment(p_base uuid, p_model text) returns text
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  segment constant text := 'segment_' || replace(gen_random_uuid()::text, '-', '');
  cuts constant halfvec[] := segment_thresholds(p_base, p_model);
  bits constant int := (select coalesce(sum(vector_dims(threshold)), 1) from unnest(cuts) threshold);
begin
  execute format('create table segments.%I (document_id uuid not null, chunks bigint[] not null, %s, '
    'place bigint generated always as identity primary key)', segment,
    (select string_agg(format('b%s bit(%s)', n, bits), ', ') from generate_series(1, 10) n));
  execute format('alter table segments.%I alter column chunks set storage plain, %s', segment,
    (select string_agg(format('alter column b%s set storage plain', n), ', ') from generate_series(1, 10) n));
  execute format('alter table segments.%I enable row level security', segment);
  if exists (select from pg_roles where rolname = 'service_role') then
    execute format('grant select on segments.%I to service_role', segment);
  end if;
  update documents d set in_segment = false where d.base_id = p_base and d.in_segment;
  insert into vector_segments (base_id, name, model, thresholds, passages) values (p_base, segment, p_model, cuts, 0)
  on conflict (base_id) do update
  set name = excluded.name, model = excluded.model, thresholds = excluded.thresholds, passages = 0, last_row = 0;
  return segment;
end $$;
comment on function baza_internal.new_vector_segment is
  'An empty segment for a base in place of an earlier one, whose table stays for those who are reading it. A '
  'row holds ten passages of one document, since reading a row costs as much as comparing five.';

create or replace function baza_internal.fill_vector_segment(p_base uuid, p_segment text, p_rows bigint) returns bigint
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  taken constant uuid[] := array(
    select t.id from (
      select d.id, sum(d.chunks) over (order by d.id) - d.chunks as before from documents d
      where d.base_id = p_base and d.status = 'ready' and d.chunks > 0 and not d.in_segment) t
    where t.before < p_rows);
  written bigint;
  last bigint;
begin
  execute format(
    'with read as (select c.document_id, array_agg(c.id) as chunks, '
    '    array_agg(quantised(c.embedding, s.thresholds)) as bits '
    '  from vector_segments s, unnest($1) t (id) '
    '  cross join lateral (select * from documents_chunks x where x.document_id = t.id order by x.ordinal) c '
    '  where s.name = $2 and c.base_id = s.base_id and c.model = s.model and c.embedding is not null '
    '  group by c.document_id, c.ordinal / 10), '
    'written as (insert into segments.%I select document_id, chunks, %s from read '
    '  returning cardinality(chunks) as passages, place) '
    'select coalesce(sum(passages), 0), max(place) from written', p_segment,
    (select string_agg(format('bits[%s]', n), ', ') from generate_series(1, 10) n))
  into written, last using taken, p_segment;
  update documents d set in_segment = true where d.id = any (taken) and d.status = 'ready';
  update vector_segments s set passages = s.passages + written, last_row = greatest(s.last_row, last)
  where s.name = p_segment;
  return written;
end $$;
comment on function baza_internal.fill_vector_segment is
  'Puts ready documents that are not there yet into a segment, about `p_rows` passages of them.';

create or replace function baza_internal.clear_vector_segment(p_segment text) returns bigint
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  gone uuid[];
  freed bigint;
begin
  execute format(
    'with left_over as (delete from segments.%I s '
    '  where not exists (select from documents d where d.id = s.document_id and d.visible) '
    '  returning s.document_id, cardinality(s.chunks) as passages) '
    'select coalesce(array_agg(distinct document_id), ''{}''), coalesce(sum(passages), 0) from left_over', p_segment)
  into gone, freed;
  update documents d set in_segment = false where d.id = any (gone);
  update vector_segments s set passages = s.passages - freed where s.name = p_segment;
  return freed;
end $$;
comment on function baza_internal.clear_vector_segment is 'Removes from a segment what is no longer searchable.';

create or replace function baza_internal.drop_old_vector_segments() returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  unused text;
begin
  for unused in
    select c.relname from pg_class c
    where c.relnamespace = 'segments'::regnamespace and c.relkind = 'r'
      and not exists (select from vector_segments s where s.name = c.relname)
  loop
    execute format('drop table segments.%I', unused);
  end loop;
end $$;
comment on function baza_internal.drop_old_vector_segments is 'Drops the tables that no base refers to any longer.';

create or replace function ensure_vector_segments()
returns table (base_id uuid, in_segment bigint)
language plpgsql security definer set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  step constant bigint := 10000; -- passages, quantised and stored in about a second
  wanted record;
begin
  if not pg_try_advisory_xact_lock(hashtext('vector_segments')) then -- another worker is at it
    return;
  end if;
  perform drop_old_vector_segments();
  select * into wanted from vector_segment_wanted();
  if not found then
    return;
  elsif wanted.present <= exact_scan_limit() then
    delete from vector_segments s where s.base_id = wanted.base_id;
    return query select wanted.base_id, 0::bigint;
    return;
  elsif wanted.in_segment > 1.25 * wanted.present then
    perform clear_vector_segment(wanted.segment);
  elsif wanted.segment is null then
    wanted.segment := new_vector_segment(wanted.base_id, (
      select c.model from documents_chunks c where c.base_id = wanted.base_id
      group by c.model order by count(*) desc limit 1));
  end if;
  return query select wanted.base_id, fill_vector_segment(wanted.base_id, wanted.segment, step);
end $$;
comment on function ensure_vector_segments is
  'One step of about a second for the segment that needs it most; to be called until no row comes back. Search is '
  'complete at any time. Security definer, because only the owner of a schema may create tables in it.';

-- Copies of segments, for a process that answers many questions: PostgreSQL compares the bits of a vector in some
-- ninety nanoseconds, one call each; an array of them in memory takes twenty (docs/decisions.md). In: nothing, or what
-- is held already. Out: which segments there are, and their rows. What a copy finds is only a proposal: `search` checks
-- it in the base that asks, and knows whether the copy is complete.

create or replace function list_vector_segments(p_bytes bigint, p_known text[])
returns table (base_id uuid, name text, model text, thresholds jsonb, passages bigint, last_row bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select s.base_id, s.name, s.model,
    case when s.name = any (p_known) then '[]'
      else (select jsonb_agg(to_jsonb(threshold::real[])) from unnest(s.thresholds) threshold) end, s.passages, s.last_row
  from (
    select x.*, sum(x.passages * (8 + (select sum(vector_dims(threshold)) / 8 from unnest(x.thresholds) threshold)))
      over (order by x.passages, x.name) as bytes
    from vector_segments x where x.last_row > 0 and x.thresholds <> '{}') s
  where s.bytes <= p_bytes
  order by s.passages, s.name
$$;
comment on function list_vector_segments is
  'The segments whose copies together take up to `p_bytes`, an id and the bits of each passage; the smallest first, so '
  'that as many bases as possible have one. The thresholds of known segments are left out: they never change.';

create or replace function read_vector_segment(p_base text, p_segment text, p_after bigint, p_limit int,
  p_person bigint default null)
returns table (last bigint, passages bigint[], bits text)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform require(p_base, p_person, 'read');
  if exists (select from vector_segments s where s.base_id = p_base::uuid and s.name = p_segment) then
    return query execute format(
      'select max(u.place), array_agg(u.chunk order by u.place, u.nth), '
      '  translate(encode(string_agg(u.bytes, '''' order by u.place, u.nth), ''base64''), e''\n'', '''') '
      'from (select r.place, x.chunk, substring(bit_send(x.bits) from 5) as bytes, x.nth '
      '  from (select * from segments.%I where place > $1 order by place limit $2) r '
      '  cross join unnest(r.chunks, array[%s]) with ordinality x (chunk, bits, nth) where x.chunk is not null) u '
      'having count(*) > 0', p_segment,
      (select string_agg(format('r.b%s', n), ', ') from generate_series(1, 10) n))
    using p_after, p_limit;
  end if;
end $$;
comment on function read_vector_segment is
  'One row for up to `p_limit` rows of a segment after the place `p_after`: the place of the last one, the passages, '
  'and '
  'their bits one after the other, each padded to whole bytes (`bit_send`); no row at the end.';

select baza_internal.record_function_file('vector_segments', 'f854bf4aa6ee4aa949933cc845ba1e01');

-- Webhooks: addresses that are told when a document ends. In: a base and an address, or a document that has ended. Out:
-- what is to be sent, until it has been answered. What is due survives restarts, and is sent at least once.
create or replace function add_webhook(p_base text, p_url text, p_secret text, p_most int,
  p_person bigint default null)
returns table (id uuid, url text, created_at timestamptz, problem text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid);
  return query
  insert into webhooks as w (base_id, url, secret)
  select p_base::uuid, p_url, p_secret
  where (select count(*) from webhooks h where h.base_id = p_base::uuid) < p_most
  returning w.id, w.url, w.created_at, w.problem;
end $$;
comment on function add_webhook is 'No row when the base has `p_most` of them already.';

create or replace function list_webhooks(p_base text, p_person bigint default null)
returns table (id uuid, url text, created_at timestamptz, problem text)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'write');
  select w.id, w.url, w.created_at, w.problem from webhooks w where w.base_id = p_base::uuid
  order by w.created_at, w.id
$$;
comment on function list_webhooks is 'The webhooks of a base, the oldest first, without their secrets.';

create or replace function remove_webhook(p_base text, p_webhook text, p_person bigint default null)
returns table (id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'write');
  delete from webhooks w where w.base_id = p_base::uuid and w.id = p_webhook::uuid returning w.id
$$;
comment on function remove_webhook is 'Ends it with all that it is still to be told; no row when there is none.';

create or replace function baza_internal.note_end() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  insert into webhook_messages (webhook_id, base_id, body)
  select w.id, w.base_id, jsonb_build_object('type', 'document.' || new.status, 'timestamp', now(),
    'data', jsonb_build_object('base', new.base_id, 'document', new.id, 'title', new.title, 'status', new.status,
      'version', new.version, 'passages', new.chunks, 'error', new.error_code))
  from webhooks w where w.base_id = new.base_id;
  return null;
end $$;
comment on function baza_internal.note_end is
  'In the transaction that ends a document, so that no end is forgotten and none is told that was undone.';
create or replace trigger documents_ended after update of status on documents
  for each row when (old.phase <> 'ended' and new.phase = 'ended') execute function baza_internal.note_end();

create or replace function due_webhook_messages(p_limit int, p_hold_s double precision)
returns table (id uuid, url text, secret text, body text, attempt int)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update webhook_messages m set attempts = m.attempts + 1, due_at = now() + make_interval(secs => p_hold_s)
  from webhooks w
  where w.id = m.webhook_id and m.id in (
    select due.id from webhook_messages due
    where due.due_at <= now() and not exists (
      select from webhook_messages earlier
      where earlier.webhook_id = due.webhook_id and earlier.created_at < due.created_at
        and earlier.body #> '{data,document}' = due.body #> '{data,document}')
    order by due.due_at limit p_limit for update skip locked)
  returning m.id, w.url, w.secret, m.body::text, m.attempts
$$;
comment on function due_webhook_messages is
  'What is to be sent now; each is reserved for this caller for `p_hold_s`. What happened to a document is told in order: '
  'nothing before what came earlier is over. It takes no base: it is the work of the whole installation.';

create or replace function note_webhook(p_message text, p_problem text, p_again_s double precision)
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
begin
  update webhooks w set problem = p_problem from webhook_messages m
  where m.id = p_message::uuid and w.id = m.webhook_id and w.problem is distinct from p_problem;
  if p_again_s is null then
    return query delete from webhook_messages m where m.id = p_message::uuid returning m.id;
  else
    return query update webhook_messages m set due_at = now() + make_interval(secs => p_again_s)
    where m.id = p_message::uuid returning m.id;
  end if;
end $$;
comment on function note_webhook is
  'How the last try ended: it is over (`p_again_s` is null), told (`p_problem` is null) or given up, or tried again.';

select baza_internal.record_function_file('webhooks', '9b5997d8c74bddf43d81cfac66598a75');
reset check_function_bodies;

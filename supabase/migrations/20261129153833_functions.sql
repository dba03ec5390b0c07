-- Functions as they were when this was collected by `make migration`: see supabase/schemas/functions.

set search_path = public, baza_internal, extensions;
set check_function_bodies = off; -- functions call others that come later
select baza_internal.drop_function_files('{additions,bases,chunks,conflicts,contents,dialogue,document_choice,enrichment,entities,library,moving,names,notices,posting_segments,queue,reindexing,search,sharing,spending,statistics,term_search,tokens,vector_segments,webhooks}');

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
-- rows of `documents_chunks` and `posting_lists`, and which chunks of an earlier attempt are kept.
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

create or replace view baza_internal.chunk_terms as
select l.base_id, l.term, l.run, (l.run << 8) | (l.posting >> 55) as chunk_id, l.posting,
  (l.posting & 127)::int as frequency,
  (l.posting >> 7 & 127)::int as around,
  (l.posting >> 14 & 127)::int as titled,
  (l.posting >> 21 & 127)::int as around_titled,
  (l.posting >> 28 & 4095)::int as length,
  (l.posting >> 40 & 32767)::int as spread
from (select p.base_id, p.term, p.run, unnest(p.postings) as posting from posting_lists p) l;
comment on view baza_internal.chunk_terms is
  'The postings one by one: how often a term stands in the text of a passage (`frequency`), and in the title and the '
  'headings above it (`titled`). Of the terms of a passage with the same five first letters the first has the sums in '
  '`around` and `around_titled`, the others 0: adding up took a third of the time of a search. `length` is the '
  'passage''s, so that scoring reads nothing else. `spread` is of the first passage of a document: in how many of its '
  'passages the term stands; of others 0. So these postings are the record of what a document is about: no search asks '
  'whose a passage is. Look up by base and term, or by `run`; a `chunk_id` is compared only after that.';

create or replace function baza_internal.posting_at(p_postings bigint[], p_place bigint) returns bigint
language sql immutable parallel safe
as $$
  select p_postings[nullif(width_bucket(((p_place + 1) << 55) - 1, p_postings), width_bucket((p_place << 55) - 1, p_postings))]
$$;
comment on function baza_internal.posting_at is
  'The posting of the passage at this place of the run, found by bisection; null where the list has none. The place is '
  'in the highest bits, so lists are in order.';

create or replace function baza_internal.new_runs(p_passages bigint) returns bigint[]
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$ select array(select nextval('passage_runs') from generate_series(1, p_passages, 256)) $$;
comment on function baza_internal.new_runs is
  'Runs for so many passages, of up to 256 each: passage `n`, from 0, is at `n & 255` of run `n / 256`.';

create or replace function baza_internal.put_chunks(p_held documents, p_chunks jsonb, p_embeddings halfvec[])
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  gone record;
  added record;
  runs bigint[];
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

  runs := new_runs(jsonb_array_length(p_chunks -> 'chunks'));
  with stored as (
    insert into documents_chunks (id, base_id, document_id, ordinal, text, span_start, span_end, locator, length, model,
      embedding)
    select (runs[1 + (c.place - 1) / 256] << 8) | ((c.place - 1) & 255), p_held.base_id, p_held.id, c.ordinal, c.text,
      c.span_start, c.span_end, c.locator, c.length, c.model, p_embeddings[c.vector]
    from rows from (jsonb_to_recordset(p_chunks -> 'chunks') as (ordinal int, text text, span_start int,
        span_end int, locator jsonb, length int, model text, vector int)) with ordinality
        as c (ordinal, text, span_start, span_end, locator, length, model, vector, place)
    returning length
  )
  select count(*) as chunks, coalesce(sum(s.length), 0) as terms into added from stored s;

  insert into posting_lists (base_id, term, run, postings)
  select p_held.base_id, l.term, runs[r.place], l.postings::bigint[]
  from jsonb_array_elements(p_chunks -> 'runs') with ordinality r (lists, place) cross join lateral (
    -- set-returning functions in `from` would materialise each column as a whole first
    select unnest(string_to_array(r.lists ->> 'terms', E'\n')) as term,
      unnest(string_to_array(r.lists ->> 'postings', E'\n')) as postings
  ) l;

  p_held.chunks := p_held.chunks + added.chunks;
  p_held.terms := p_held.terms + added.terms;
  return p_held;
end $$;
comment on function baza_internal.put_chunks is
  'Stores chunks with their vectors and postings, replacing those of the same ordinal; returns the document '
  'with its new counts, which the caller stores. Postings come in lists by term, in the order of the index, so that '
  'neighbours land on one page; their numbers are packed as `chunk_terms` reads them, `spread` as in these chunks.';

create or replace function baza_internal.count_spread(p_held documents) returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off
set enable_nestloop = off -- but for what is lateral: without statistics the planner would compare all with all
as $$
declare
  first constant bigint := (select c.id from documents_chunks c where c.document_id = p_held.id and c.ordinal = 0);
  runs constant bigint[] := array(select distinct c.id >> 8 from documents_chunks c where c.document_id = p_held.id);
  counted record;
begin
  for counted in
    select s.term, s.posting, least(count(*), 32767) << 40 as spread
    from (
      select l.term, posting_at(l.postings, first & 255) as posting from posting_lists l where l.run = first >> 8
      offset 0) s
    cross join lateral (
      select l.run, l.postings from posting_lists l
      where l.base_id = p_held.base_id and l.term = s.term and l.run = any (runs) offset 0) l
    cross join lateral unnest(l.postings) p
    join documents_chunks c on c.document_id = p_held.id and c.id = (l.run << 8) | (p >> 55)
    where s.posting is not null
    group by s.term, s.posting having s.posting & (32767::bigint << 40) <> least(count(*), 32767) << 40
  loop
    update posting_lists l
    set postings = array_replace(
      l.postings, counted.posting, (counted.posting & ~(32767::bigint << 40)) | counted.spread)
    where l.base_id = p_held.base_id and l.term = counted.term and l.run = first >> 8;
  end loop;
end $$;
comment on function baza_internal.count_spread is
  'Counts `spread` in the postings of the first chunk: of a document that was stored in several runs, or renamed.';

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

select baza_internal.record_function_file('chunks', 'a5a88e21d4d36ec266a654c0bcc389a4');

-- Conflicts of a document that is being read: another with the same content, another file of its name, an earlier
-- version. In: the document as a worker holds it. Out: the other document, and what happens to the two. Everything here
-- is called under a lease (see queue.sql).
create or replace function baza_internal.ready_namesake(p_held documents)
returns setof documents
language plpgsql stable rows 1 set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  return query
  select d.* from documents d
  where d.base_id = p_held.base_id and d.source_type = p_held.source_type and d.name_key = p_held.name_key
    and d.status = 'ready' and not p_held.chosen
    and (d.expires_at is not null and p_held.source_type <> 'file' or d.expires_at is null and p_held.expires_at is null)
  order by d.expires_at nulls first, d.created_at desc limit 1;
end $$;
comment on function baza_internal.ready_namesake is
  'The latest ready document of the same type and name, while nobody has decided what happens to the two. A '
  'temporary document (`expires_at`) replaces nothing that stays, and nobody is asked about a temporary file. A generic '
  'plan is right at any time: `documents_name` alone has this order, so it is the best choice in an empty table, too.';

create or replace function baza_internal.ready_before(p_held documents)
returns setof documents
language plpgsql stable rows 1 set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  return query
  select d.* from documents d
  where d.lineage = p_held.lineage and d.status = 'ready' and d.id <> p_held.id
    and d.base_id = p_held.base_id;
end $$;
comment on function baza_internal.ready_before is
  'The ready version that this document is to replace, if any. A generic plan is right at any time: the '
  'unique index of ready lineages is the best choice in an empty table, too.';

create or replace function baza_internal.may_be_found(p_held documents)
returns boolean
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select not exists (
      select from documents d
      where d.base_id = p_held.base_id and d.content_hash = p_held.content_hash and d.status = 'ready'
        and d.id <> p_held.id)
    and not exists (select from ready_before(p_held)) and not exists (select from ready_namesake(p_held))
$$;
comment on function baza_internal.may_be_found is
  'Whether a document may be searchable while it is being read, that is, conflicts with no ready one.';

create or replace function baza_internal.brings_caption(p_held documents, p_twin documents)
returns boolean
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select p_held.source_type in ('file', 'link') and p_twin.source_type = p_held.source_type
    and p_held.source_text is not null and (p_held.expires_at is null or p_twin.expires_at is not null)
    and strpos(coalesce(p_twin.source_text, ''), p_held.source_text) = 0
$$;
comment on function baza_internal.brings_caption is
  'Whether a file has a caption that the file with the same content lacks; the same for a link that came as '
  'a file (`become_link`). A temporary document adds nothing to one that stays.';

create or replace function baza_internal.adopt_caption(p_held documents, p_twin documents)
returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  update documents d
  set status = 'queued', visible = false, attempts = d.attempts - 1, progress_done = 0, progress_total = 0,
      lease = null, lease_until = null, lineage = p_twin.lineage, chosen = true,
      source_text = concat_ws(E'\n\n', p_twin.source_text, (
        select string_agg(own.words, E'\n\n' order by own.place)
        from unnest(string_to_array(d.source_text, E'\n\n')) with ordinality own (words, place)
        where strpos(coalesce(p_twin.source_text, ''), own.words) = 0)),
      source_identifier = p_twin.source_identifier, name_key = p_twin.name_key, source_title = p_twin.source_title,
      title = p_twin.title, given_title = coalesce(d.given_title, p_twin.given_title),
      given_terms = case when d.given_title is null then p_twin.given_terms else d.given_terms end
  where d.id = p_held.id;
  perform touch_batch(p_held.batch_id);
end $$;
comment on function baza_internal.adopt_caption is
  'Keeps the caption of a file whose content the base holds already: the file is queued again as the next '
  'version of that one, with both captions. `known_reading` returns what was read in it.';

create or replace function baza_internal.stopped_by_another(p_held documents)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  other documents;
  asking uuid;
  told jsonb := '{}'; -- what this one changes in the other, for the receipt
begin
  select * into other from documents d
  where d.base_id = p_held.base_id and d.content_hash = p_held.content_hash and d.status = 'ready';
  if other.expires_at is not null and (other.lineage <> p_held.lineage or p_held.expires_at is null) then
    other := stay_until(other, case
      when p_held.expires_at is not null then greatest(other.expires_at, p_held.expires_at) end);
    told := jsonb_build_object('stays_until', other.expires_at);
  end if;
  if other.id is not null and brings_caption(p_held, other) then
    if p_held.chosen and p_held.lineage = other.lineage -- it was queued again with both captions
        and strpos(p_held.source_text, coalesce(other.source_text, '')) > 0 then -- and no third has changed them since
      update documents d set error_params = '{"captioned": true}' where d.id = p_held.id; -- for its receipt
    else
      perform adopt_caption(p_held, other);
      return query select other.id, null::uuid;
    end if;
    return;
  elsif other.id is not null then
    if p_held.source_type = 'path' then -- not a link: whoever sends one again is told since when it is here
      p_held := in_lineage(p_held);
    end if;
    perform finish_document(p_held.id, 'duplicate', 'duplicate', named(other) || told
      || case when other.lineage = p_held.lineage then '{"unchanged": true}' else '{}' end::jsonb, null);
    perform touch_batch(other.batch_id) where told <> '{}'; -- its receipt says when it leaves
    return query select other.id, null::uuid;
    return;
  end if;
  if p_held.source_type = 'file' then
    select * into other from ready_namesake(p_held);
  end if;
  if other.id is not null then
    -- Of two that come together the second sees the first. Not `lock_base`, which must be taken before documents
    -- (queue.sql).
    perform pg_advisory_xact_lock(hashtextextended('name ' || p_held.base_id || ' ' || p_held.name_key, 0));
    asking := (select d.id from documents d
      where d.base_id = p_held.base_id and d.phase = 'asking' and d.name_key = p_held.name_key
        and d.content_hash = p_held.content_hash and d.id <> p_held.id
      limit 1);
    if asking is not null then
      perform finish_document(p_held.id, 'duplicate', 'duplicate', -- people see the one that waits, with its buttons
        named(other) || jsonb_build_object('asked', true, 'document_id', asking), null);
      return query select asking, null::uuid;
      return;
    end if;
    perform finish_document(p_held.id, 'choosing', null, named(other), null);
    return query select null::uuid, other.id;
  end if;
end $$;
comment on function baza_internal.stopped_by_another is
  'Ends the work on a document whose content is ready in the base already. Or lays it aside until the person '
  'has decided what happens to it and the one of the same name; the same content is asked about once. No row when it '
  'may go on.';

create or replace function baza_internal.named(p_other documents)
returns jsonb
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select jsonb_build_object('document_id', p_other.id, 'title', p_other.title, 'source_type', p_other.source_type,
    'source_identifier', p_other.known_as, 'created_at', p_other.created_at)
$$;
comment on function baza_internal.named is 'The parameters by which an error names the document that was there first.';

create or replace function baza_internal.in_lineage(p_held documents)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  its_lineage uuid;
begin
  if p_held.source_type not in ('path', 'link', 'site') then
    return p_held;
  end if;
  its_lineage := (select d.lineage from ready_namesake(p_held) d);
  if its_lineage <> p_held.lineage then
    p_held.lineage := its_lineage;
    update documents d set lineage = its_lineage where d.id = p_held.id;
  end if;
  return p_held;
end $$;
comment on function baza_internal.in_lineage is
  'Makes the document a version of the one that was read from the same path or address, without asking '
  'anybody; returns it.';

select baza_internal.record_function_file('conflicts', '6c42f3ac9f55f0cc6bc3ee29b1e4b4e2');

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

select baza_internal.record_function_file('contents', '235aa00e8eb990c7aefba5cb27d2bd7a');

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

-- A passage is found by its document's words, too. In: the weighed terms of a question. Out: passages of the documents
-- that these terms choose. Party, number and day stand in the first passage and in the names of a document (which are
-- `titled` in all of its postings), the clause that answers has none of them. Measured in docs/retrieval.md.

create or replace function baza_internal.told_by_terms(p_base uuid, p_words weighed_term[])
returns table (place int, share double precision, score double precision, telling double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select t.place, least(t.parted, 1) * power(t.share, 0.7), case when t.firsts = 0 then 0
    else t.parted * power(t.firsts / (t.firsts + t.others), 3)
    -- What one document alone has tells as much as what one passage alone has.
    * rarity(t.firsts::bigint, b.documents) * ln(1 + b.passages) / ln(1 + greatest(b.documents, 1)) end,
    1 - power(least(power(t.share, 0.7) * t.firsts / greatest(b.documents, 1), 1), 8)
  from bases b cross join lateral (
    select w.place, 2 * (1 - least(b.documents::double precision / b.passages, 1)) as parted, -- 0: one passage each
      (sum(w.firsts_said) / greatest(sum(w.said), 1))::double precision as share,
      sum(w.firsts)::double precision as firsts,
      -- Documents that have it elsewhere: as many as their passages would be in, thrown at random.
      b.documents * (1 - exp(-(sum(w.postings) - sum(w.reached)) / greatest(b.documents, 1)))::double precision as others
    from unnest(p_words) w group by w.place) t
  where b.id = p_base
$$;
comment on function baza_internal.told_by_terms is
  'What each term of a question tells about documents. `share`: how far it is said in first passages alone; to that '
  'degree other passages inherit it. `score`: what it adds to documents that have it in their first passage or in their '
  'names; most for a term that few documents have, all of them in that place. `telling`: 0 for one that all documents '
  'say there and nowhere else, as where a clause of the form stands in the first passage.';

create or replace function baza_internal.telling_postings() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 10000 $$;
comment on function baza_internal.telling_postings is
  'So many postings are read to choose documents, those of the rarest terms first; a more frequent one tells few apart.';

create or replace function baza_internal.telling_terms(p_base uuid, p_words weighed_term[])
returns table (place int, chunk_id bigint, share double precision, score double precision)
language plpgsql stable rows 100 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  half_at constant double precision := half_per_term(p_base);
begin
  return query
  with read as (
    select u.* from (
      select w.*, sum(w.postings) over (order by w.ordinality) as so_far
      from unnest(p_words) with ordinality w where w.firsts > 0) u
    where u.so_far <= telling_postings()
  ), placed as (
    select r.place, x.chunk_id, t.share * t.telling as share, t.score, case when x.frequency > 0
      then t.share * (case when x.term = r.term then r.own else 0 end + r.wide)
        * bm25(in_all(x.frequency, x.titled, x.half), x.half) else 0 end as inherited, x.frequency > 0 as is_said
    from read r join told_by_terms(p_base, p_words) t using (place) cross join lateral (
      select x.term, x.chunk_id, x.frequency, x.titled, half_frequency(x.length, half_at) as half from chunk_terms x
      where x.base_id = p_base and x.term >= r.low collate "C" and x.term < r.high collate "C" and x.spread > 0
      offset 0) x
  )
  -- The best, not the sum: else «Вектор-Строй» would be a better «Вектор» than «Вектор» itself.
  select p.place, p.chunk_id, max(case when p.is_said then p.share else 0 end), max(p.score) + max(p.inherited)
  from placed p group by p.place, p.chunk_id;
end $$;
comment on function baza_internal.telling_terms is
  'Which first passages have a term in their text or in the names of their document, and what that is worth: the '
  '`score` of `told_by_terms`, and what others inherit of it.';

create or replace function baza_internal.unread_terms(p_base uuid, p_words weighed_term[], p_read int[], p_chunks bigint[])
returns table (place int, chunk_id bigint, share double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select w.place, c.id, l.share * l.telling
  from unnest(p_words) w join told_by_terms(p_base, p_words) l using (place) cross join unnest(p_chunks) c (id)
  cross join lateral (
    select from posting_lists x
    where x.base_id = p_base and x.term = w.term collate "C" and x.run = c.id >> 8
      and posting_at(x.postings, c.id & 255) & 127 > 0 offset 0) x
  where w.firsts > 0 and w.place <> all (p_read)
$$;
comment on function baza_internal.unread_terms is
  'As `telling_terms`, of the terms that it has not read, in these passages alone: «договор поставки» of 4,000 preambles '
  'tells no documents apart, but in each of them the preamble from the clauses.';

create or replace function baza_internal.search_chosen(p_base uuid, p_asked int, p_words weighed_term[], p_limit int)
returns table (chunk_id bigint, score double precision, inherited double precision[])
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  most constant int := 30; -- documents; when more fit equally well, the words tell none of them apart
  most_passages constant int := 1000; -- in them, but for the best one, which may be longer
  decided constant double precision := 0.2; -- what is left of a number that the first passage has: it names the document
  documents uuid[];
  scores double precision[];
  shares double precision[]; -- for each of them, by place of the question's terms
  left_over double precision[]; -- for each of them, by word: what it still decides inside the document
begin
  if not exists (select from bases b where b.id = p_base and b.documents between 2 and b.passages - 1) then
    return; -- nothing to choose; or one passage each
  end if;
  with told as materialized (
    select * from telling_terms(p_base, p_words)
  ), likely as materialized (
    select t.chunk_id, sum(t.score) as score from told t group by t.chunk_id order by score desc limit 4 * most
  ), ranked as materialized (
    select l.chunk_id, l.score, d.id, d.chunks from likely l
    cross join lateral (select * from documents_chunks x where x.id = l.chunk_id offset 0) c
    cross join lateral (select * from documents x where x.id = c.document_id offset 0) d
    where d.base_id = p_base and d.visible
    order by l.score desc, l.chunk_id limit most + 1
  ), chosen as (
    select r.*, row_number() over best as nth, sum(r.chunks) over best as passages
    from ranked r
    where r.score > coalesce((select last.score from ranked last order by last.score desc offset most), 0)
    window best as (order by r.score desc, r.chunk_id)
  ), given as materialized (
    select t.place, t.chunk_id, t.share from told t
    union all
    select * from unread_terms(p_base, p_words, array(select t.place from told t), array(select c.chunk_id from chosen c))
  )
  select array_agg(c.id order by c.nth), array_agg(c.score order by c.nth),
    array(
      select case when o.chunks > 1 then coalesce(t.share, 0) else 0 end
      from chosen o cross join generate_series(1, p_asked) g (place)
      left join given t on t.chunk_id = o.chunk_id and t.place = g.place
      where o.nth = 1 or o.passages <= most_passages order by o.nth, g.place),
    array(
      select (1 - l.share) * case when t.place is null or u.term !~ '^[0-9]' then 1 else decided end
      from chosen o cross join unnest(p_words) with ordinality u join told_by_terms(p_base, p_words) l using (place)
      left join told t on t.chunk_id = o.chunk_id and t.place = u.place
      where o.nth = 1 or o.passages <= most_passages order by o.nth, u.ordinality)
  into documents, scores, shares, left_over
  from chosen c where c.nth = 1 or c.passages <= most_passages;
  if documents is null then
    return;
  end if;
  return query
  select m.chunk_id, m.score, shares[(m.place - 1) * p_asked + 1 : m.place * p_asked]
  from score_members(p_base, p_words, left_over, documents, scores, p_limit) m
  order by m.score desc, m.chunk_id;
end $$;
comment on function baza_internal.search_chosen is
  'The best passages of the documents that the terms choose, be they of one passage or many: their document''s score, '
  'and their own without what the terms have decided already, so that a preamble with the party''s name does not stand '
  'before the clause. `inherited`, by term of the question: the share of its weight that the passage has from its '
  'document; none of what all first passages say, and no others: that tells no documents apart, but passages of one.';

create or replace function baza_internal.rarest_words(p_words weighed_term[], p_longest bigint, p_members int)
returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select greatest(1, count(*))::int
  from (
    select sum(case when u.postings > p_longest then least(u.postings, p_members) else u.postings end)
      over (order by u.ordinality) as so_far
    from unnest(p_words) with ordinality u) u
  where u.so_far <= 1000
$$;
comment on function baza_internal.rarest_words is
  'How many of the words, which come rarest first, have so few postings together that all of them are read; the others '
  'are looked up for the passages that these have found. Of a word with more than `p_longest` postings those of the '
  'members alone are read.';

create or replace function baza_internal.members_of(p_base uuid, p_documents uuid[],
  out chunks bigint[], out places bigint[])
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select array_agg(c.id order by c.id), array_agg(u.nth order by c.id)
  from unnest(p_documents) with ordinality u (document_id, nth)
  cross join lateral (select x.id from documents x where x.id = u.document_id and x.base_id = p_base offset 0) d
  cross join lateral (select x.id from documents_chunks x where x.document_id = d.id offset 0) c
$$;
comment on function baza_internal.members_of is
  'The passages of these documents, so far as they are of this base, and which of the documents each is of.';

create or replace function baza_internal.score_members(p_base uuid, p_words weighed_term[],
  p_shares double precision[], p_documents uuid[], p_scores double precision[], p_limit int)
returns table (chunk_id bigint, place bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_nestloop = off -- of an unknown limit the planner expects few rows, and would compare all with all
as $$
#variable_conflict use_column
declare
  longest constant bigint := 2000; -- postings of a range that is gone through; of more, the term itself is looked up
  half_at constant double precision := half_per_term(p_base);
  asked constant int := cardinality(p_words);
  members bigint[];
  places bigint[];
  rare int;
begin
  select m.chunks, m.places into members, places from members_of(p_base, p_documents) m;
  rare := rarest_words(p_words, longest, cardinality(members));
  return query
  with weighed as (
    select u.*, u.postings > longest as is_long, u.ordinality as nth from unnest(p_words[: rare]) with ordinality u
  ), member as materialized (
    select * from unnest(members, places) u (chunk_id, place)
  ), posting as (
    select x.chunk_id, u.nth, case when x.term = u.term then u.own * bm25(x.own, x.half) else 0 end
      + u.wide * bm25(x.around, x.half) as score
    from (select * from weighed w where not w.is_long offset 0) u cross join lateral (
      select x.chunk_id, x.term, half_frequency(x.length, half_at) as half,
        in_all(x.frequency, x.titled, half_frequency(x.length, half_at)) as own,
        in_all(x.around, x.around_titled, half_frequency(x.length, half_at)) as around
      from chunk_terms x
      where x.base_id = p_base and x.term >= u.low collate "C" and x.term < u.high collate "C" offset 0) x
    union all
    select x.chunk_id, u.nth, u.own * bm25(in_all(x.frequency, x.titled, x.half), x.half)
      + u.wide * bm25(in_all(x.around, x.around_titled, x.half), x.half)
    from (select * from weighed w where w.is_long offset 0) u cross join lateral (
      select x.*, half_frequency(x.length, half_at) as half from chunk_terms x
      where x.base_id = p_base and x.term = u.term collate "C" and x.run = any (array(
        select distinct m >> 8 from unnest(members) m)) and x.chunk_id in (select unnest(members)) offset 0) x
  ), said as (
    select p.chunk_id, m.place, sum(p_shares[(m.place - 1) * asked + p.nth] * p.score) as score
    from posting p join member m using (chunk_id) group by p.chunk_id, m.place
  ), found as materialized (
    -- Also those without a rare word, and without any: the party stands in the preamble, and of «в каком городе учился
    -- Голубев» the passage that answers says nothing.
    select u.chunk_id, u.place, p_scores[u.place] + sum(u.score) as score
    from (select * from said union all select member.*, 0 from member) u
    group by u.chunk_id, u.place order by score desc limit greatest(10 * p_limit, 300)
  ), looked_up as (
    select x.chunk_id, u.nth, u.own * bm25(in_all(x.frequency, x.titled, x.half), x.half)
      + u.wide * bm25(in_all(x.around, x.around_titled, x.half), x.half) as score
    from (select w.*, w.ordinality + rare as nth from unnest(p_words[rare + 1 :]) with ordinality w offset 0) u
    cross join lateral (
      select x.*, half_frequency(x.length, half_at) as half from chunk_terms x
      where x.base_id = p_base and x.term = u.term collate "C" and x.run = any (array(
        select distinct f.chunk_id >> 8 from found f)) and x.chunk_id in (select f.chunk_id from found f) offset 0) x
    offset 0
  )
  select u.chunk_id, u.place, sum(u.score) as score
  from (
    select found.* from found union all
    select f.chunk_id, f.place, p_shares[(f.place - 1) * asked + l.nth] * l.score
    from looked_up l join found f using (chunk_id)) u
  group by u.chunk_id, u.place order by score desc, u.chunk_id limit p_limit;
end $$;
comment on function baza_internal.score_members is
  'The best passages of these documents, scored as in `score_postings`. By the `place` of the document and the word, '
  '`p_shares` is how much of the word''s weight counts, and `p_scores` what the document adds. '
  'Relatives of frequent terms are left out.';

select baza_internal.record_function_file('document_choice', '243ec1c1e9ee8f7e7ccfe42fc7cde52f');

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

create or replace function baza_internal.cards_of(p_base uuid, p_documents uuid[])
returns table (asked uuid, card document_cards)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select d.id, card from documents d join document_cards card on card.id = coalesce((
    select current.id from documents current
    where d.status in ('superseded', 'failed') and current.base_id = d.base_id and current.lineage = d.lineage
      and current.status = 'ready'), d.id)
  where d.base_id = p_base and d.id = any (p_documents)
$$;
comment on function baza_internal.cards_of is 'See `document_card`.';

create or replace function document_card(p_base text, p_document text, p_person bigint default null)
returns setof document_cards
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select (c.card).* from cards_of(p_base::uuid, array[p_document::uuid]) c
$$;
comment on function document_card is
  'One document of the base, in any state; no row when there is none. For an earlier version, or a failed attempt at '
  'the next one, the current version: buttons stay under messages for years.';

create or replace function read_cards(p_base text, p_documents text[], p_person bigint default null)
returns table (asked uuid, card jsonb)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select c.asked, to_jsonb(c.card) from cards_of(p_base::uuid, p_documents::uuid[]) c
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

select baza_internal.record_function_file('library', '7a1720f3d052e60fb221fa524ab22967');

-- A document for another base. In: a ready document and a base. Out: the same document there, with its text, passages,
-- vectors and postings, as they were read: nothing is read or embedded again. Earlier versions stay where they are.

create or replace function keep_copy(p_base text, p_document text, p_to text, p_most_bytes bigint,
  p_person bigint default null)
returns table (id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select kept.id from documents d join kept_files k on k.id = d.kept_file
    cross join lateral keep_file(p_to, k.hash, k.size_bytes, p_most_bytes, p_person) kept
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.status = 'ready'
$$;
comment on function keep_copy is
  'The name under which the file of a document is to be stored for another base, before `send_document`; no row when '
  'Baza keeps none, or the other base has no room for it.';

create or replace function baza_internal.copy_passages(p_from documents, p_to documents)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into document_blocks (document_id, ordinal, kind, level, text, locator)
  select p_to.id, b.ordinal, b.kind, b.level, b.text, b.locator from document_blocks b where b.document_id = p_from.id;
  with old as materialized (
    select c.*, row_number() over (order by c.ordinal) - 1 as place from documents_chunks c where c.document_id = p_from.id
  ), new as materialized (
    select o.ordinal, o.id as old_id, (r.runs[1 + o.place / 256] << 8) | (o.place & 255) as id
    from old o cross join (select new_runs(count(*)) as runs from old) r
  ), stored as (
    insert into documents_chunks (id, base_id, document_id, ordinal, text, span_start, span_end, locator, length, model,
      embedding)
    select new.id, p_to.base_id, p_to.id, o.ordinal, o.text, o.span_start, o.span_end, o.locator, o.length, o.model,
      o.embedding
    from old o join new using (ordinal) order by o.ordinal
  )
  insert into posting_lists (base_id, term, run, postings)
  select p_to.base_id, t.term, new.id >> 8, array_agg((t.posting & ~(255::bigint << 55)) | ((new.id & 255) << 55) order by new.id)
  from (select distinct n.old_id >> 8 as run from new n) r
  cross join lateral (select * from chunk_terms x where x.run = r.run offset 0) t
  join new on new.old_id = t.chunk_id
  group by t.term, new.id >> 8
$$;
comment on function baza_internal.copy_passages is 'Text, passages and postings of one document for another.';

create or replace function baza_internal.copy_row(p_held documents, p_to uuid)
returns documents
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into documents as d (base_id, batch_id, position, user_id, sender, source_type, source_identifier, name_key,
    source_title, given_title, given_terms, title, names, author, published_at, source_text, source_url, media_type,
    size_bytes, chat_id, message_id, joined_messages, file_id, kept_file, content_hash, chosen, lane, language, medium, duration_s,
    pages, pages_without_text, parts, unread, meta, created_at, started_at)
  select p_to, begin_batch(p_to, '{"language": "ru"}'), 0, h.user_id, h.sender, h.source_type, h.source_identifier,
    h.name_key, h.source_title, h.given_title, h.given_terms, h.title, h.names, h.author, h.published_at, h.source_text,
    h.source_url, h.media_type, h.size_bytes, h.chat_id, h.message_id, h.joined_messages, h.file_id, (
      select held_file(p_to, theirs.id) from kept_files ours join kept_files theirs using (hash)
      where ours.id = h.kept_file and theirs.base_id = p_to and not theirs.leaving), h.content_hash, true,
    h.lane, h.language, h.medium, h.duration_s, h.pages, h.pages_without_text, h.parts, h.unread, h.meta, h.created_at,
    h.started_at
  from (select (p_held).*) h
  returning d.*
$$;
comment on function baza_internal.copy_row is
  'A document of its own in another base, not to be found yet. A file that Baza keeps belongs to its base: the copy has '
  'the one that `keep_copy` has named, if it did.';

create or replace function send_document(p_base text, p_document text, p_to text, p_move boolean,
  p_base_passages bigint default null, p_person bigint default null)
returns table (id uuid, title text, was_there boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
#variable_conflict use_column
declare
  held documents;
  made documents;
  number int;
begin
  perform require(p_base, p_person, case when p_move then 'write' else 'read' end);
  perform require(p_to, p_person, 'write');
  perform lock_base(each) from unnest(array[least(p_base::uuid, p_to::uuid), greatest(p_base::uuid, p_to::uuid)]) each;
  select * into held from documents d
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.status = 'ready' for update;
  if not found or p_base::uuid = p_to::uuid then
    return;
  end if;
  select * into made from documents d
  where d.base_id = p_to::uuid and d.status = 'ready' and (d.content_hash = held.content_hash
    or d.source_type = held.source_type and d.source_type <> 'file' and d.name_key = held.name_key) limit 1;
  if found then
    return query select made.id, made.title, true;
    return;
  end if;
  perform begin_writing(p_to::uuid);
  made := copy_row(held, p_to::uuid);
  perform ensure_room(made, held.chunks, p_base_passages);
  perform copy_passages(held, made);
  number := case when exists (
    select from documents d where d.base_id = made.base_id and d.source_type = 'file' and d.name_key = made.name_key
      and d.source_type = made.source_type and d.id <> made.id and d.status = 'ready') then free_number(made) end;
  update documents d
  set status = 'ready', visible = true, chunks = held.chunks, terms = held.terms, progress_done = held.chunks,
      progress_total = held.chunks, finished_at = coalesce(held.finished_at, now()),
      name_key = coalesce(beside(d.name_key, number), d.name_key),
      given_title = coalesce(beside(d.known_as, number), d.given_title),
      title = coalesce(beside(d.known_as, number), d.title)
  where d.id = made.id returning d.* into made;
  if p_move then
    perform delete_document(p_base, p_document);
  end if;
  return query select made.id, made.title, false;
end $$;
comment on function send_document is
  'Copies a ready document to another base, or moves it; no row when there is none. `was_there`: the other base has its '
  'content, or its address, already, and nothing was changed. A file beside another of its name gets a number.';

select baza_internal.record_function_file('moving', '500f6911bea0d40fd4c96cd251937af7');

-- The names of a document, as people see them and as search indexes them. In: another name with its lexical terms. Out:
-- the document under it. The terms of its names (title, file name) are in the postings of every passage, as `titled`.
create or replace function baza_internal.retitle(p_held documents, p_names jsonb)
returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  with line as materialized (
    select -1 as sign, x.text, x.terms from jsonb_to_recordset(p_held.names) as x (text text, terms jsonb)
    union all
    select 1, x.text, x.terms from jsonb_to_recordset(p_names) as x (text text, terms jsonb)
  ), unsaid as (
    -- As in `ingestion.indexing`: a name that is in the passage, or is a heading above it, is not counted once more.
    select c.id, c.length, line.sign, line.terms
    from documents_chunks c cross join line
    where c.document_id = p_held.id and strpos(c.text, line.text) = 0
      and not coalesce(c.locator -> 'headings' ? line.text, false)
  ), changed as (
    select u.id as chunk_id, said.key collate "C" as term, least(u.length, 4095) as length,
      sum(u.sign * said.value::int) as titled
    from unsaid u cross join lateral jsonb_each_text(u.terms) said
    where octet_length(said.key) <= 1000
    group by 1, 2, 3 having sum(u.sign * said.value::int) <> 0
  ), held as materialized ( -- with all terms of the same prefix: their sums change, too
    select t.chunk_id, t.term, t.length, t.frequency, t.titled, t.spread
    from (select distinct c.id >> 8 as run from documents_chunks c where c.document_id = p_held.id) r
    cross join lateral (select * from chunk_terms x where x.run = r.run offset 0) t
    where t.chunk_id in (select c.id from documents_chunks c where c.document_id = p_held.id)
      and left(t.term, 5) in (select left(c.term, 5) from changed c)
  ), posting as materialized (
    select chunk_id, term, coalesce(h.length, c.length) as length, coalesce(h.frequency, 0) as frequency,
      coalesce(h.spread, 0) as spread, least(greatest(coalesce(h.titled, 0) + coalesce(c.titled, 0), 0), 127) as titled
    from held h full join changed c using (chunk_id, term)
  ), summed as (
    select p.chunk_id, p.term, p.frequency::bigint, p.titled::bigint, p.length::bigint, p.spread::bigint,
      case when row_number() over alike = 1 then least(sum(p.frequency) over alike, 127)::bigint else 0 end as around,
      case when row_number() over alike = 1 then least(sum(p.titled) over alike, 127)::bigint else 0 end as around_titled
    from posting p
    window alike as (partition by p.chunk_id, left(p.term, 5) order by p.frequency = 0 and p.titled = 0, p.term
      rows between unbounded preceding and unbounded following)
  ), list as ( -- with the postings of the other passages
    select p.term, p.chunk_id >> 8 as run, array_agg(p.chunk_id) as renamed, coalesce(
      array_agg(p.frequency | (p.around << 7) | (p.titled << 14) | (p.around_titled << 21) | (p.length << 28)
        | (p.spread << 40) | ((p.chunk_id & 255) << 55)) filter (where p.frequency > 0 or p.titled > 0), '{}') as postings
    from summed p group by 1, 2
  ), whole as materialized (
    select l.term, l.run, array(
      select u.p from unnest(l.postings || array(
        select k.posting from chunk_terms k
        where k.base_id = p_held.base_id and k.term = l.term and k.run = l.run and k.chunk_id <> all (l.renamed))) u (p)
      order by u.p) as postings
    from list l
  ), unnamed as (
    delete from posting_lists t using whole w
    where t.base_id = p_held.base_id and t.term = w.term and t.run = w.run and w.postings = '{}'
  )
  insert into posting_lists as t (base_id, term, run, postings)
  select p_held.base_id, w.term, w.run, w.postings from whole w where w.postings <> '{}' order by w.term, w.run
  on conflict (base_id, term, run) do update set postings = excluded.postings where t.postings <> excluded.postings;
  perform count_spread(p_held);
  update documents d set names = p_names where d.id = p_held.id;
  perform note_changed_postings(p_held);
end $$;
comment on function baza_internal.retitle is
  'Indexes the passages of a document under the terms of these names ({text, terms} each), in place of those '
  'of its former names.';

create or replace function baza_internal.bear_own_titles(p_held documents)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  if p_held.given_title is null and p_held.source_type in ('file', 'path') then
    update documents d set title = file_name(d.source_identifier)
    where d.base_id = p_held.base_id and d.status = 'ready' and d.id <> p_held.id and d.given_title is null
      and d.source_type in ('file', 'path')
      and lower(left(d.names -> 0 ->> 'text', 200)) = lower(left(p_held.title, 200));
    if found then
      p_held.title := file_name(p_held.source_identifier);
    end if;
  end if;
  return p_held;
end $$;
comment on function baza_internal.bear_own_titles is
  'A title that several files of the base bear («Form 10-K») tells none of them: they all go by their file '
  'names, the document that is being published and those that are ready. Returns the document, which the caller '
  'stores. '
  'The first of `names` remembers the title; passages stay to be found by it.';

create or replace function baza_internal.file_name(p_identifier text)
returns text
language sql immutable parallel safe set search_path = public, baza_internal, extensions, pg_temp
as $$
  select regexp_replace(p_identifier, '^.*/(?=.)', '')
$$;
comment on function baza_internal.file_name is 'The last part of a path.';

create or replace function baza_internal.only_name(p_title text, p_terms jsonb)
returns jsonb
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select jsonb_build_array(jsonb_build_object('text', p_title, 'terms', p_terms))
$$;
comment on function baza_internal.only_name is 'The names of a document that a person has renamed: this one alone.';

create or replace function baza_internal.numbered_names(p_names jsonb, p_number int)
returns jsonb
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  -- The file name is the last of the names (`ingestion.indexing`). A number is a term as it is written.
  select jsonb_set(p_names, '{-1}', jsonb_build_object('text', (p_names -> -1 ->> 'text') || ' (' || p_number || ')',
    'terms', (p_names -> -1 -> 'terms') || jsonb_build_object(p_number::text,
      coalesce((p_names -> -1 -> 'terms' ->> p_number::text)::int, 0) + 1)))
$$;
comment on function baza_internal.numbered_names is
  'The names of the second, third … file of the same name; see `beside`.';

create or replace function rename_document(p_base text, p_document text, p_title text, p_name_key text, p_terms text,
  p_person bigint default null)
returns table (id uuid, title text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held documents;
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid); -- a publication would delete the passages whose postings are being written
  select * into held from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid for update;
  if not found then
    return;
  end if;
  update documents d
  set given_title = p_title, given_terms = p_terms::jsonb, title = p_title,
      name_key = case when d.source_type = 'file' then p_name_key else d.name_key end
  where d.id = held.id;
  if held.status = 'ready' then
    perform retitle(held, only_name(p_title, p_terms::jsonb));
  end if;
  return query select held.id, p_title;
end $$;
comment on function rename_document is
  'Renames a document. Later versions and attempts keep the name. The document is found by it from now on; one that is '
  'being read, from its publication on. `p_terms` are the lexical terms of the name with their counts. No row when '
  'there is no such document.';

select baza_internal.record_function_file('names', '62b1d1e177f46609e7c805edfa576adc');

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

-- Segments of postings: the weight of each term in each passage of a large base, stored as vectors, which pgvector adds
-- up. In: bases that have grown. Out: `posting_segments`, their terms and passages, and the search in them
-- (term_search.sql calls it). Workers make them in the background, eight thousand passages a segment; nobody who writes
-- or searches waits for it. A passage that is in no segment yet is found by its postings. Grouping postings by passage
-- costs PostgreSQL nearly a microsecond each; adding a vector of 8,000 numbers to another costs four, however many of
-- them are zero. So no word is too frequent to be read.

create or replace function baza_internal.posting_segment_size() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 8000 $$;
comment on function baza_internal.posting_segment_size is 'Passages in a segment; a vector has at most 16,000 numbers.';

create or replace function baza_internal.passages_without_segments() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 20000 $$;
comment on function baza_internal.passages_without_segments is 'A base of up to this many passages has no segments.';

create or replace function baza_internal.in_segments_up_to(p_base uuid) returns bigint
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select max(b.last) from posting_segments b where b.base_id = p_base and not b.emptied
$$;
comment on function baza_internal.in_segments_up_to is
  'The last passage that is in a segment; null where there is none.';

create or replace function baza_internal.share_outside_segments(p_base uuid) returns double precision
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select least(greatest(b.passages - k.passages, posting_segment_size())::double precision / greatest(b.passages, 1), 1)
  from bases b cross join lateral (
    select coalesce(sum(k.passages), 0) as passages from posting_segments k where k.base_id = p_base and not k.emptied) k
  where b.id = p_base
$$;
comment on function baza_internal.share_outside_segments is
  'The share of the passages of a base that are in no segment; at least one segment, since some may be removed.';

create or replace function baza_internal.writing_key(p_base uuid) returns bigint
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select hashtextextended('passages of ' || p_base, 0) $$;
comment on function baza_internal.writing_key is
  'The key of the advisory lock that writers of passages and postings in a base hold, shared.';

create or replace function baza_internal.begin_writing(p_base uuid) returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$ select pg_advisory_xact_lock_shared(writing_key(p_base)) $$;
comment on function baza_internal.begin_writing is
  'Must be called before the id of a passage is assigned. It blocks nobody; the lock shows in `writers_in` '
  'until the transaction ends.';

create or replace function baza_internal.writers_in(p_base uuid) returns text[]
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select coalesce(array_agg(l.virtualtransaction), '{}') from pg_locks l
  where l.locktype = 'advisory' and (l.classid::bigint << 32 | l.objid::bigint) = writing_key(p_base)
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
$$;
comment on function baza_internal.writers_in is
  'The transactions that are writing passages in a base at this moment, not those that write in other bases.';

create or replace function baza_internal.note_changed_postings(p_held documents) returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select begin_writing(p_held.base_id);
  insert into renamed_documents (document_id, base_id)
  select p_held.id, b.id from bases b
  where b.id = p_held.base_id and (b.passages > passages_without_segments() or in_segments_up_to(b.id) is not null
    or exists (select from posting_segment_plans p where p.base_id = b.id))
  on conflict do nothing
$$;
comment on function baza_internal.note_changed_postings is
  'Notes that the postings of a document change, which may be in a segment or in one that is being made.';

create or replace function baza_internal.add_posting_segment(p_base uuid, p_up_to bigint) returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off
set enable_mergejoin = off set work_mem = '64MB' -- sorting postings by term would take a third of the time
as $$
declare
  many constant int := 1000; -- postings; terms that have more stand in `common_terms`
  next constant int := (select coalesce(max(b.number) + 1, 0) from posting_segments b where b.base_id = p_base);
  size constant int := posting_segment_size();
  total constant bigint := (select b.passages from bases b where b.id = p_base);
  half_at constant double precision := half_per_term(p_base);
  members constant bigint[] := array(
    select c.id from documents_chunks c
    where c.base_id = p_base and c.id > coalesce(in_segments_up_to(p_base), 0) and c.id <= p_up_to
    order by c.id limit size);
begin
  insert into posting_segments (base_id, number, passages, last, base_passages)
  values (p_base, next, cardinality(members), coalesce(members[size], p_up_to), total);
  insert into posting_segment_chunks (base_id, number, place, chunk_id)
  select p_base, next, m.place, m.chunk from unnest(members) with ordinality m (chunk, place);
  insert into posting_segment_terms (base_id, term, number, weights)
  with posting as materialized (
    select t.term, left(t.term, 5) as low, m.place, half_frequency(t.length, half_at) as half, t.frequency, t.titled,
      t.around, t.around_titled
    from (select distinct m.chunk >> 8 as run from unnest(members) m (chunk)) r
    -- By the run alone: without statistics the planner would read all postings of the base for each of them.
    cross join lateral (select * from chunk_terms x where x.run = r.run offset 0) t
    join unnest(members) with ordinality m (chunk, place) on m.chunk = t.chunk_id
    where t.base_id = p_base
  ), given as (
    select p.term, p.place, bm25(in_all(p.frequency, p.titled, p.half), p.half) as score from posting p
    union all
    select p.low || '*', p.place, bm25(in_all(p.around, p.around_titled, p.half), p.half) from posting p
    where p.around > 0 or p.around_titled > 0
  ), asked as (
    select p.term, p.term as low, p.term || chr(1) as high, case when is_word(p.term) then 1 - prefix_share() else 1 end
      as share
    from posting p group by p.term
    union all -- "offset 0": `is_word` is called for each prefix once, not for each posting
    select p.low || '*', p.low, p.low || chr(1114111), prefix_share()
    from (select distinct p.low from posting p offset 0) p
    where is_word(p.low)
  ), weighed as materialized (
    select a.term, a.share * rarity(counted.postings, total) as weight
    from asked a left join common_terms common on common.base_id = p_base and common.term = a.term
    cross join lateral (
      select coalesce(common.postings, (
        select count(*) from (
          select from chunk_terms t where t.base_id = p_base and t.term >= a.low collate "C"
            and t.term < a.high collate "C" limit many) t)) as postings offset 0) counted
  )
  select p_base, g.term, next,
    ('{' || string_agg(g.place || ':' || (w.weight * g.score)::real, ',')
      || '}/' || size)::sparsevec
  from given g join weighed w using (term) group by g.term;
end $$;
comment on function baza_internal.add_posting_segment is
  'Puts the next passages of a base, up to a given one, into a segment.';

create or replace function baza_internal.posting_segment_wanted()
returns table (base_id uuid, worn boolean, up_to bigint, writers text[])
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select b.id, worn.out, p.up_to, p.writers
  from bases b left join posting_segment_plans p on p.base_id = b.id
  cross join lateral (
    select coalesce(sum(k.passages), 0) as passages, coalesce(max(k.last), 0) as last, min(k.base_passages) as least,
      bool_or(k.emptied) as emptied
    from posting_segments k where k.base_id = b.id) placed
  cross join lateral (
    select count(*) as passages from (
      select from documents_chunks c where c.base_id = b.id and c.id > placed.last
        and (b.passages > passages_without_segments() or placed.passages > 0)
      order by c.id limit posting_segment_size()) c) late
  cross join lateral ( -- their passages are in segments, too
    select coalesce(sum(d.chunks), 0) as passages from hidden_documents h join documents d on d.id = h.id
    where h.base_id = b.id) hidden
  cross join lateral (
    select coalesce(sum(d.chunks), 0) as passages from renamed_documents r join documents d on d.id = r.document_id
    where r.base_id = b.id) renamed
  cross join lateral (
    select placed.passages > 0 and (placed.emptied or 1.25 * b.passages <= passages_without_segments()
      or b.passages > 1.5 * placed.least or placed.passages > 1.25 * (b.passages + hidden.passages - late.passages)
      or renamed.passages > 0.25 * placed.passages) as out) worn
  where worn.out or (b.passages > passages_without_segments() and late.passages = posting_segment_size())
  order by b.passages desc
$$;
comment on function baza_internal.posting_segment_wanted is
  'Large bases with enough passages for another segment, and those whose segments are `worn`: many of their '
  'passages were removed or renamed, or so many were added that term weights have changed.';

create or replace function ensure_posting_segments()
returns table (base_id uuid, number int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '15min'
as $$
#variable_conflict use_column
declare
  wanted record;
begin
  if not pg_try_advisory_xact_lock(hashtext('posting_segment_terms')) then -- another worker is at it
    return;
  end if;
  for wanted in select * from posting_segment_wanted() loop
    if wanted.worn then
      delete from posting_segments b where b.base_id = wanted.base_id;
      delete from posting_segment_plans p where p.base_id = wanted.base_id;
      delete from renamed_documents r where r.base_id = wanted.base_id;
    elsif wanted.up_to is null then -- `writers_in` runs later: it sees all who hold ids up to `up_to` and still write
      insert into posting_segment_plans (base_id, up_to, writers)
      select wanted.base_id, max(c.id), writers_in(wanted.base_id)
      from (select c.id from documents_chunks c
        where c.base_id = wanted.base_id and c.id > coalesce(in_segments_up_to(wanted.base_id), 0)
        order by c.id limit posting_segment_size()) c;
    elsif wanted.writers && writers_in(wanted.base_id) then
      continue;
    else
      perform add_posting_segment(wanted.base_id, wanted.up_to);
      delete from posting_segment_plans p where p.base_id = wanted.base_id;
    end if;
    return query select wanted.base_id, max(b.number) from posting_segments b where b.base_id = wanted.base_id;
    return;
  end loop;
end $$;
comment on function ensure_posting_segments is
  'One step of some seconds for the largest base that needs a segment; to be called until no row comes back. Search is '
  'complete at any time.';

create or replace function baza_internal.even_vector(p_number real) returns vector
language plpgsql immutable parallel safe set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  numbers vector := array_fill(p_number, array[125])::vector; -- doubled: filled one by one it takes four times as long
begin
  while vector_dims(numbers) < posting_segment_size() loop
    numbers := numbers || numbers;
  end loop;
  return subvector(numbers, 1, posting_segment_size());
end $$;
comment on function baza_internal.even_vector is 'A vector as long as a segment, the same number everywhere.';

create or replace function baza_internal.bound_above(p_sums vector[], p_wanted int,
  p_highest double precision) returns real
language plpgsql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  low real := 0; -- at least as many as wanted are above it, or there are no more
  high real := p_highest;
  bound real := 0;
  level vector;
  above bigint;
begin
  for step in 1 .. 20 loop
    level := even_vector(bound);
    above := (select sum(bit_count(binary_quantize(s - level))) from unnest(p_sums) s);
    if above >= p_wanted then
      low := bound;
    else
      high := bound;
    end if;
    exit when above between p_wanted and 3 * p_wanted or high <= 0;
    bound := (low + high) / 2;
  end loop;
  return low;
end $$;
comment on function baza_internal.bound_above is
  'By bisection, a bound with about as many sums above it as wanted, or somewhat more; 0 where there are '
  'fewer.';

create or replace function baza_internal.search_posting_segments(p_base uuid, p_terms text[],
  p_highest double precision, p_hidden bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  wanted int := p_limit + p_limit / 2;
  bound real;
  chunks bigint[];
  scores double precision[];
begin
  loop
    with sums as materialized ( -- 32 kB each: gathered in arrays they would be copied again and again
      select t.number, sum(t.weights::vector) as weights
      from unnest(p_terms) w (term) -- "offset 0": looked up by key, also while the table has no statistics
      cross join lateral (select * from posting_segment_terms x where x.base_id = p_base and x.term = w.term offset 0) t
      group by t.number
    ), found as materialized ( -- one bound for all, by a quarter of the segments, or six: by three it is often too high
      select bound_above(array_agg(s.weights), ceil(wanted * count(*)::real / max(counted.segments))::int, p_highest)
        as bound
      from sums s cross join (select count(*) as segments from sums) counted
      where s.number % least(4, greatest(1, counted.segments / 6)) = 0
    ), level as materialized (
      select f.bound, even_vector(f.bound) as even from found f
    ), above as ( -- 1 bits are above the bound: the bits as text, split at each 1; the lengths add up to the places
      select s.number, s.weights, z.place
      from sums s cross join level cross join lateral (
        select (sum(octet_length(z.zeros)) over (order by z.n) + z.n)::int as place
        from unnest(string_to_array(binary_quantize(s.weights - level.even)::text, '1')) with ordinality z (zeros, n)) z
      where z.place <= posting_segment_size()
    ), best as (
      select p.chunk_id, (subvector(a.weights, a.place, 1)::real[])[1]::double precision as score
      from above a cross join lateral (
        select * from posting_segment_chunks x
        where x.base_id = p_base and x.number = a.number and x.place = a.place offset 0) p
      where p.chunk_id not in (select unnest(p_hidden))
        and exists (select from documents_chunks c where c.id = p.chunk_id and c.base_id = p_base)
      order by score desc, p.chunk_id limit p_limit
    )
    select array_agg(best.chunk_id), array_agg(best.score), (select f.bound from found f) into chunks, scores, bound
    from best;
    exit when bound <= 0 or cardinality(chunks) >= p_limit;
    wanted := 4 * wanted;
  end loop;
  return query select * from unnest(chunks, scores);
end $$;
comment on function baza_internal.search_posting_segments is
  'The best passages that are in segments, by the sums of the weights of their terms. Removed passages keep '
  'their places: where they took too many, a lower bound is sought.';

select baza_internal.record_function_file('posting_segments', '28c2e3886b496a5641e9edf0671702e7');

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
  runs constant bigint[] := array(select distinct c >> 8 from unnest(gone) c);
  kept constant bigint[] := array( -- with passages that stay
    select u.run from unnest(runs) u (run)
    where exists (select from documents_chunks c where c.id between u.run << 8 and (u.run << 8) + 255));
begin
  update posting_lists l set postings = array(
    select u.p from unnest(l.postings) u (p)
    where (l.run << 8) | (u.p >> 55) not in (select unnest(gone)) order by u.p)
  where l.run = any (kept);
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

select baza_internal.record_function_file('queue', 'fccd75033fd2063e310997b95d24bfe0');

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

-- The search by words: BM25 over the postings of a base. In: the terms of a question. Out: passages with scores.
-- Needs no extension. The terms are made by the analyzer that made the postings (adapters/lexical); what each setting
-- is for, and what it brings, is in docs/retrieval.md.

create or replace function baza_internal.counted_anew() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 2000 $$;
comment on function baza_internal.counted_anew is
  'In a base of up to this many passages a search counts all postings itself; in a larger one it takes the large counts '
  'from `common_terms`. In 20,000 passages of 4,000 contracts of one form counting took 14 ms of a search.';

create or replace function baza_internal.count_common_terms(p_base uuid) returns bigint
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  frequent constant int := 1000; -- postings; fewer are counted in a millisecond
  held constant bigint := (select b.passages from bases b where b.id = p_base);
  written bigint;
begin
  delete from common_terms c where c.base_id = p_base;
  insert into common_terms (base_id, term, postings, said, firsts, firsts_said, reached, passages)
  with counted as materialized (
    select t.term, count(*) as postings, count(*) filter (where t.frequency > 0) as said,
      count(*) filter (where t.spread > 0) as firsts,
      count(*) filter (where t.spread > 0 and t.frequency > 0) as firsts_said, sum(t.spread) as reached
    from chunk_terms t where t.base_id = p_base group by t.term
  )
  -- The most frequent one in any case: else a base without frequent terms would be counted again and again.
  select p_base, c.*, held from counted c
  where c.postings > least(frequent, (select max(most.postings) - 1 from counted most))
  union all
  select p_base, left(c.term, 5) || '*', sum(c.postings), sum(c.said), sum(c.firsts), sum(c.firsts_said),
    sum(c.reached), held from counted c
  where is_word(c.term) group by left(c.term, 5) having sum(c.postings) > frequent;
  get diagnostics written = row_count;
  return written;
end $$;
comment on function baza_internal.count_common_terms is 'Counts the frequent terms of a base anew.';

create or replace function refresh_common_terms()
returns table (base_id uuid, terms bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '15min'
as $$
  select b.id, count_common_terms(b.id) from bases b
  where b.passages > counted_anew()
    and coalesce((select max(c.passages) from common_terms c where c.base_id = b.id), 0)
      not between b.passages * 0.8 and b.passages * 1.2
  limit 1
$$;
comment on function refresh_common_terms is
  'Counts the frequent terms of one large base that has grown or shrunk by a fifth since it was last done.';

create or replace function baza_internal.forget_terms() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  delete from common_terms c where c.base_id = new.id;
  delete from posting_segment_plans p where p.base_id = new.id;
  update posting_segments b set emptied = true where b.base_id = new.id; -- workers delete them later
  return null;
end $$;
comment on function baza_internal.forget_terms is
  'Of a base that was emptied, removes the term counts and marks the segments.';
create or replace trigger bases_emptied after update of passages on bases
  for each row when (new.passages = 0 and old.passages > 0) execute function baza_internal.forget_terms();

create or replace function baza_internal.is_word(p_term text) returns boolean
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select length(p_term) >= 5 and p_term !~ '[-0-9._@+#'']' $$;
comment on function baza_internal.is_word is
  'Whether terms with the same first five letters count as relatives of this one: it is a word of letters, '
  'not a code, a number or a file name.';

-- BM25F (Robertson and Zaragoza) with k1 = 1.2 and b = 1: passages are all cut alike, and of two with the same words
-- the shorter one is about nothing else. A passage of fewer than 16 terms counts as that long. These functions have no
-- `set` clause: so the planner puts their expressions in the place of the calls.

create or replace function baza_internal.rarity(p_postings bigint, p_passages bigint) returns double precision
language sql immutable parallel safe
as $$ select ln(1 + (greatest(p_passages - p_postings, 0) + 0.5::double precision) / (p_postings + 0.5)) $$;
comment on function baza_internal.rarity is 'The inverse document frequency of a term with so many postings in a base.';

create or replace function baza_internal.prefix_share() returns double precision
language sql immutable parallel safe
as $$ select 0.5::double precision $$;
comment on function baza_internal.prefix_share is
  'How much of the weight of a word is for its prefix, which its relatives have too; the rest is for the word itself.';

create or replace function baza_internal.half_per_term(p_base uuid) returns double precision
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select 1.2::double precision * greatest(b.passages, 1) / greatest(b.terms, 1) from bases b where b.id = p_base
$$;
comment on function baza_internal.half_per_term is
  'k1 by the average length of the passages of a base: for `half_frequency`.';

create or replace function baza_internal.half_frequency(p_length int, p_half_per_term double precision)
returns double precision
language sql immutable parallel safe
as $$ select p_half_per_term * greatest(p_length, 16) $$;
comment on function baza_internal.half_frequency is
  'How often a term must stand in a passage of this length to get half of what it could: `p_half` below.';

create or replace function baza_internal.in_all(p_frequency int, p_titled int, p_half double precision)
returns double precision
language sql immutable parallel safe
as $$
  select case when p_titled = 0 then p_frequency
    else p_frequency + p_titled * (0.5 / 1.2)::double precision * p_half end -- as numeric it takes many times as long
$$;
comment on function baza_internal.in_all is
  'The frequency of a term in the text and in the title and headings above it: once there counts as half the average '
  'frequency, however long they are.';

create or replace function baza_internal.bm25(p_frequency double precision, p_half double precision)
returns double precision
language sql immutable parallel safe
as $$ select 2.2 * p_frequency / (p_frequency + p_half) $$;
comment on function baza_internal.bm25 is 'The score that a term of rarity 1 gives to a passage.';

create or replace function baza_internal.similar_terms(p_base uuid, p_term text, p_beginnings text[], p_pattern text)
returns table (term text)
language sql stable rows 3 set search_path = public, baza_internal, extensions, pg_temp
as $$
  with recursive vocabulary as (
    select first.term, b.start from unnest(p_beginnings) b (start) cross join lateral (
      select t.term from posting_lists t
      where t.base_id = p_base and t.term >= b.start collate "C" and t.term < (b.start || chr(1114111)) collate "C"
      order by t.term limit 1) first
    union all
    (select later.term, v.start from vocabulary v cross join lateral (
       select t.term from posting_lists t
       where t.base_id = p_base and t.term > v.term and t.term < (v.start || chr(1114111)) collate "C"
       order by t.term limit 1) later)
  )
  select v.term from vocabulary v
  -- A word with one typo keeps its beginning or its end: checking that takes a tenth of the time of matching. A term of
  -- the other alphabet shares neither, and is always matched. "case", since the planner would match first.
  where case when left(v.term, 1) <> left(p_term, 1) or starts_with(v.term, left(p_term, length(p_term) / 2))
    or right(v.term, (length(p_term) - 1) / 2) = right(p_term, (length(p_term) - 1) / 2) then v.term ~ p_pattern end
  order by v.term limit 3
$$;
comment on function baza_internal.similar_terms is
  'The first three terms of the base that begin with one of `p_beginnings` and match `p_pattern`, to stand '
  'for `p_term`. Steps from term to term along the index: one step for each such term, however many passages hold it.';

create or replace function baza_internal.count_range(p_base uuid, p_low text, p_high text, p_hidden bigint[],
  out postings bigint, out said bigint, out firsts bigint, out firsts_said bigint, out reached bigint)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  select count(*), count(*) filter (where t.frequency > 0), count(*) filter (where t.spread > 0),
    count(*) filter (where t.spread > 0 and t.frequency > 0), sum(t.spread)
  into postings, said, firsts, firsts_said, reached from chunk_terms t
  where t.base_id = p_base and t.term >= p_low collate "C" and t.term < p_high collate "C"
    and t.chunk_id not in (select unnest(p_hidden));
end $$;
comment on function baza_internal.count_range is
  'What `common_terms` has, counted now: of all terms from `p_low` to before `p_high`.';

create or replace function baza_internal.count_postings(p_base uuid, p_term text, p_low text, p_high text,
  p_hidden bigint[],
  out own bigint, out around bigint, out said bigint, out firsts bigint, out firsts_said bigint, out reached bigint)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  exact record; -- of the term itself
  range record; -- of it and its relatives
begin
  if (select b.passages from bases b where b.id = p_base) > counted_anew() then
    select * into exact from common_terms c where c.base_id = p_base and c.term = p_term;
    select * into range from common_terms c
    where c.base_id = p_base and c.term in (p_low || '*', case when p_low = p_term then p_term end)
    order by c.term desc limit 1; -- of the whole range, if it is known
  else
    select null::bigint as postings into exact;
    range := exact;
  end if;
  if range.postings is null then
    select * into range from count_range(p_base, p_low, p_high, p_hidden);
  end if;
  if p_high = p_term || chr(1) then
    exact := range;
  elsif exact.postings is null then
    select * into exact from count_range(p_base, p_term, p_term || chr(1), p_hidden) where range.postings > 0;
  end if;
  own := exact.postings;
  around := range.postings;
  if exact.firsts > 0 then -- what documents are called: «электронной», said everywhere, tells nothing of «Электрон»
    select exact.said, exact.firsts, exact.firsts_said, around - (exact.postings - exact.reached)
    into said, firsts, firsts_said, reached;
  else
    select range.said, range.firsts, range.firsts_said, range.reached into said, firsts, firsts_said, reached;
  end if;
end $$;
comment on function baza_internal.count_postings is
  'How many postings a term has (`own`), and all terms from `p_low` to before `p_high` (`around`); of these, or of the '
  'term itself where a first passage or a name has it, also what `common_terms` has. The large counts of large bases '
  'are those of the last `count_common_terms`.';

create or replace function baza_internal.weigh_terms(p_base uuid, p_terms text[], p_spellings jsonb, p_hidden bigint[])
returns setof weighed_term
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  total constant bigint := (select b.passages from bases b where b.id = p_base);
begin
  return query
  with asked as materialized (
    select a.term, min(a.place)::int as place,
      exists (select from posting_lists t where t.base_id = p_base and t.term = a.term) as held
    from unnest(p_terms) with ordinality a (term, place) group by a.term
  ), meant as (
    select a.place, a.term from asked a
    union
    select a.place, s.term from asked a
    join jsonb_to_recordset(p_spellings) x (term text, beginnings text[], pattern text) on x.term = a.term
    cross join lateral similar_terms(p_base, a.term, x.beginnings, x.pattern) s
    where not a.held
  ), range as (
    select m.place, m.term, r.low, case when r.low = m.term and not is_word(m.term) then m.term || chr(1)
      else r.low || chr(1114111) end as high
    from meant m cross join lateral (select case when is_word(m.term) then left(m.term, 5) else m.term end) r (low)
  ), counted as (
    select r.*, c.*, row_number() over (partition by r.low order by c.own desc, r.place) = 1 as leads
    from range r cross join lateral count_postings(p_base, r.term, r.low, r.high, p_hidden) c
    where c.around > 0
  )
  select c.place, c.term, c.low, c.high,
    (case when is_word(c.term) then 1 - prefix_share() else 1 end) * rarity(c.own, total),
    case when is_word(c.term) and c.leads then prefix_share() else 0 end * rarity(c.around, total),
    c.around, c.said, c.firsts, c.firsts_said, c.reached
  from counted c order by c.around, c.place, c.term;
end $$;
comment on function baza_internal.weigh_terms is
  'The weight (rarity) of each term of a question in this base, and the range of the index that holds the '
  'term and its relatives, with the numbers of its postings; the rarest first. A term that the base does not hold is '
  'looked up in other spellings.';

create or replace function baza_internal.score_postings(p_base uuid, p_words weighed_term[], p_after bigint, p_hidden bigint[], p_allowed bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  half_at constant double precision := half_per_term(p_base);
  all_shown constant boolean := p_hidden = '{}';
  every constant int := 2147483647; -- rows; as an optimisation fence as good as "offset 0", but for an unknown limit
  -- the planner expects a tenth of the rows, and makes hash tables that fit the cache
begin
  return query
  select f.chunk_id, f.score
  from (
    -- Nearly every posting is the only one of its passage with its prefix: then one fraction serves the term and the
    -- prefix.
    select h.chunk_id, sum(
      case when h.term <> w.term then w.wide * bm25(h.around, h.half)
        when h.own = h.around then (w.own + w.wide) * bm25(h.own, h.half)
        else w.own * bm25(h.own, h.half) + w.wide * bm25(h.around, h.half)
      end) as score
    from (select u.term, u.low, u.high, u.own, u.wide from unnest(p_words) u offset 0) w
    cross join lateral (
      select x.chunk_id, x.term, half_frequency(x.length, half_at) as half,
        in_all(x.frequency, x.titled, half_frequency(x.length, half_at)) as own,
        in_all(x.around, x.around_titled, half_frequency(x.length, half_at)) as around
      from chunk_terms x
      where x.base_id = p_base and x.term >= w.low collate "C" and x.term < w.high collate "C"
        and x.run >= p_after >> 8 and x.chunk_id > p_after limit every) h
    group by h.chunk_id offset 0) f
  where (all_shown or f.chunk_id not in (select unnest(p_hidden)))
    and (p_allowed is null or f.chunk_id in (select unnest(p_allowed)))
  order by f.score desc, f.chunk_id limit p_limit;
end $$;
comment on function baza_internal.score_postings is
  'The best passages after `p_after`, by all postings of the ranges of these words.';

create or replace function baza_internal.search_postings(p_base uuid, p_words weighed_term[],
  p_share double precision, p_after bigint, p_hidden bigint[], p_allowed bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  readable constant int := 10000; -- postings that one search reads in full, beginning with the rarest word
  longest constant bigint := ( -- postings of a word other than the rarest; reading all of «cloud» outweighed the rest
    select case when p_share < 1 then 15000 else least(15000, greatest(1000, b.passages / 2)) end
    from bases b where b.id = p_base);
  looked_through constant int := greatest(10 * p_limit, 300); -- candidates that get a full score when words are left
  half_at constant double precision := half_per_term(p_base);
  few weighed_term[]; -- the words that are read; the `frequent` are looked up by key for the candidates found
  frequent weighed_term[];
begin
  select array_agg(p_words[w.nth]) filter (where not w.many), array_agg(p_words[w.nth]) filter (where w.many)
  into few, frequent
  from (
    select u.ordinality as nth, p_share * (sum(u.postings) over (order by u.ordinality) - u.postings) > readable
      or (p_share * u.postings > longest and u.ordinality > 1) as many
    from unnest(p_words) with ordinality u) w;
  return query
  with found as materialized (
    select * from score_postings(p_base, few, p_after, p_hidden, p_allowed,
      case when frequent is null then p_limit else looked_through end)
  )
  -- Summed, not joined: the planner would compare each passage found with each that has a frequent word.
  select u.chunk_id, sum(u.score) as score
  from (
    select found.chunk_id, found.score from found
    union all -- all passages at once for each term: one by one takes nearly twice as long
    select x.chunk_id, (w.own + w.wide) * bm25(x.own, x.half)
    from unnest(frequent) w
    cross join lateral (
      select x.chunk_id, half_frequency(x.length, half_at) as half,
        in_all(x.frequency, x.titled, half_frequency(x.length, half_at)) as own
      from chunk_terms x
      where x.base_id = p_base and x.term = w.term collate "C"
        and x.run = any (array(select distinct found.chunk_id >> 8 from found))
        and x.chunk_id in (select found.chunk_id from found) offset 0) x) u
  group by u.chunk_id order by score desc, u.chunk_id limit p_limit;
end $$;
comment on function baza_internal.search_postings is
  'The best passages after `p_after` by weighed terms, the rarest first, with the number of postings each '
  'has in the whole base. `p_share` is the part of them that has to be read; terms that are too frequent even then are '
  'looked up for what the others have found.';

create or replace function baza_internal.search_terms(p_base uuid, p_terms text[], p_spellings jsonb,
  p_within uuid[], p_limit int)
returns table (chunk_id bigint, score double precision, rarities double precision[], inherited double precision[])
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  total constant int := (select b.passages from bases b where b.id = p_base);
  passed_over constant double precision := 0.03; -- of reading a posting: to skip one in segments, before PostgreSQL 18
  hidden constant bigint[] := array(
    select c.id from hidden_documents h join documents_chunks c on c.document_id = h.id where h.base_id = p_base);
  allowed constant bigint[] := case when p_within is not null then array(
    select c.id from documents_chunks c where c.base_id = p_base and c.document_id = any (p_within)) end;
  in_segments constant bigint := coalesce(case when p_within is null then in_segments_up_to(p_base) end, 0);
  share constant double precision := case when in_segments = 0 then 1
    else greatest(share_outside_segments(p_base), passed_over) end;
  renamed constant bigint[] := case when in_segments > 0 then array(
    select c.id from renamed_documents r join documents_chunks c on c.document_id = r.document_id
    where r.base_id = p_base and c.id <= in_segments) else '{}' end;
  words constant weighed_term[] := array(select w from weigh_terms(p_base, p_terms, p_spellings, hidden) w);
  rarities constant double precision[] := array(
    select coalesce(max(w.own + w.wide), rarity(1, total))
    from unnest(p_terms) with ordinality t (term, place) left join unnest(words) w on w.place = t.place
    group by t.place order by t.place);
  keys text[]; -- of the words and their prefixes in segments
  highest double precision;
begin
  select array_agg(w.term) || array_agg(w.low || '*') filter (where w.wide > 0), 2.2 * sum(w.own + w.wide)
  into keys, highest from unnest(words) w;
  return query
  with plain as (
    select * from search_postings(p_base, words, share, in_segments, hidden, allowed, p_limit)
    union all
    select * from search_postings(p_base, words, 1, 0, hidden, renamed, p_limit) where renamed <> '{}'
    union all
    select * from search_posting_segments(p_base, keys, highest, hidden || renamed, p_limit) where in_segments > 0
  ), inside as (
    select * from search_chosen(p_base, cardinality(p_terms), words, p_limit) where p_within is null
  )
  select chunk_id, greatest(plain.score, inside.score) as score, rarities, inside.inherited
  from plain full join inside using (chunk_id)
  order by score desc, chunk_id limit p_limit;
end $$;
comment on function baza_internal.search_terms is
  'Passages by BM25 over the postings of the base; a repeated term counts once. `rarities` is the weight of '
  'each term of the question, the same in every row: of one that no passage holds that of a word in one passage; '
  '`inherited` is explained at `search_chosen`.';

select baza_internal.record_function_file('term_search', '4cca13e01a7b07f5a226a11cc78bbe9f');

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

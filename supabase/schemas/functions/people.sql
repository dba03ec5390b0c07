-- Bases, modes and dialogues of people and groups. In: Telegram ids or a name. Out: rows of bases and user_state.
-- A person or a group is one `p_user`: a person's id, or a group's (negative) chat id.
create or replace function open_base(p_chat bigint, p_thread bigint default null, p_member bigint default null)
returns setof bases
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  is_private constant boolean := p_chat > 0;
  -- Topics of a private chat are views of one person's material; topics of a group are rooms of their own.
  room constant bigint := case when is_private then 0 else coalesce(p_thread, 0) end;
  found_base bases;
begin
  select * into found_base from bases where chat_id = p_chat and thread_id = room;
  if not found then
    insert into bases (kind, chat_id, thread_id)
    values (case when is_private then 'private' else 'group' end, p_chat, room)
    on conflict (chat_id, thread_id) where chat_id is not null do nothing;
    select * into strict found_base from bases where chat_id = p_chat and thread_id = room;
  end if;
  insert into base_members (base_id, user_id)
  select found_base.id, member
  from (values (coalesce(p_member, case when is_private then p_chat end))) as who (member)
  where member is not null
  on conflict do nothing;
  return next found_base;
end $$;
comment on function open_base is
  'The base of a private chat, a group or a topic of a group; made when there is none. Notes who takes part.';

create or replace function open_named_base(p_name text)
returns setof bases
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  insert into bases (kind, name)
  select 'named', p_name
  where not exists (select from bases where name = p_name)
  on conflict (name) where name is not null do nothing;
  return query select * from bases where name = p_name;
end $$;
comment on function open_named_base is 'The base of the command line with this name; made when there is none.';

create or replace function read_or_create_state(p_user bigint, p_base text, p_language text)
returns setof user_state
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  return query select * from user_state where user_id = p_user;
  if found then
    return;
  end if;
  insert into user_state (user_id, base_id, language)
  values (p_user, p_base::uuid, p_language)
  on conflict (user_id) do nothing;
  return query select * from user_state where user_id = p_user;
end $$;
comment on function read_or_create_state is
  'The state as it is; a new one (no mode, a fresh dialogue) begins with this base and language.';

create or replace function set_mode(p_user bigint, p_mode text)
returns setof user_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into user_state as s (user_id, current_mode, base_id)
  select p_user, p_mode, own.id from open_base(p_user) own
  on conflict (user_id) do update set current_mode = excluded.current_mode, updated_at = now()
  returning s.*
$$;
comment on function set_mode is
  'Upserts the mode on user_id (seed 1, section 4.1.1); null is the reset. Somebody new gets their own chat''s base.';

create or replace function set_language(p_user bigint, p_language text)
returns setof user_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into user_state as s (user_id, language, base_id)
  select p_user, p_language, own.id from open_base(p_user) own
  on conflict (user_id) do update set language = excluded.language, updated_at = now()
  returning s.*
$$;
comment on function set_language is 'Upserts the language of the interface on user_id.';

create or replace function new_session(p_user bigint)
returns setof user_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into user_state as s (user_id, base_id)
  select p_user, own.id from open_base(p_user) own
  on conflict (user_id) do update set session_id = gen_random_uuid(), updated_at = now()
  returning s.*
$$;
comment on function new_session is 'Begins a new dialogue; the old one is kept.';

create or replace function set_only_document(p_user bigint, p_base text, p_document text)
returns setof user_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update user_state s set updated_at = now(),
    only_document = (select d.id from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid)
  where s.user_id = p_user
  returning s.*
$$;
comment on function set_only_document is
  'From now on this person asks of one document of the base; null, or a document of another base: of all.';

create or replace function put_pending_question(
  p_chat bigint, p_thread bigint, p_user bigint, p_about text, p_subject text, p_seconds int)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  delete from pending_questions q where q.ends_at < now() - interval '1 day';
  insert into pending_questions as q (chat_id, thread_id, user_id, about, subject, ends_at)
  values (p_chat, coalesce(p_thread, 0), p_user, p_about, p_subject, now() + make_interval(secs => p_seconds))
  on conflict (chat_id, thread_id, user_id) do update set
    about = excluded.about, subject = excluded.subject, ends_at = excluded.ends_at, taken_by = null
$$;
comment on function put_pending_question is
  'The bot has asked this person something in this chat; an earlier question there is forgotten.';

create or replace function take_pending_question(p_chat bigint, p_thread bigint, p_user bigint, p_update bigint)
returns table (about text, subject text)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update pending_questions q set taken_by = p_update
  where q.chat_id = p_chat and q.thread_id = coalesce(p_thread, 0) and q.user_id = p_user
    and (q.taken_by = p_update or q.taken_by is null and q.ends_at > now())
  returning q.about, q.subject
$$;
comment on function take_pending_question is
  'What this person was asked in this chat, once; again only for the same update, which may be replayed after a crash.';

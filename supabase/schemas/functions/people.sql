-- The open base, mode and dialogue of chats. In: Telegram ids or a name. Out: rows of bases and user_states.
-- A person or a group is one `p_user`: a person's id, or a group's (negative) chat id. Each topic has a state of its own.
create or replace function open_base(p_chat bigint, p_thread bigint default null, p_member bigint default null,
  p_name text default null, p_topic text default null)
returns setof bases
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  topic constant bigint := coalesce(p_thread, 0);
  its_base bases;
begin
  select * into its_base from bases where chat_id = p_chat and thread_id = topic;
  if not found then
    insert into bases (kind, chat_id, thread_id, name)
    values (case when p_chat > 0 then 'private' else 'group' end, p_chat, topic, p_topic)
    on conflict (chat_id, thread_id) where chat_id is not null do nothing;
    select * into strict its_base from bases where chat_id = p_chat and thread_id = topic;
  elsif its_base.name is null and p_topic is not null then
    update bases b set name = p_topic where b.id = its_base.id returning b.* into its_base;
  end if;
  insert into base_members as m (base_id, user_id, role, name) values (its_base.id, p_chat, 'owner', p_name)
  on conflict (base_id, user_id) do update set name = excluded.name where m.name is distinct from p_name and p_name is not null;
  if p_member <> p_chat then
    perform note_member(its_base.id, p_member);
  end if;
  return next its_base;
end $$;
comment on function open_base is
  'The first base of a private chat, a group or a topic of one; made when there is none. The chat owns it. Who writes '
  'in a group may read its base from elsewhere (`note_member`).';

create or replace function baza_internal.note_member(p_base uuid, p_member bigint)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into base_members as m (base_id, user_id, role, until) values (p_base, p_member, 'reader', now() + interval '1 day')
  on conflict (base_id, user_id) do update set until = excluded.until where m.until < now() + interval '12 hours'
$$;
comment on function baza_internal.note_member is
  'Somebody was seen in a group: for a day they may read its base in their private chat; then Telegram is asked again.';

create or replace function confirm_member(p_user bigint, p_group_base text)
returns table (base_id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select note_member(m.base_id, p_user) from base_members m join bases b on b.id = m.base_id and b.kind = 'group'
  where m.base_id = p_group_base::uuid and m.user_id = p_user and m.role = 'reader';
  select m.base_id from base_members m where m.base_id = p_group_base::uuid and m.user_id = p_user
$$;
comment on function confirm_member is 'Telegram says that somebody who wrote in a group is still there.';

create or replace function leave_group(p_chat bigint, p_member bigint default null)
returns table (base_id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select gone.base_id from (
      select b.id as base_id, m.user_id from bases b join base_members m on m.base_id = b.id
      where b.chat_id = p_chat and p_chat < 0 and m.role <> 'owner' and m.user_id = coalesce(p_member, m.user_id)
      union all
      select m.base_id, m.user_id from base_members m
      where p_member is null and p_chat < 0 and m.user_id = p_chat and m.role <> 'owner') gone
    cross join lateral remove_member(gone.base_id::text, gone.user_id) removed
$$;
comment on function leave_group is
  'Somebody is not in a group any more: the bases of its topics are closed to them. Without `p_member` Baza itself was '
  'taken out: they are closed to everybody elsewhere, and the bases that its administrators opened there to the group.';

create or replace function open_named_base(p_name text)
returns setof bases
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  insert into bases (kind, name)
  select 'named', p_name
  where not exists (select from bases where name = p_name and kind = 'named')
  on conflict (name) where kind = 'named' do nothing;
  return query select * from bases where name = p_name and kind = 'named';
end $$;
comment on function open_named_base is 'The base of the command line with this name; made when there is none.';

create or replace function read_or_create_state(p_user bigint, p_home text, p_language text, p_thread bigint default 0)
returns setof opened_state
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  return query select * from user_states s where s.user_id = p_user and s.thread_id = p_thread;
  if found then
    return;
  end if;
  insert into user_state (user_id, thread_id, base_id, language)
  values (p_user, p_thread, p_home::uuid,
    coalesce((select s.language from user_state s where s.user_id = p_user order by s.thread_id limit 1), p_language))
  on conflict (user_id, thread_id) do nothing;
  return query select * from user_states s where s.user_id = p_user and s.thread_id = p_thread;
end $$;
comment on function read_or_create_state is
  'The state as it is; a new one (no mode, a fresh dialogue) begins with this base and, in a first chat, this language.';

create or replace function set_mode(p_user bigint, p_mode text, p_thread bigint default 0)
returns setof opened_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into user_state as s (user_id, thread_id, current_mode, base_id)
  select p_user, p_thread, p_mode, own.id from open_base(p_user, p_thread) own
  on conflict (user_id, thread_id) do update set current_mode = excluded.current_mode, updated_at = now();
  select * from user_states s where s.user_id = p_user and s.thread_id = p_thread
$$;
comment on function set_mode is
  'Upserts the mode on user_id and topic (seed 1, section 4.1.1); null is the reset. Somebody new gets their own chat''s '
  'base.';

create or replace function set_language(p_user bigint, p_language text)
returns setof opened_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into user_state as s (user_id, language, base_id)
  select p_user, p_language, own.id from open_base(p_user) own
  on conflict (user_id, thread_id) do nothing;
  update user_state s set language = p_language, updated_at = now() where s.user_id = p_user;
  select * from user_states s where s.user_id = p_user order by s.thread_id limit 1
$$;
comment on function set_language is 'Sets the language of the interface, in all topics.';

create or replace function new_session(p_user bigint, p_thread bigint default 0)
returns setof opened_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into user_state as s (user_id, thread_id, base_id)
  select p_user, p_thread, own.id from open_base(p_user, p_thread) own
  on conflict (user_id, thread_id) do update set session_id = gen_random_uuid(), updated_at = now();
  select * from user_states s where s.user_id = p_user and s.thread_id = p_thread
$$;
comment on function new_session is 'Begins a new dialogue; the old one is kept.';

create or replace function set_only_document(p_user bigint, p_base text, p_document text, p_thread bigint default 0,
  p_person bigint default null)
returns setof opened_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  update user_state s set updated_at = now(),
    only_document = (select d.id from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid)
  where s.user_id = p_user and s.thread_id = p_thread;
  select * from user_states s where s.user_id = p_user and s.thread_id = p_thread
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

create or replace function go_home(p_user bigint, p_thread bigint)
returns setof opened_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select send_home(s.base_id, p_user) from user_state s
  where s.user_id = p_user and s.thread_id = p_thread and rights_in(s.base_id, p_user) = 0;
  select * from user_states s where s.user_id = p_user and s.thread_id = p_thread
$$;
comment on function go_home is 'Opens the chat''s own base where the open one is closed to the person now.';

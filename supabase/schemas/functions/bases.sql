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

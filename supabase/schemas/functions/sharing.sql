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

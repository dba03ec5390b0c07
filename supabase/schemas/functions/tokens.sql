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

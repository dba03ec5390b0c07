-- Tokens of the HTTP API. In: a base, or the hash of a token. Out: who asks, of which base, and whether too often.
create or replace function add_token(p_base text, p_hash text, p_read_only boolean, p_days int)
returns table (id bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into api_tokens as t (base_id, hash, read_only, expires_at)
  values (p_base::uuid, p_hash, p_read_only, now() + make_interval(days => p_days))
  returning t.id
$$;
comment on function add_token is 'A token for one base, by its hash; without `p_days` it does not end.';

create or replace function use_token(p_hash text, p_per_minute int)
returns table (id bigint, base_id uuid, name text, read_only boolean, wait_s int)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update api_tokens as t set
    requests = case when t.minute = date_trunc('minute', now()) then t.requests + 1 else 1 end,
    minute = date_trunc('minute', now()),
    used_at = now()
  from bases b
  where t.hash = p_hash and b.id = t.base_id and (t.expires_at is null or t.expires_at > now())
  returning t.id, t.base_id, b.name, t.read_only,
    case when t.requests > p_per_minute then 60 - extract(second from now())::int end
$$;
comment on function use_token is
  'Whose token it is, and counts the request; no row for an unknown or ended one. `wait_s` is set once the token has '
  'made more than `p_per_minute` requests in this minute of the clock, over all processes.';

create or replace function list_tokens(p_base text)
returns table (id bigint, read_only boolean, created_at timestamptz, expires_at timestamptz, used_at timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select t.id, t.read_only, t.created_at, t.expires_at, t.used_at from api_tokens t
  where t.base_id = p_base::uuid order by t.id
$$;
comment on function list_tokens is 'The tokens of a base, the oldest first.';

create or replace function revoke_token(p_base text, p_token bigint)
returns table (id bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  delete from api_tokens t where t.base_id = p_base::uuid and t.id = p_token;
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
  'Ends a token of this base and erases its dialogues, which nobody could read any more; no row when there is none.';

-- The inbox: every update of Telegram is kept here from the moment it is acknowledged until it has been handled,
-- so that kill -9 at any moment loses nothing. In: updates. Out: those that a process is to handle, under a lease.
-- Rows are scoped by the bot's own id, not by a base: a base is known only after an update has been read.
-- Any number of processes may serve one bot: a chat's updates are one process's as long as it holds any of them.

create or replace function baza_internal.lock_inbox(p_bot bigint)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('inbox ' || p_bot, 0))
$$;
comment on function baza_internal.lock_inbox is
  'Serialises who takes updates of a bot: two that take at once could take two of one chat.';

create or replace function receive_update(p_bot bigint, p_update bigint, p_chat bigint, p_payload text, p_holder text,
  p_lease_s double precision)
returns table (is_ours boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  is_next boolean;
begin
  perform lock_inbox(p_bot);
  is_next := not exists (
    select from inbox i
    where i.bot_id = p_bot and i.chat_id = p_chat and i.handled_at is null and i.holder is distinct from p_holder);
  insert into inbox (bot_id, update_id, chat_id, payload, attempts, holder, lease_until)
  values (p_bot, p_update, p_chat, p_payload::jsonb, is_next::int, case when is_next then p_holder end,
    case when is_next then now() + make_interval(secs => p_lease_s) end)
  on conflict (bot_id, update_id) do nothing;
  return query select found and is_next;
end $$;
comment on function receive_update is
  'Stores an update before it is acknowledged. True when the caller is to handle it; false when it is here already '
  '(redelivered), or when another process still holds earlier ones of its chat: `hold_updates` gives it to somebody.';

create or replace function hold_updates(p_bot bigint, p_holder text, p_held bigint[], p_lease_s double precision,
  p_more int)
returns table (update_id bigint, payload jsonb)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  update inbox i set lease_until = now() + make_interval(secs => p_lease_s)
  where i.bot_id = p_bot and i.update_id = any (p_held) and i.holder = p_holder and i.handled_at is null
  returning i.update_id, null::jsonb;
  if not exists (
    select from inbox i
    where i.bot_id = p_bot and i.handled_at is null and coalesce(i.lease_until <= now(), true) limit p_more) then
    return;
  end if;
  perform lock_inbox(p_bot);
  return query
  with taken as (
    update inbox i set holder = p_holder, lease_until = now() + make_interval(secs => p_lease_s)
    where i.bot_id = p_bot and i.update_id = any (array(
      select free.update_id from inbox free
      where free.bot_id = p_bot and free.handled_at is null and coalesce(free.lease_until <= now(), true)
        and not exists (
          select from inbox held
          where held.bot_id = p_bot and held.chat_id = free.chat_id and held.handled_at is null
            and held.holder <> p_holder and held.lease_until > now())
      order by free.update_id limit p_more))
    returning i.update_id, i.payload
  )
  select t.update_id, t.payload from taken t order by t.update_id;
end $$;
comment on function hold_updates is
  'Renews the leases of updates that this process handles, and gives it up to `p_more` that nobody holds (any more), '
  'oldest first, with their payloads. One of `p_held` that does not come back is another''s by now, or handled. A chat '
  'of which another process holds an update is left to that one.';

create or replace function begin_update(p_bot bigint, p_update bigint, p_holder text)
returns table (attempts int)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update inbox i set attempts = i.attempts + 1
  where i.bot_id = p_bot and i.update_id = p_update and i.holder = p_holder and i.handled_at is null
  returning i.attempts
$$;
comment on function begin_update is
  'Counts a start of handling an update that came from `hold_updates`; returns how many, this one included, and no row '
  'when another process holds it. Updates that only wait behind it are not counted: an update that kills every process '
  'must not take others with it.';

create or replace function finish_update(p_bot bigint, p_update bigint)
returns table (forgotten bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  with finished as (
    update inbox set handled_at = now(), payload = null
    where bot_id = p_bot and update_id = p_update
  ), old as (
    delete from inbox
    where bot_id = p_bot and update_id = any (array(
      select i.update_id from inbox i where i.bot_id = p_bot and i.handled_at < now() - interval '1 day'
      order by i.handled_at limit 1000 for update skip locked)) -- concurrent calls take the next ones
    returning 1
  )
  select count(*) from old;
$$;
comment on function finish_update is
  'Marks an update as handled and drops its body; deletes some that were handled over a day ago.';

create or replace function release_updates(p_bot bigint, p_holder text)
returns table (released bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  with released as (
    update inbox i set lease_until = null
    where i.bot_id = p_bot and i.holder = p_holder and i.handled_at is null
    returning 1
  )
  select count(*) from released;
$$;
comment on function release_updates is
  'Gives back what a process that stops has not handled: the next one need not wait until the leases expire.';

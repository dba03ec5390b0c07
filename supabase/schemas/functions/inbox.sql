-- The inbox: every update of Telegram is kept here from the moment it is acknowledged until it has been handled,
-- so that kill -9 at any moment loses nothing. In: updates. Out: those that still wait.
-- Rows are scoped by the bot's own id, not by a base: a base is known only after an update has been read.

create or replace function receive_update(p_bot bigint, p_update bigint, p_payload text)
returns table (is_new boolean)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  with added as (
    insert into inbox (bot_id, update_id, payload, attempts)
    values (p_bot, p_update, p_payload::jsonb, 1)
    on conflict (bot_id, update_id) do nothing
    returning 1
  )
  select exists (select from added);
$$;
comment on function receive_update is
  'Stores an update before it is acknowledged; false when it is here already (redelivered).';

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

create or replace function unfinished_updates(p_bot bigint, p_after bigint, p_limit int)
returns table (update_id bigint, payload jsonb)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select i.update_id, i.payload from inbox i
  where i.bot_id = p_bot and i.handled_at is null and i.update_id > p_after
  order by i.update_id limit p_limit
$$;
comment on function unfinished_updates is
  'Updates after `p_after` that a process which died left unhandled, oldest first.';

create or replace function begin_update_again(p_bot bigint, p_update bigint)
returns table (attempts int)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update inbox i set attempts = i.attempts + 1
  where i.bot_id = p_bot and i.update_id = p_update
  returning i.attempts
$$;
comment on function begin_update_again is
  'Counts a new start of handling this update; returns how many, this one included. Updates that only wait behind it '
  'are not counted: an update that kills every process must not take others with it.';

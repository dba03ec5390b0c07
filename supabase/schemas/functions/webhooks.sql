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

-- What has been applied. In: the ledger of the Supabase CLI and of `baza migrate`. Out: schema_version(), and the last
-- of the rights.
-- Through the REST interface alone Baza cannot migrate, but it can say that a migration is missing.

set search_path = public, extensions;

create function schema_version() returns table (version text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Applied by hand (psql), a database has no ledger: then nothing is known to be applied.
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    return query execute 'select m.version from supabase_migrations.schema_migrations m order by m.version';
  end if;
end $$;
comment on function schema_version() is 'The versions of the migrations that this database has.';

-- The rest of the rights, as in 000800: it runs with its owner's rights, so nobody but the owner and the service may
-- call it; the inbox is the bot's alone; and a counter of ours is no more public than its table.
do $$
declare
  functions constant text[] := array['schema_version', 'receive_update', 'finish_update', 'unfinished_updates'];
  counted constant text[] := array['documents_chunks', 'chat_messages', 'answer_feedback', 'turn_metrics'];
  name text;
  role text;
  service boolean := exists (select from pg_roles where rolname = 'service_role');
begin
  foreach name in array functions loop
    execute format('revoke all on function public.%I from public', name);
    if service then
      execute format('grant execute on function public.%I to service_role', name);
    end if;
  end loop;
  if service then
    grant all on public.inbox to service_role;
  end if;
  foreach role in array array['anon', 'authenticated'] loop
    continue when not exists (select from pg_roles where rolname = role);
    execute format('revoke all on public.inbox from %I', role);
    foreach name in array functions loop
      execute format('revoke all on function public.%I from %I', name, role);
    end loop;
    foreach name in array counted loop
      execute format('revoke all on sequence %s from %I', pg_get_serial_sequence('public.' || name, 'id'), role);
    end loop;
  end loop;
end $$;

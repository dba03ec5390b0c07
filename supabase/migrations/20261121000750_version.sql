-- What has been applied. In: the ledger of the Supabase CLI and of `baza migrate`. Out: schema_version().
-- Through the REST interface alone Baza cannot migrate, but it can say that a migration is missing.

set search_path = public, extensions;

create function schema_version() returns table (version text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Migrations applied by hand (psql) leave no ledger: then no version is known.
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    return query execute 'select m.version from supabase_migrations.schema_migrations m order by m.version';
  end if;
end $$;
comment on function schema_version() is 'The versions of the migrations that this database has.';

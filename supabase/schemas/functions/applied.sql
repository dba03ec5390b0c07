-- What has been applied. In: the ledger of the Supabase CLI and of `baza migrate`, and what was recorded of the function
-- files. Out: their digests. Through the REST interface alone Baza cannot migrate, but it can say what is missing.

create or replace function applied_files() returns table (name text, digest text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query select 'functions/' || f.name, f.digest from baza_internal.current_function_files() f;
  -- Migrations applied by hand (psql) leave no ledger: then no version is known.
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    return query execute
      'select m.version, md5(regexp_replace(array_to_string(m.statements, ''''), ''[ \t\r\n;]'', '''', ''g'')) '
      'from supabase_migrations.schema_migrations m order by m.version';
  end if;
end $$;
comment on function applied_files is
  'Versions of migrations, with digests of the texts that were applied (null where the ledger has none), and '
  '`functions/…` for each file of functions. See adapters/database/migrate.py.';

-- What everything else stands on. In: an empty database, a Supabase project's or any PostgreSQL >= 15 with pgvector >=
-- 0.8. Out: the schemas, and how the functions of `supabase/schemas/functions` are applied: a file that has changed is
-- dropped and made anew as a whole, in the transaction of the migration, so that an argument or a returned column may
-- change. `public` holds tables and the functions that Baza calls; `baza_internal`, which the REST interface does not
-- show, those that only other functions call. Code never touches a table.

create schema if not exists extensions;
create extension if not exists vector with schema extensions;
create schema baza_internal;
create schema segments;
do $$
begin
  if exists (select from pg_roles where rolname = 'service_role') then
    grant usage on schema baza_internal, segments, extensions to service_role;
  end if;
end $$;

create table baza_internal.function_files (
  name    text primary key,                -- of the file, without .sql
  digest  text not null,                   -- of its text as it was applied
  objects text[] not null                  -- what it made: 'function public.passage(text,bigint)'
);
comment on table baza_internal.function_files is 'The files of supabase/schemas/functions that were applied.';

create function baza_internal.new_objects() returns table (object text, relation_kind "char")
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select i.type || ' ' || i.identity, c.relkind
  from pg_class c cross join lateral pg_identify_object('pg_class'::regclass, c.oid, 0) i
  where c.relnamespace in ('public'::regnamespace, 'baza_internal'::regnamespace) and c.relkind in ('r', 'p', 'v', 'S')
    and c.xmin = pg_current_xact_id()::xid
    and not exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  union all
  select i.type || ' ' || i.identity, null
  from pg_proc p cross join lateral pg_identify_object('pg_proc'::regclass, p.oid, 0) i
  where p.pronamespace in ('public'::regnamespace, 'baza_internal'::regnamespace)
    and p.xmin = pg_current_xact_id()::xid
    and not exists (
      select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
$$;
comment on function baza_internal.new_objects is
  'Tables, views, sequences and functions that this transaction has made or changed, but for those of extensions.';

create function baza_internal.secure_new_objects() returns void
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  strangers constant text := (
    select 'public' || coalesce(string_agg(', ' || rolname, ''), '') from pg_roles
    where rolname in ('anon', 'authenticated'));
  service constant boolean := exists (select from pg_roles where rolname = 'service_role');
  made record;
  name text; -- as `grant` wants it: a view is a table there
begin
  for made in select * from baza_internal.new_objects() loop
    name := regexp_replace(made.object, '^view ', 'table ');
    if made.relation_kind in ('r', 'p') then
      execute format('alter %s enable row level security', name);
    end if;
    execute format('revoke all on %s from %s', name, strangers);
    if service then
      execute format('grant all on %s to service_role', name);
    end if;
  end loop;
  if name is null then
    raise exception 'nothing was made in this transaction; apply each migration in one (psql: --single-transaction)';
  end if;
end $$;
comment on function baza_internal.secure_new_objects is
  'Who may touch what was made: the owner of the database and, on Supabase, `service_role`. Nobody else may read a row '
  'or call a function, whatever the project grants by default. Every migration that makes a table ends with this call.';

create function baza_internal.drop_function_files(p_names text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp set client_min_messages = warning
as $$
declare
  made text;
begin
  for made in select unnest(f.objects) from baza_internal.function_files f where f.name = any (p_names) loop
    execute 'drop ' || regexp_replace(made, ' ', ' if exists ') || ' cascade'; -- a trigger goes with its function
  end loop;
  delete from baza_internal.function_files f where f.name = any (p_names);
end $$;
comment on function baza_internal.drop_function_files is
  'Drops what these files have made: called before their new texts, in the same transaction.';

create function baza_internal.record_function_file(p_name text, p_digest text) returns void
language sql set search_path = pg_catalog, pg_temp
as $$
  select baza_internal.secure_new_objects();
  insert into baza_internal.function_files (name, digest, objects)
  select p_name, p_digest, array_agg(n.object order by n.object) from baza_internal.new_objects() n
  where (n.object like 'function %' or n.object like 'view %')
    and not exists (select from baza_internal.function_files f where n.object = any (f.objects))
$$;
comment on function baza_internal.record_function_file is
  'Remembers what the text of a file has made: called after it, in the same transaction.';

create function baza_internal.current_function_files() returns table (name text, digest text)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select f.name, f.digest from baza_internal.function_files f
  where not exists (
    select from unnest(f.objects) made
    where case when made like 'view %' then to_regclass(substr(made, 6))::oid
      else to_regprocedure(substr(made, 10))::oid end is null)
$$;
comment on function baza_internal.current_function_files is
  'The files of which everything is still there: a changed view takes along the functions that return its rows.';

select baza_internal.secure_new_objects();

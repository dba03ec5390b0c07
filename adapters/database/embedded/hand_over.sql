-- A database that the superuser made becomes the role baza's, with all that is in it. In: a new database, or one of an
-- earlier Baza, as superuser. Out: pgvector, which only a superuser can add, and new owners of everything else.

create schema if not exists extensions;
create extension if not exists vector with schema extensions;

do $$
declare
  statement text;
begin
  for statement in
    select format('alter schema %I owner to baza', nspname)
    from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
    union all
    select format('alter %s %s owner to baza', kind, oid::regclass)
    from (
      select c.oid, case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
        else 'table' end as kind
      from pg_class c
      where c.relkind in ('r', 'p', 'v', 'm', 'S') and c.relnamespace::regnamespace::text !~ '^pg_'
        and c.relnamespace <> 'information_schema'::regnamespace
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('e', 'a', 'i'))) owned
    union all
    select format('alter routine %s owner to baza', p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace::regnamespace::text !~ '^pg_' and p.pronamespace <> 'information_schema'::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    union all
    select format('alter type %s owner to baza', t.oid::regtype)
    from pg_type t
    where (t.typtype in ('e', 'd') or exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c'))
      and t.typnamespace::regnamespace::text !~ '^pg_'
      and t.typnamespace <> 'information_schema'::regnamespace
      and not exists (select from pg_depend d where d.objid = t.oid and d.deptype = 'e')
  loop
    execute statement;
  end loop;
  execute format('alter database %I owner to baza', current_database());
end $$;

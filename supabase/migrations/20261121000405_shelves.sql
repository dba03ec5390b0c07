-- Shelves: the vectors of a large base once more, in a table of their own with an HNSW graph (000400 searches them).
-- In: bases that have grown. Out: `vector_shelves` and tables in the schema `shelves`. Made by workers in the background,
-- from ready documents, whose passages no longer change. Nobody who writes or searches waits for it.
-- The function is a security definer, because only the owner of a schema may make tables in it.

set search_path = public, extensions;
create schema shelves;
do $$
begin
  if exists (select from pg_roles where rolname = 'service_role') then
    grant usage on schema shelves to service_role;
  end if;
end $$;

create function shelf_wanted()
returns table (base_id uuid, shelf text, present bigint, shelved bigint, unshelved bigint)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select b.id, s.name, b.passages, s.passages, late.passages
  from bases b left join vector_shelves s on s.base_id = b.id
  cross join lateral (
    select coalesce(sum(d.chunks), 0)::bigint as passages
    from documents d where d.base_id = b.id and d.status = 'ready' and d.chunks > 0 and not d.shelved) late
  where case when s.base_id is null then b.passages > exact_scan_limit()
    else late.passages > exact_scan_limit() / 4 or s.passages > 1.5 * b.passages end
  order by b.passages desc limit 1
$$;
comment on function shelf_wanted is
  'Internal: a large base that has no shelf, or one whose shelf has fallen behind: more than a few ready passages are not '
  'on it, or many on it have left.';

create function fill_shelf(p_base uuid, p_shelf text, p_model text, p_rows bigint) returns bigint
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  taken constant uuid[] := array(
    select t.id from (
      select d.id, sum(d.chunks) over (order by d.id) - d.chunks as before from documents d
      where d.base_id = p_base and d.status = 'ready' and d.chunks > 0 and (p_rows is null or not d.shelved)) t
    where p_rows is null or t.before < p_rows);
  written bigint;
begin
  execute format(
    'insert into shelves.%I (chunk_id, document_id, embedding) '
    'select c.id, c.document_id, c.embedding from documents_chunks c '
    'where c.base_id = $1 and c.document_id = any ($2) and c.model = $3 and c.embedding is not null', p_shelf)
  using p_base, taken, p_model;
  get diagnostics written = row_count;
  if p_rows is null then -- before anything is locked: this takes minutes
    execute format('create index on shelves.%I using hnsw (embedding halfvec_cosine_ops)', p_shelf);
  end if;
  update documents d set shelved = true where d.id = any (taken) and d.status = 'ready';
  return written;
end $$;
comment on function fill_shelf is
  'Internal: puts ready documents on a shelf: about `p_rows` passages of those that are not there yet; with null all of '
  'them, and makes the index then, which is several times faster than to grow it.';

create function new_shelf(p_base uuid, p_model text, p_at_once boolean) returns bigint
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  shelf constant text := 'shelf_' || replace(gen_random_uuid()::text, '-', '');
  written bigint := 0;
begin
  execute format('create table shelves.%I (chunk_id bigint not null, document_id uuid not null, '
    'embedding halfvec(1024) not null)', shelf);
  execute format('alter table shelves.%I alter column embedding set storage plain', shelf);
  execute format('alter table shelves.%I enable row level security', shelf);
  if exists (select from pg_roles where rolname = 'service_role') then
    execute format('grant select on shelves.%I to service_role', shelf);
  end if;
  if p_at_once then
    written := fill_shelf(p_base, shelf, p_model, null);
  else
    execute format('create index on shelves.%I using hnsw (embedding halfvec_cosine_ops)', shelf);
    update documents d set shelved = false where d.base_id = p_base and d.shelved;
  end if;
  insert into vector_shelves (base_id, name, model, passages) values (p_base, shelf, p_model, written)
  on conflict (base_id) do update set name = excluded.name, model = excluded.model, passages = excluded.passages;
  return written;
end $$;
comment on function new_shelf is
  'Internal: a shelf for a base in place of an earlier one, whose table is left for those who are reading it. Filled at '
  'once, or empty for `fill_shelf` to fill it step by step.';

create function drop_old_shelves() returns void
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  unused text;
begin
  for unused in
    select c.relname from pg_class c
    where c.relnamespace = 'shelves'::regnamespace and c.relkind = 'r'
      and not exists (select from vector_shelves s where s.name = c.relname)
  loop
    execute format('drop table shelves.%I', unused);
  end loop;
end $$;
comment on function drop_old_shelves is 'Internal: removes the tables that no base names any longer.';

create function ensure_vector_index()
returns table (base_id uuid, shelved bigint)
language plpgsql security definer set search_path = public, extensions, pg_temp
set max_parallel_maintenance_workers = 0 -- their memory would have to fit into /dev/shm, which in a container is 64 MB
as $$
#variable_conflict use_column
declare
  step constant bigint := 300; -- passages, put on a shelf one by one in 2 to 4 s
  at_once constant boolean := (
    select s.setting::bigint = 0 or s.setting::bigint > 30 * 60 * 1000 from pg_settings s where s.name = 'statement_timeout');
  wanted record;
  made_by text;
  written bigint;
begin
  if not pg_try_advisory_xact_lock(hashtext('vector_shelves')) then -- another worker is at it
    return;
  end if;
  perform drop_old_shelves();
  select * into wanted from shelf_wanted();
  if not found then
    return;
  elsif wanted.present <= exact_scan_limit() then
    delete from vector_shelves s where s.base_id = wanted.base_id;
    return query select wanted.base_id, 0::bigint;
    return;
  end if;
  select c.model into made_by from documents_chunks c where c.base_id = wanted.base_id
  group by c.model order by count(*) desc limit 1;
  if wanted.shelf is null or wanted.shelved > 1.5 * wanted.present or (at_once and wanted.unshelved > wanted.shelved / 4) then
    perform set_config('maintenance_work_mem', least(wanted.present * 3 / 1000 + 64, 1600) || 'MB', true);
    written := new_shelf(wanted.base_id, made_by, at_once);
  else
    written := fill_shelf(wanted.base_id, wanted.shelf, made_by, step);
    update vector_shelves s set passages = s.passages + written where s.name = wanted.shelf;
  end if;
  return query select wanted.base_id, written;
end $$;
comment on function ensure_vector_index is
  'One step for the shelf that is wanted most, to be called until no row comes back. A call that may take long makes a '
  'whole shelf; where calls are cut off (Supabase) it is filled step by step. Searching is complete all the time. '
  'Security definer, because only the owner of a schema may make tables in it.';

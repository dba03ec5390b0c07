-- Files that came over HTTP. In: what was uploaded. Out: under which name it is kept, and what has to be removed.
-- The row is there before its file and after it, so that no file is ever without one: a process that dies in between
-- leaves a row that `release_files` finds.
create or replace function keep_file(p_base text, p_hash text, p_size_bytes bigint, p_most_bytes bigint,
  p_person bigint default null)
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid); -- two files that only fit one at a time
  return query
  update kept_files k set keep_until = greatest(k.keep_until, now() + interval '1 hour')
  where k.base_id = p_base::uuid and k.hash = p_hash and not k.leaving
  returning k.id;
  if found then
    return;
  end if;
  return query
  insert into kept_files as k (base_id, hash, size_bytes, keep_until)
  select p_base::uuid, p_hash, p_size_bytes, now() + interval '1 hour'
  where p_most_bytes is null or p_size_bytes + coalesce((
    select sum(f.size_bytes) from kept_files f where f.base_id = p_base::uuid), 0) <= p_most_bytes
  returning k.id;
end $$;
comment on function keep_file is
  'The name under which this content is to be stored, for an hour unless a document takes it; no row when the base would '
  'keep more than `p_most_bytes`.';

create or replace function baza_internal.held_file(p_base uuid, p_file uuid)
returns uuid
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update kept_files k set keep_until = 'infinity'
  where k.id = p_file and k.base_id = p_base and not k.leaving returning k.id
$$;
comment on function baza_internal.held_file is 'The file, which stays from now on; null when the base has no such file.';

create or replace function baza_internal.release_removed() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  update kept_files k set keep_until = now()
  where k.id = any (array(select gone.kept_file from old_rows gone where gone.kept_file is not null));
  return null;
end $$;
comment on function baza_internal.release_removed is 'The files of removed documents are due; see `release_files`.';
create or replace trigger documents_removed_files after delete on documents
  referencing old table as old_rows for each statement execute function baza_internal.release_removed();

create or replace function release_files(p_limit int)
returns table (id uuid, base_id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update kept_files k set leaving = true
  where k.id in (
    select due.id from kept_files due
    where due.keep_until <= now() and not exists (select from documents d where d.kept_file = due.id)
    order by due.keep_until limit p_limit for update skip locked)
  returning k.id, k.base_id
$$;
comment on function release_files is
  'Files that no document has; nobody gets them any more. They are told again until `forget_files`. It takes no base: it '
  'is maintenance of the whole installation.';

create or replace function forget_files(p_files text[])
returns table (id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  delete from kept_files k where k.leaving and k.id = any (p_files::uuid[]) returning k.id
$$;
comment on function forget_files is 'These files are gone from the storage.';

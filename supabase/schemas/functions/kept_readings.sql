-- A cache of what models have read out of documents. In: replies as JSON, by hashes of what was asked. Out: the same,
-- when the same is asked of the same text again. They quote documents, and are deleted with any document that they
-- quote.

create or replace function recall_readings(p_base text, p_request text, p_person bigint default null)
returns table (key text, documents uuid[], content text)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select n.key, n.documents, n.content from (
    select k.* from kept_readings k
    where k.base_id = p_base::uuid and k.request = p_request and k.kept_at > now() - interval '30 days'
    order by k.kept_at desc limit 900) n  -- no transport carries more than 999 rows
  order by n.kept_at
$$;
comment on function recall_readings is 'What this base has kept of a request for less than 30 days, oldest first.';

create or replace function keep_reading(p_base text, p_request text, p_key text, p_documents text[], p_content text,
  p_person bigint default null)
returns table (kept boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held constant uuid[] := array(
    select d.id from documents d where d.base_id = p_base::uuid and d.id = any (p_documents::uuid[])
    order by d.id for key share);  -- none can be deleted before the reply is stored, which is deleted with it
  entries int;
begin
  perform require(p_base, p_person, 'read');
  if cardinality(held) = 0 or cardinality(held) < cardinality(p_documents) or length(p_content) > 65536 then
    return query select false;
    return;
  end if;
  perform set_config('synchronous_commit', 'off', true);  -- what a crash loses is read once more
  insert into kept_readings as k (base_id, request, key, documents, content)
  values (p_base::uuid, p_request, p_key, p_documents::uuid[], p_content)
  on conflict on constraint kept_readings_pkey
    do update set documents = excluded.documents, content = excluded.content, kept_at = clock_timestamp();
  entries := (select count(*) from kept_readings k where k.base_id = p_base::uuid);
  if entries > 2000 or entries % 50 = 0 then  -- sizes and ages need not be checked each time
    delete from kept_readings k using (
      select n.request, n.key, n.kept_at, row_number() over newest as place,
        sum(pg_column_size(n.content)) over newest as bytes
      from kept_readings n where n.base_id = p_base::uuid window newest as (order by n.kept_at desc)) old
    where k.base_id = p_base::uuid and k.request = old.request and k.key = old.key
      and (old.place > 1950 or old.bytes > 8 * 1024 * 1024 or old.kept_at < now() - interval '30 days');
  end if;
  return query select true;
end $$;
comment on function keep_reading is
  'Keeps a reply, unless it is too long or the base does not hold all its documents (any more). Deletes the oldest.';

create or replace function baza_internal.forget_readings() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
  ids constant uuid[] := array(select g.id from gone g); -- a custom plan hashes them: comparing each with each, it takes
  -- 10 s to clean a base of 10,000 documents with 2,000 readings
begin
  delete from kept_readings k
  where k.base_id in (select g.base_id from gone g)
    and exists (select from unnest(k.documents) d (id) where d.id = any (ids));
  return null;
end $$;
comment on function baza_internal.forget_readings is 'What was read out of a deleted document goes with the document.';
create or replace trigger documents_deleted_readings after delete on documents referencing old table as gone
  for each statement execute function baza_internal.forget_readings();

-- Temporary documents: sent to be read now («Только прочитать сейчас») and removed later. In: a document or a batch
-- that is to stay after all, or the clock. Out: what stays, what was removed. `enqueue_batch` sets when one is removed;
-- conflicts.sql sees to it that it replaces nothing that stays.
create or replace function baza_internal.stay_until(p_held documents, p_until timestamptz)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  number constant int := case when p_until is null and p_held.status = 'ready' and p_held.source_type = 'file'
    and exists (
      select from documents d
      where d.base_id = p_held.base_id and d.source_type = 'file' and d.name_key = p_held.name_key
        and d.status = 'ready' and d.expires_at is null and d.id <> p_held.id)
    then free_number(p_held) end;
  kept documents;
begin
  update documents d
  set expires_at = p_until, name_key = coalesce(beside(d.name_key, number), d.name_key),
      given_title = coalesce(beside(d.known_as, number), d.given_title),
      title = coalesce(beside(d.known_as, number), d.title),
      given_terms = case when number is null then d.given_terms end
  where d.id = p_held.id
  returning d.* into kept;
  if number is not null and jsonb_array_length(kept.names) > 0 then -- its passages were indexed without the number
    perform retitle(kept, numbered_names(kept.names, number));
  end if;
  return kept;
end $$;
comment on function baza_internal.stay_until is
  'Sets when a document is removed, or (null) that it stays. Returns its new state; null when it was removed '
  'meanwhile. A file that stays beside another of its name is renamed to «План (2).docx», as `choose_document` would, '
  'and found by that number.';

create or replace function keep_document(p_base text, p_document text, p_person bigint default null)
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  kept documents;
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid); -- `remove_expired` either has removed it already, or sees that it stays
  select current.* into kept from documents d join documents current on current.id = coalesce((
    select r.id from documents r
    where d.status in ('superseded', 'failed') and r.base_id = d.base_id and r.lineage = d.lineage
      and r.status = 'ready'), d.id)
  where d.base_id = p_base::uuid and d.id = p_document::uuid
  for update of current;
  if not found then
    return;
  end if;
  if kept.expires_at is not null then
    kept := stay_until(kept, null);
    update documents d set expires_at = null -- also an attempt that is reading its source anew
    where d.base_id = kept.base_id and d.lineage = kept.lineage and d.expires_at is not null;
    perform touch_batch(kept.batch_id);
  end if;
  return query select kept.id;
end $$;
comment on function keep_document is
  'Makes a document permanent; for an earlier version, the current one. No row when there is none.';

create or replace function keep_batch(p_base text, p_batch_id text, p_person bigint default null)
returns table (id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'write');
  select kept.id
  from (
    select d.id from documents d where d.base_id = p_base::uuid and d.batch_id = p_batch_id::uuid order by d.position) its
    cross join lateral keep_document(p_base, its.id::text) kept
$$;
comment on function keep_batch is 'Makes all documents of a batch permanent.';

create or replace function remove_expired()
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
#variable_conflict use_column
declare
  due documents;
begin
  select * into due from documents d
  where d.expires_at <= now() and d.status <> 'superseded' -- an earlier version is removed with the current one
  order by d.expires_at limit 1;
  if not found then
    return;
  end if;
  perform lock_base(due.base_id);
  perform from documents d where d.id = due.id and d.expires_at <= now() for update;
  if found then -- no other worker was faster, and nobody has said that it stays
    perform delete_document(due.base_id::text, due.id::text);
  end if;
  return query select due.id;
end $$;
comment on function remove_expired is
  'Removes one temporary document whose time has come, in any state, as `delete_document` does; no row when there is '
  'none. Each is a call and a transaction of its own. It takes no base: it is maintenance of the whole installation.';

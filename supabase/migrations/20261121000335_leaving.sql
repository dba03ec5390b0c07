-- What was sent to be read now and not to stay: it leaves by itself («Только прочитать сейчас»). In: a document or a
-- batch that is to stay after all, or the clock. Out: what stays, what was removed. When one leaves is set by
-- `enqueue_batch`; that it takes the place of nothing that stays is in 000305.

create function stay_until(p_held documents, p_until timestamptz)
returns documents
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  number constant int := case when p_until is null and p_held.status = 'ready' and p_held.source_type = 'file'
    and exists (
      select from documents d
      where d.base_id = p_held.base_id and d.source_type = 'file' and d.name_key = p_held.name_key
        and d.status = 'ready' and d.leaves_at is null and d.id <> p_held.id)
    then free_number(p_held) end;
  kept documents;
begin
  update documents d
  set leaves_at = p_until, name_key = coalesce(beside(d.name_key, number), d.name_key),
      given_title = coalesce(beside(d.known_as, number), d.given_title),
      title = coalesce(beside(d.known_as, number), d.title),
      given_terms = case when number is null then d.given_terms end
  where d.id = p_held.id
  returning d.* into kept;
  if number is not null and jsonb_array_length(kept.names) > 0 then -- its passages were stored under its own name
    perform retitle(kept, numbered_names(kept.names, number));
  end if;
  return kept;
end $$;
comment on function stay_until is
  'Internal: sets when a document leaves, or (null) that it stays; the document as it is now, null when it has left '
  'meanwhile. A file that stays beside another of its name is called «План (2).docx», as `choose_document` would, '
  'and found by that number.';

create function keep_document(p_base text, p_document text)
returns table (id uuid)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  kept documents;
begin
  perform lock_base(p_base::uuid); -- `remove_leaving` has removed it, or finds that it stays
  select current.* into kept from documents d join documents current on current.id = coalesce((
    select r.id from documents r
    where d.status in ('superseded', 'failed') and r.base_id = d.base_id and r.lineage = d.lineage
      and r.status = 'ready'), d.id)
  where d.base_id = p_base::uuid and d.id = p_document::uuid
  for update of current;
  if not found then
    return;
  end if;
  if kept.leaves_at is not null then
    kept := stay_until(kept, null);
    update documents d set leaves_at = null -- its source may be in reading anew
    where d.base_id = kept.base_id and d.lineage = kept.lineage and d.leaves_at is not null;
    perform touch_batch(kept.batch_id);
  end if;
  return query select kept.id;
end $$;
comment on function keep_document is
  'A document stays for good, whatever it was sent for; the current version is meant. No row when there is none.';

create function keep_batch(p_base text, p_batch_id text)
returns table (id uuid)
language sql security invoker set search_path = public, extensions, pg_temp
as $$
  select kept.id
  from (select d.id from documents d where d.base_id = p_base::uuid and d.batch_id = p_batch_id::uuid order by d.position)
    its cross join lateral keep_document(p_base, its.id::text) kept
$$;
comment on function keep_batch is 'The same for all documents of a batch.';

create function remove_leaving()
returns table (id uuid)
language plpgsql security invoker set search_path = public, extensions, pg_temp set statement_timeout = '30min'
as $$
#variable_conflict use_column
declare
  due documents;
begin
  select * into due from documents d
  where d.leaves_at <= now() and d.status <> 'superseded' -- an earlier version goes with the current one
  order by d.leaves_at limit 1;
  if not found then
    return;
  end if;
  perform lock_base(due.base_id);
  perform from documents d where d.id = due.id and d.leaves_at <= now() for update;
  if found then -- no other worker was faster, and nobody has said that it stays
    perform delete_document(due.base_id::text, due.id::text);
  end if;
  return query select due.id;
end $$;
comment on function remove_leaving is
  'Removes one document whose time has come, in whatever state, as `delete_document` does; no row when there is none. '
  'Each is a call and a transaction of its own. It takes no base: it is the installation''s own, over all.';

-- Conflicts of a document that is being read: another with the same content, another file of its name, an earlier
-- version. In: the document as a worker holds it. Out: the other document, and what happens to the two. Everything here
-- is called under a lease (see queue.sql).
create or replace function baza_internal.ready_namesake(p_held documents)
returns setof documents
language plpgsql stable rows 1 set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  return query
  select d.* from documents d
  where d.base_id = p_held.base_id and d.source_type = p_held.source_type and d.name_key = p_held.name_key
    and d.status = 'ready' and not p_held.chosen
    and (d.expires_at is not null and p_held.source_type <> 'file' or d.expires_at is null and p_held.expires_at is null)
  order by d.expires_at nulls first, d.created_at desc limit 1;
end $$;
comment on function baza_internal.ready_namesake is
  'The latest ready document of the same type and name, while nobody has decided what happens to the two. A '
  'temporary document (`expires_at`) replaces nothing that stays, and nobody is asked about a temporary file. A generic '
  'plan is right at any time: `documents_name` alone has this order, so it is the best choice in an empty table, too.';

create or replace function baza_internal.ready_before(p_held documents)
returns setof documents
language plpgsql stable rows 1 set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  return query
  select d.* from documents d
  where d.lineage = p_held.lineage and d.status = 'ready' and d.id <> p_held.id
    and d.base_id = p_held.base_id;
end $$;
comment on function baza_internal.ready_before is
  'The ready version that this document is to replace, if any. A generic plan is right at any time: the '
  'unique index of ready lineages is the best choice in an empty table, too.';

create or replace function baza_internal.may_be_found(p_held documents)
returns boolean
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select not exists (
      select from documents d
      where d.base_id = p_held.base_id and d.content_hash = p_held.content_hash and d.status = 'ready'
        and d.id <> p_held.id)
    and not exists (select from ready_before(p_held)) and not exists (select from ready_namesake(p_held))
$$;
comment on function baza_internal.may_be_found is
  'Whether a document may be searchable while it is being read, that is, conflicts with no ready one.';

create or replace function baza_internal.brings_caption(p_held documents, p_twin documents)
returns boolean
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select p_held.source_type in ('file', 'link') and p_twin.source_type = p_held.source_type
    and p_held.source_text is not null and (p_held.expires_at is null or p_twin.expires_at is not null)
    and strpos(coalesce(p_twin.source_text, ''), p_held.source_text) = 0
$$;
comment on function baza_internal.brings_caption is
  'Whether a file has a caption that the file with the same content lacks; the same for a link that came as '
  'a file (`become_link`). A temporary document adds nothing to one that stays.';

create or replace function baza_internal.adopt_caption(p_held documents, p_twin documents)
returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  update documents d
  set status = 'queued', visible = false, attempts = d.attempts - 1, progress_done = 0, progress_total = 0,
      lease = null, lease_until = null, lineage = p_twin.lineage, chosen = true,
      source_text = concat_ws(E'\n\n', p_twin.source_text, (
        select string_agg(own.words, E'\n\n' order by own.place)
        from unnest(string_to_array(d.source_text, E'\n\n')) with ordinality own (words, place)
        where strpos(coalesce(p_twin.source_text, ''), own.words) = 0)),
      source_identifier = p_twin.source_identifier, name_key = p_twin.name_key, source_title = p_twin.source_title,
      title = p_twin.title, given_title = coalesce(d.given_title, p_twin.given_title),
      given_terms = case when d.given_title is null then p_twin.given_terms else d.given_terms end
  where d.id = p_held.id;
  perform touch_batch(p_held.batch_id);
end $$;
comment on function baza_internal.adopt_caption is
  'Keeps the caption of a file whose content the base holds already: the file is queued again as the next '
  'version of that one, with both captions. `known_reading` returns what was read in it.';

create or replace function baza_internal.stopped_by_another(p_held documents)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  other documents;
  asking uuid;
  told jsonb := '{}'; -- what this one changes in the other, for the receipt
begin
  select * into other from documents d
  where d.base_id = p_held.base_id and d.content_hash = p_held.content_hash and d.status = 'ready';
  if other.expires_at is not null and (other.lineage <> p_held.lineage or p_held.expires_at is null) then
    other := stay_until(other, case
      when p_held.expires_at is not null then greatest(other.expires_at, p_held.expires_at) end);
    told := jsonb_build_object('stays_until', other.expires_at);
  end if;
  if other.id is not null and brings_caption(p_held, other) then
    if p_held.chosen and p_held.lineage = other.lineage -- it was queued again with both captions
        and strpos(p_held.source_text, coalesce(other.source_text, '')) > 0 then -- and no third has changed them since
      update documents d set error_params = '{"captioned": true}' where d.id = p_held.id; -- for its receipt
    else
      perform adopt_caption(p_held, other);
      return query select other.id, null::uuid;
    end if;
    return;
  elsif other.id is not null then
    if p_held.source_type = 'path' then -- not a link: whoever sends one again is told since when it is here
      p_held := in_lineage(p_held);
    end if;
    perform finish_document(p_held.id, 'duplicate', 'duplicate', named(other) || told
      || case when other.lineage = p_held.lineage then '{"unchanged": true}' else '{}' end::jsonb, null);
    perform touch_batch(other.batch_id) where told <> '{}'; -- its receipt says when it leaves
    return query select other.id, null::uuid;
    return;
  end if;
  if p_held.source_type = 'file' then
    select * into other from ready_namesake(p_held);
  end if;
  if other.id is not null then
    -- Of two that come together the second sees the first. Not `lock_base`, which must be taken before documents
    -- (queue.sql).
    perform pg_advisory_xact_lock(hashtextextended('name ' || p_held.base_id || ' ' || p_held.name_key, 0));
    asking := (select d.id from documents d
      where d.base_id = p_held.base_id and d.phase = 'asking' and d.name_key = p_held.name_key
        and d.content_hash = p_held.content_hash and d.id <> p_held.id
      limit 1);
    if asking is not null then
      perform finish_document(p_held.id, 'duplicate', 'duplicate', -- people see the one that waits, with its buttons
        named(other) || jsonb_build_object('asked', true, 'document_id', asking), null);
      return query select asking, null::uuid;
      return;
    end if;
    perform finish_document(p_held.id, 'choosing', null, named(other), null);
    return query select null::uuid, other.id;
  end if;
end $$;
comment on function baza_internal.stopped_by_another is
  'Ends the work on a document whose content is ready in the base already. Or lays it aside until the person '
  'has decided what happens to it and the one of the same name; the same content is asked about once. No row when it '
  'may go on.';

create or replace function baza_internal.named(p_other documents)
returns jsonb
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select jsonb_build_object('document_id', p_other.id, 'title', p_other.title, 'source_type', p_other.source_type,
    'source_identifier', p_other.known_as, 'created_at', p_other.created_at)
$$;
comment on function baza_internal.named is 'The parameters by which an error names the document that was there first.';

create or replace function baza_internal.in_lineage(p_held documents)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  its_lineage uuid;
begin
  if p_held.source_type not in ('path', 'link', 'site') then
    return p_held;
  end if;
  its_lineage := (select d.lineage from ready_namesake(p_held) d);
  if its_lineage <> p_held.lineage then
    p_held.lineage := its_lineage;
    update documents d set lineage = its_lineage where d.id = p_held.id;
  end if;
  return p_held;
end $$;
comment on function baza_internal.in_lineage is
  'Makes the document a version of the one that was read from the same path or address, without asking '
  'anybody; returns it.';

-- The library of a base, as people see it. In: a base and a document of it. Out: cards, counts, what was removed.
-- A document is reached only through its base: the right id with a wrong base finds nothing.
create or replace function baza_internal.documents_ahead(p_document uuid)
returns int
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with mine as materialized (
    select d.lane, d.person, d.base_id, greatest(d.run_after, now()) as due, (
      select count(*) from documents x
      where x.phase = 'waiting' and x.lane = d.lane and x.person = d.person and x.base_id = d.base_id
        and (x.run_after, x.created_at, x.position, x.id) < (d.run_after, d.created_at, d.position, d.id)) as in_base
    from documents d
    where d.id = p_document and d.phase = 'waiting'
  ), waiting as materialized (
    select s.person, s.base_id from mine m cross join lateral waiting_senders(m.lane) s
  ), own as (
    select m.in_base + coalesce(sum(beside.turns), 0) as turns
    from mine m left join waiting w on w.person = m.person and w.base_id <> m.base_id
    left join lateral (
      select count(*) as turns from (
        select from documents d
        where d.phase = 'waiting' and d.lane = m.lane and d.person = w.person and d.base_id = w.base_id
          and d.run_after <= m.due
        limit m.in_base + 1) as some_of_them) beside on true
    group by m.in_base
  )
  select (own.turns + coalesce(sum(others.turns), 0))::int
  from own cross join mine m left join (select distinct w.person from waiting w) p on p.person <> m.person
  left join lateral (
    select count(*) as turns from (
      select from documents d
      where d.phase = 'waiting' and d.lane = m.lane and d.person = p.person and d.run_after <= m.due
      limit own.turns + 1) as some_of_them) others on true
  group by own.turns
$$;
comment on function baza_internal.documents_ahead is
  'How many documents of its lane are processed before a waiting one: those of its sender before it in its base, from '
  'every other base of theirs, and from every other person, as many turns as this one will have had (see `turns`).';

create or replace view document_cards with (security_invoker = true) as
select d.id, d.base_id, d.batch_id, d.position, d.source_type, d.known_as as source_identifier, d.title, d.status,
  d.progress_done, d.progress_total, d.waits_for_service, d.error_code, d.error_params,
  d.language, d.medium, d.duration_s, d.pages, d.pages_without_text, d.parts, d.unread,
  case when d.status = 'ready' then d.chunks else 0 end as chunks,
  case when d.visible then d.chunks else 0 end as searchable,
  case when d.phase = 'waiting' then coalesce(documents_ahead(d.id), 0) else 0 end as ahead,
  case when d.status = 'ready' then extract(epoch from d.finished_at - d.started_at)::double precision end as seconds,
  d.version, d.author, d.user_id as sent_by, d.sender, d.published_at, d.source_url as url,
  d.created_at, d.expires_at, d.chat_id, d.message_id, d.kept_file, d.size_bytes,
  case when d.status = 'ready' then (
    select jsonb_build_object('code', f.error_code, 'params', f.error_params) from documents f
    where f.base_id = d.base_id and f.lineage = d.lineage and f.status = 'failed' and f.finished_at > d.finished_at
    order by f.finished_at desc limit 1) end as next_failure,
  case d.status
    when 'failed' then not exists (
      select from documents r where r.base_id = d.base_id and r.lineage = d.lineage and r.status = 'ready')
    else d.status not in ('duplicate', 'cancelled', 'superseded') end as is_listed
from documents d;
comment on view document_cards is
  'A document as people see it: without its text, lease and internal errors. A renamed file goes by its new name. A '
  'failed attempt to replace a ready document is shown on that document (`next_failure`), not listed beside it.';

create or replace function baza_internal.is_called(p_title text, p_identifier text, p_words text)
returns boolean
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select not exists (
    select from unnest(string_to_array(replace(lower(p_words), 'ё', 'е'), ' ')) word
    where strpos(replace(lower(p_title || E'\n' || p_identifier), 'ё', 'е'), word) = 0)
$$;
comment on function baza_internal.is_called is
  'Whether title or file name hold each of these words or parts of words, in any order; ё equals е.';

create or replace function list_documents(p_base text, p_limit int, p_offset int default 0,
  p_name_contains text default null, p_person bigint default null)
returns setof document_cards
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select * from document_cards d
  where d.base_id = p_base::uuid and d.is_listed
    and (p_name_contains is null or is_called(d.title, d.source_identifier, p_name_contains))
  order by d.status = 'failed', d.created_at desc, d.id
  limit p_limit offset p_offset
$$;
comment on function list_documents is
  'Documents of a base, newest first, those that could not be read at the end; without duplicates, cancelled and superseded ones and failed attempts to replace '
  'one; filtered by words of title or name.';

create or replace function count_base(p_base text, p_name_contains text default null, p_person bigint default null)
returns table (documents bigint, chunks bigint, choosing bigint, waiting bigint, failed bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select count(*) filter (where d.status = 'ready'),
    coalesce(sum(d.chunks) filter (where d.status = 'ready'), 0)::bigint,
    count(*) filter (where d.status = 'choosing'), count(*) filter (where d.status not in ('ready', 'choosing', 'failed')),
    count(*) filter (where d.status = 'failed')
  from document_cards d
  where d.base_id = p_base::uuid and d.is_listed
    and (p_name_contains is null or is_called(d.title, d.source_identifier, p_name_contains))
$$;
comment on function count_base is
  'How many of the documents that `list_documents` lists are ready, with their passages, how many wait for a choice, '
  'how many wait to be read or are in work, and how many could not be read; `base_statistics` counts the same ready ones.';

create or replace function baza_internal.cards_of(p_base uuid, p_documents uuid[])
returns table (asked uuid, card document_cards)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select d.id, card from documents d join document_cards card on card.id = coalesce((
    select current.id from documents current
    where d.status in ('superseded', 'failed') and current.base_id = d.base_id and current.lineage = d.lineage
      and current.status = 'ready'), d.id)
  where d.base_id = p_base and d.id = any (p_documents)
$$;
comment on function baza_internal.cards_of is 'See `document_card`.';

create or replace function document_card(p_base text, p_document text, p_person bigint default null)
returns setof document_cards
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select (c.card).* from cards_of(p_base::uuid, array[p_document::uuid]) c
$$;
comment on function document_card is
  'One document of the base, in any state; no row when there is none. For an earlier version, or a failed attempt at '
  'the next one, the current version: buttons stay under messages for years.';

create or replace function read_cards(p_base text, p_documents text[], p_person bigint default null)
returns table (asked uuid, card jsonb)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select c.asked, to_jsonb(c.card) from cards_of(p_base::uuid, p_documents::uuid[]) c
$$;
comment on function read_cards is '`document_card` for several documents of a base, in one call.';

create or replace function document_versions(p_base text, p_document text, p_person bigint default null)
returns setof document_cards
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select card.* from documents d join documents v on v.base_id = d.base_id and v.lineage = d.lineage
    join document_cards card on card.id = v.id
  where d.base_id = p_base::uuid and d.id = p_document::uuid
    and (v.id = d.id or v.status = 'superseded' and v.version < d.version)
  order by card.version desc limit 900
$$;
comment on function document_versions is
  'A document and the versions that it replaced, newest first; no row when there is none.';

create or replace function cancel_document(p_base text, p_document text, p_person bigint default null)
returns table (id uuid, status text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform require(p_base, p_person, 'write');
  perform from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid and d.phase <> 'ended' for update;
  if found then
    perform finish_document(p_document::uuid, 'cancelled', 'cancelled', '{}', null);
    return query select p_document::uuid, 'cancelled'::text;
  end if;
end $$;
comment on function cancel_document is
  'Stops the work on a document and removes what was stored of it; no row when the work had ended already.';

create or replace function cancel_batch(p_base text, p_batch_id text, p_person bigint default null)
returns table (cancelled bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  open_ones uuid[];
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid);
  with locked as (
    select d.id from documents d
    where d.base_id = p_base::uuid and d.batch_id = p_batch_id::uuid and d.phase <> 'ended'
    order by d.id for update
  )
  select coalesce(array_agg(locked.id), '{}') into open_ones from locked;
  perform finish_document(one, 'cancelled', 'cancelled', '{}', null) from unnest(open_ones) one;
  return query select cardinality(open_ones)::bigint;
end $$;
comment on function cancel_batch is 'Stops the work on all documents of a batch that have not ended; returns how many.';

create or replace function sender_of_batch(p_base text, p_batch_id text, p_person bigint default null)
returns table (user_id bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select d.user_id from documents d where d.base_id = p_base::uuid and d.batch_id = p_batch_id::uuid limit 1
$$;
comment on function sender_of_batch is 'Who sent the documents of a batch together.';

create or replace function baza_internal.beside(p_name text, p_number int)
returns text
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  -- Before the ending, as file managers do: «План (2).docx».
  select regexp_replace(p_name, '(.)(\.[^./\s]{1,8})?$', '\1 (' || p_number || ')\2')
$$;
comment on function baza_internal.beside is 'The name of the second, third … file of the same name.';

create or replace function baza_internal.free_number(p_held documents)
returns int
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select min(n) from generate_series(2, 1000) n
  where not exists (
    select from documents d
    where d.base_id = p_held.base_id and d.source_type = p_held.source_type and d.phase <> 'asking'
      and d.status not in ('failed', 'duplicate', 'cancelled', 'superseded')
      and d.name_key = beside(p_held.name_key, n))
$$;
comment on function baza_internal.free_number is 'The first number that gives a name no other document has.';

create or replace function choose_document(p_base text, p_document text, p_choice text, p_person bigint default null)
returns table (id uuid, status text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  asking documents;
  number int;
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid); -- two that are kept beside a third get different names
  select * into asking from documents d
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.phase = 'asking' for update;
  if not found then
    return;
  elsif p_choice = 'skip' then
    perform finish_document(asking.id, 'cancelled', 'skipped', '{}', null);
    return query select asking.id, 'cancelled'::text;
    return;
  elsif p_choice = 'keep_both' then
    number := free_number(asking);
  elsif p_choice <> 'replace' then
    raise exception 'nobody can choose %', p_choice using errcode = 'invalid_parameter_value';
  end if;
  update documents d
  set status = 'queued', chosen = true, attempts = 0, started_at = null, finished_at = null, run_after = now(),
      error_params = '{}', name_key = coalesce(beside(d.name_key, number), d.name_key),
      given_title = coalesce(beside(d.known_as, number), d.given_title),
      title = coalesce(beside(d.known_as, number), d.title),
      given_terms = case when number is null then d.given_terms end,
      lineage = coalesce((
        select other.lineage from documents other
        where number is null and other.base_id = d.base_id and other.id = (d.error_params ->> 'document_id')::uuid
          and other.status in ('ready', 'superseded')), d.lineage)
  where d.id = asking.id;
  perform touch_batch(asking.batch_id);
  return query select asking.id, 'queued'::text;
end $$;
comment on function choose_document is
  'Takes the person''s answer on a file whose name the base has with other content: it replaces the other once it is '
  'read, is read under another name, or is dropped. No row when nothing is asked any more.';

create or replace function delete_document(p_base text, p_document text, p_person bigint default null)
returns table (id uuid, batch_id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
#variable_conflict use_column
declare
  doomed documents;
  its_versions uuid[];
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid);
  select * into doomed from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid for update;
  if not found then
    return;
  end if;
  select array_agg(d.id) into its_versions from documents d
  where d.base_id = doomed.base_id and d.lineage = doomed.lineage
    and (d.id = doomed.id or doomed.status = 'ready' and (d.status in ('superseded', 'failed')
      or d.phase <> 'ended' and d.source_type <> 'file'));
  update documents d set error_params = d.error_params - 'title' - 'source_identifier'
  where d.base_id = doomed.base_id and d.status = 'choosing'
    and d.error_params ->> 'document_id' = any (its_versions::text[]);
  delete from documents d
  where d.id = any (its_versions || array(
    select twin.id from documents twin
    where twin.base_id = doomed.base_id and twin.status = 'duplicate'
      and twin.error_params ->> 'document_id' = any (its_versions::text[])));
  return query select doomed.id, doomed.batch_id;
end $$;
comment on function delete_document is
  'Removes a document, in any state, with its earlier versions and all that is stored of them, its duplicates, and '
  'what is reading its source anew, which would bring it back; a file that was sent to replace it stays. No row when '
  'there is none. For its batch see `tell_removed`.';

create or replace function clean_base(p_base text, p_person bigint default null)
returns table (documents bigint, chunks bigint, choosing bigint, waiting bigint, failed bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
declare
  held record;
begin
  perform require(p_base, p_person, 'own');
  perform lock_base(p_base::uuid);
  perform from documents d where d.base_id = p_base::uuid order by d.id for update; -- workers finish their call first
  select * into held from count_base(p_base);
  delete from documents d where d.base_id = p_base::uuid;
  return query select held.documents, held.chunks, held.choosing, held.waiting, held.failed;
end $$;
comment on function clean_base is
  'Removes everything of a base, also what is being read right now; returns how many ready documents and passages.';

create or replace function read_blocks(p_base text, p_document text, p_after int, p_limit int,
  p_person bigint default null)
returns table (ordinal int, kind text, level int, text text, locator jsonb)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select b.ordinal, b.kind, b.level, b.text, b.locator
  from document_blocks b join documents d on d.id = b.document_id
  where d.base_id = p_base::uuid and d.id = p_document::uuid and b.ordinal > p_after
  order by b.ordinal limit p_limit
$$;
comment on function read_blocks is 'The parsed text of a document in reading order, after an ordinal.';

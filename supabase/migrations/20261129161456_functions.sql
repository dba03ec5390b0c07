-- Functions as they were when this was collected by `make migration`: see supabase/schemas/functions.

set search_path = public, baza_internal, extensions;
set check_function_bodies = off; -- functions call others that come later
select baza_internal.drop_function_files('{chunks,conflicts,contents,document_choice,library,moving,names,posting_segments,queue,term_search}');

-- Passages with their vectors and postings. In: a batch of them, under the lease of their document (see queue.sql). Out:
-- rows of `documents_chunks` and `posting_lists`, and which chunks of an earlier attempt are kept.
create or replace function keep_chunks(p_document text, p_lease text, p_model text, p_digests text[])
returns table (id uuid, kept int[])
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
  remaining record;
begin
  delete from documents_chunks c
  where c.document_id = held.id and not exists (
    select from unnest(p_digests) with ordinality as wanted (digest, place)
    where wanted.place = c.ordinal + 1 and wanted.digest = md5(c.text) and c.model = p_model);
  select coalesce(array_agg(c.ordinal order by c.ordinal), '{}') as ordinals, count(*) as chunks,
    coalesce(sum(c.length), 0) as terms into remaining
  from documents_chunks c where c.document_id = held.id;
  update documents d set chunks = remaining.chunks, terms = remaining.terms where d.id = held.id;
  return query select held.id, remaining.ordinals;
end $$;
comment on function keep_chunks is
  'Keeps the chunks of an earlier attempt that have this model and these digests (md5 of the text, by ordinal), so '
  'that none is embedded twice; removes the rest. Returns the ordinals that were kept.';

create or replace view baza_internal.chunk_terms as
select l.base_id, l.term, l.run, (l.run << 8) | (l.posting >> 55) as chunk_id, l.posting,
  (l.posting & 127)::int as frequency,
  (l.posting >> 7 & 127)::int as around,
  (l.posting >> 14 & 127)::int as titled,
  (l.posting >> 21 & 127)::int as around_titled,
  (l.posting >> 28 & 4095)::int as length,
  (l.posting >> 40 & 32767)::int as spread
from (select p.base_id, p.term, p.run, unnest(p.postings) as posting from posting_lists p) l;
comment on view baza_internal.chunk_terms is
  'The postings one by one: how often a term stands in the text of a passage (`frequency`), and in the title and the '
  'headings above it (`titled`). Of the terms of a passage with the same five first letters the first has the sums in '
  '`around` and `around_titled`, the others 0: adding up took a third of the time of a search. `length` is the '
  'passage''s, so that scoring reads nothing else. `spread` is of the first passage of a document: in how many of its '
  'passages the term stands; of others 0. So these postings are the record of what a document is about: no search asks '
  'whose a passage is. Look up by base and term, or by `run`; a `chunk_id` is compared only after that.';

create or replace function baza_internal.posting_at(p_postings bigint[], p_place bigint) returns bigint
language sql immutable parallel safe
as $$
  select p_postings[nullif(width_bucket((p_place << 55) | ((1::bigint << 55) - 1), p_postings),
    width_bucket((p_place << 55) - 1, p_postings))]
$$;
comment on function baza_internal.posting_at is
  'The posting of the passage at this place of the run, found by bisection; null where the list has none. The place is '
  'in the highest bits, so lists are in order.';

create or replace function baza_internal.new_runs(p_passages bigint) returns bigint[]
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$ select array(select nextval('passage_runs') from generate_series(1, p_passages, 128)) $$;
comment on function baza_internal.new_runs is
  'Runs for so many passages, of up to 128 each: passage `n`, from 0, is at `n & 127` of run `n / 128`.';

create or replace function baza_internal.put_chunks(p_held documents, p_chunks jsonb, p_embeddings halfvec[])
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  gone record;
  added record;
  runs bigint[];
begin
  perform begin_writing(p_held.base_id);
  if p_held.chunks > 0 then
    with old as (
      delete from documents_chunks c
      where c.document_id = p_held.id
        and c.ordinal in (select (g ->> 'ordinal')::int from jsonb_array_elements(p_chunks -> 'chunks') g)
      returning c.length
    )
    select count(*) as chunks, coalesce(sum(old.length), 0) as terms into gone from old;
    p_held.chunks := p_held.chunks - gone.chunks;
    p_held.terms := p_held.terms - gone.terms;
  end if;

  runs := new_runs(jsonb_array_length(p_chunks -> 'chunks'));
  with stored as (
    insert into documents_chunks (id, base_id, document_id, ordinal, text, span_start, span_end, locator, length, model,
      embedding)
    select (runs[1 + (c.place - 1) / 128] << 8) | ((c.place - 1) & 127), p_held.base_id, p_held.id, c.ordinal, c.text,
      c.span_start, c.span_end, c.locator, c.length, c.model, p_embeddings[c.vector]
    from rows from (jsonb_to_recordset(p_chunks -> 'chunks') as (ordinal int, text text, span_start int,
        span_end int, locator jsonb, length int, model text, vector int)) with ordinality
        as c (ordinal, text, span_start, span_end, locator, length, model, vector, place)
    returning length
  )
  select count(*) as chunks, coalesce(sum(s.length), 0) as terms into added from stored s;

  insert into posting_lists (base_id, term, run, postings)
  select p_held.base_id, l.term, runs[r.place], l.postings::bigint[]
  from jsonb_array_elements(p_chunks -> 'runs') with ordinality r (lists, place) cross join lateral (
    -- set-returning functions in `from` would materialise each column as a whole first
    select unnest(string_to_array(r.lists ->> 'terms', E'\n')) as term,
      unnest(string_to_array(r.lists ->> 'postings', E'\n')) as postings
  ) l;

  p_held.chunks := p_held.chunks + added.chunks;
  p_held.terms := p_held.terms + added.terms;
  return p_held;
end $$;
comment on function baza_internal.put_chunks is
  'Stores chunks with their vectors and postings, replacing those of the same ordinal; returns the document '
  'with its new counts, which the caller stores. Postings come in lists by term, in the order of the index, so that '
  'neighbours land on one page; their numbers are packed as `chunk_terms` reads them, `spread` as in these chunks.';

create or replace function baza_internal.count_spread(p_held documents) returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off
set enable_nestloop = off -- but for what is lateral: without statistics the planner would compare all with all
as $$
declare
  first constant bigint := (select c.id from documents_chunks c where c.document_id = p_held.id and c.ordinal = 0);
  runs constant bigint[] := array(select distinct c.id >> 8 from documents_chunks c where c.document_id = p_held.id);
  counted record;
begin
  for counted in
    select s.term, s.posting, least(count(*), 32767) << 40 as spread
    from (
      select l.term, posting_at(l.postings, first & 255) as posting from posting_lists l where l.run = first >> 8
      offset 0) s
    cross join lateral (
      select l.run, l.postings from posting_lists l
      where l.base_id = p_held.base_id and l.term = s.term and l.run = any (runs) offset 0) l
    cross join lateral unnest(l.postings) p
    join documents_chunks c on c.document_id = p_held.id and c.id = (l.run << 8) | (p >> 55)
    where s.posting is not null
    group by s.term, s.posting having s.posting & (32767::bigint << 40) <> least(count(*), 32767) << 40
  loop
    update posting_lists l
    set postings = array_replace(
      l.postings, counted.posting, (counted.posting & ~(32767::bigint << 40)) | counted.spread)
    where l.base_id = p_held.base_id and l.term = counted.term and l.run = first >> 8;
  end loop;
end $$;
comment on function baza_internal.count_spread is
  'Counts `spread` in the postings of the first chunk: of a document that was stored in several runs, or renamed.';

create or replace function add_chunks(p_document text, p_lease text, p_chunks text, p_embeddings halfvec[])
returns table (id uuid, searchable int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  held documents := held_document(p_document, p_lease);
  was_visible constant boolean := held.visible;
begin
  held := put_chunks(held, p_chunks::jsonb, p_embeddings);
  -- The last batch does not make it visible: it is published next.
  held.visible := (was_visible or held.chunks < held.progress_total) and may_be_found(held);
  update documents d set chunks = held.chunks, terms = held.terms, visible = held.visible where d.id = held.id;
  if held.visible <> was_visible then
    perform touch_batch(held.batch_id);
  end if;
  return query select held.id, case when held.visible then held.chunks else 0 end;
end $$;
comment on function add_chunks is
  'Stores some chunks with their vectors and postings; an ordinal that is there already is replaced. They are '
  'searchable from now on, unless another document conflicts (`may_be_found`).';

select baza_internal.record_function_file('chunks', '3fc10e6fac3f55628e1c9d6547657c6a');

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

select baza_internal.record_function_file('conflicts', '6c42f3ac9f55f0cc6bc3ee29b1e4b4e2');

-- What a worker found in a document. In: hash, blocks, chunks, or the reason why there are none. Out: its state.
-- Everything here is called under a lease (see queue.sql). Passages are searchable batch by batch, unless the document
-- conflicts with one that is searchable already (see conflicts.sql): then they would have to replace that one.
create or replace function baza_internal.put_content(p_held documents, p_content_hash text, p_size_bytes bigint,
  p_media_type text)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held documents;
begin
  update documents d
  set content_hash = p_content_hash, size_bytes = coalesce(p_size_bytes, d.size_bytes),
      media_type = coalesce(d.media_type, p_media_type)
  where d.id = p_held.id
  returning d.* into held;
  return query select * from stopped_by_another(held);
end $$;
comment on function baza_internal.put_content is 'See `record_content`.';

create or replace function record_content(p_document text, p_lease text, p_content_hash text,
  p_size_bytes bigint default null, p_media_type text default null)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  held constant documents := held_document(p_document, p_lease);
begin
  return query select * from put_content(held, p_content_hash, p_size_bytes, p_media_type);
end $$;
comment on function record_content is
  'Records the hash of the content. Returns a row when the work has to stop: the base holds the same content, or other '
  'content under this name and the person is asked.';

create or replace function record_contents(p_lease text, p_contents text)
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  given constant jsonb := p_contents::jsonb;
  sent record;
begin
  for sent in
    select g.*, held from rows from (jsonb_to_recordset(given) as (document uuid, hash text, size_bytes bigint,
      media_type text)) with ordinality as g (document, hash, size_bytes, media_type, place)
    join held_documents(p_lease, given) held on held.id = g.document order by g.place
  loop
    perform from put_content(sent.held, sent.hash, sent.size_bytes, sent.media_type);
    if not found then
      return query select sent.document;
    end if;
  end loop;
end $$;
comment on function record_contents is
  '`record_content` for several documents of one lease, in one call. Returns those with which the work goes on.';

create or replace function baza_internal.held_documents(p_lease text, p_given jsonb)
returns setof documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  return query
  select d.* from documents d
  where d.id = any (array(select g.document from jsonb_to_recordset(p_given) as g (document uuid)))
    and d.lease = p_lease::uuid and d.phase = 'working'
  order by d.id for update;
end $$;
comment on function baza_internal.held_documents is
  '`held_document` for the ones that are given, without those of which the lease is lost: whoever goes on with one alone '
  'learns of it. They are locked before anything else is: one after the other, each with its batch, two calls could '
  'deadlock.';

create or replace function become_link(p_document text, p_lease text, p_address text, p_name_key text, p_lane text)
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  update documents d
  set source_type = 'link', source_identifier = p_address, name_key = p_name_key, source_title = null,
      title = p_address, file_id = null, size_bytes = null, media_type = null, lane = p_lane, status = 'queued',
      visible = false, attempts = d.attempts - 1, progress_done = 0, progress_total = 0, lease = null, lease_until = null
  where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select held.id;
end $$;
comment on function become_link is
  'Turns a file that holds nothing but an address into a link, as if the address had been sent: it waits for its turn '
  'in the lane of links, and is recognised by its address. Its caption stays.';

create or replace function known_reading(p_document text, p_lease text)
returns table (id uuid, title text, source_text text, author text, published_at timestamptz, language text,
  medium text, duration_s double precision, pages int, pages_without_text int[], parts int, unread jsonb, blocks bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  return query
  select d.id, d.title, d.source_text, d.author, d.published_at, d.language, d.medium, d.duration_s, d.pages,
    d.pages_without_text, d.parts, d.unread, (select count(*) from document_blocks b where b.document_id = d.id)
  from ready_before(held) d where d.content_hash = held.content_hash;
end $$;
comment on function known_reading is
  'What was read in the ready version with the same content, and how many blocks it has: a file that only gets another '
  'caption (`adopt_caption`) need not be read again. No row when there is none.';

create or replace function baza_internal.insert_blocks(p_held documents, p_first int, p_blocks jsonb)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into document_blocks (document_id, ordinal, kind, level, text, locator)
  select p_held.id, p_first + b.place - 1, b.kind, b.level, b.text, b.locator
  from rows from (jsonb_to_recordset(p_blocks) as (kind text, level int, text text, locator jsonb))
    with ordinality as b (kind, level, text, locator, place)
$$;
comment on function baza_internal.insert_blocks is
  'Stores blocks of a document in their order; `p_first` is the ordinal of the first.';

create or replace function baza_internal.put_blocks(p_held documents, p_parsed jsonb)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  delete from document_blocks b where b.document_id = p_held.id;
  perform insert_blocks(p_held, 0, p_parsed -> 'blocks');
  p_held.title := coalesce(p_held.given_title, p_parsed ->> 'title');
  p_held.names := p_parsed -> 'names';
  p_held.language := p_parsed ->> 'language';
  p_held.author := coalesce(p_parsed ->> 'author', p_held.author);
  p_held.published_at := coalesce((p_parsed ->> 'published_at')::timestamptz, p_held.published_at);
  p_held.medium := p_parsed ->> 'medium';
  p_held.duration_s := (p_parsed ->> 'duration_s')::double precision;
  p_held.pages := (p_parsed ->> 'pages')::int;
  p_held.parts := (p_parsed ->> 'parts')::int;
  p_held.pages_without_text := array(select jsonb_array_elements_text(p_parsed -> 'pages_without_text')::int);
  p_held.unread := p_parsed -> 'unread';
  return p_held;
end $$;
comment on function baza_internal.put_blocks is
  'Replaces the blocks of a document; returns it with its new figures, which the caller stores.';

create or replace function store_blocks(p_document text, p_lease text, p_parsed text, p_chunks int,
  p_base_passages bigint default null)
returns table (id uuid, stored int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  held documents;
begin
  if p_base_passages is not null then
    perform lock_base((select d.base_id from documents d where d.id = p_document::uuid));
  end if;
  held := held_document(p_document, p_lease);
  perform ensure_room(held, p_chunks, p_base_passages);
  held := put_blocks(held, p_parsed::jsonb);
  update documents d
  set status = 'embedding', progress_done = 0, progress_total = p_chunks, promised = p_chunks,
      title = held.title, names = held.names, language = held.language, author = held.author,
      published_at = held.published_at, medium = held.medium, duration_s = held.duration_s, pages = held.pages,
      parts = held.parts, pages_without_text = held.pages_without_text, unread = held.unread
  where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select held.id, held.chunks;
end $$;
comment on function store_blocks is
  'Stores what was read in a document, in place of any earlier: its blocks, its figures, how many chunks it will have. '
  'Returns how many chunks an earlier attempt left. For `p_base_passages` see `ensure_room`.';

create or replace function add_blocks(p_document text, p_lease text, p_first int, p_blocks text)
returns table (id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  held constant documents := held_document(p_document, p_lease);
begin
  perform insert_blocks(held, p_first, p_blocks::jsonb);
  return query select held.id;
end $$;
comment on function add_blocks is
  'Stores further blocks of a document after those of `store_blocks`, the first with the ordinal `p_first`: a book '
  'comes in several calls, so that no process holds all of it in memory.';

create or replace function baza_internal.supersede(p_held documents)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  before documents;
begin
  -- Locks the rivals: a call that stores their passages has ended before, or sees the new state after. No other
  -- document can become a rival: `record_content` notes its content and name in a call before the one that makes it
  -- visible.
  perform from documents d
  where d.base_id = p_held.base_id and d.phase = 'working' and d.id <> p_held.id
    and (d.content_hash = p_held.content_hash or d.lineage = p_held.lineage
      or d.source_type = p_held.source_type and d.name_key = p_held.name_key)
  order by d.id for update;
  select * into before from ready_before(p_held);
  if found then
    delete from documents_chunks c where c.document_id = before.id;
    update documents d set status = 'superseded', visible = false, chunks = 0, terms = 0 where d.id = before.id;
    p_held.version := before.version + 1;
    p_held.given_terms := case when p_held.given_title is null then before.given_terms else p_held.given_terms end;
    p_held.given_title := coalesce(p_held.given_title, before.given_title);
    p_held.title := coalesce(p_held.given_title, p_held.title);
    p_held.expires_at := case when p_held.expires_at is not null and before.expires_at is not null -- else one stays
      then greatest(p_held.expires_at, before.expires_at) end;
  end if;
  return p_held;
end $$;
comment on function baza_internal.supersede is
  'Takes the earlier version out of search, where it stays as a version; returns the document as the next '
  'one. Locks the documents being read in the base that conflict with it.';

create or replace function baza_internal.hide_rivals(p_ready documents)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update documents d set visible = false
  where d.base_id = p_ready.base_id and d.phase = 'working' and d.visible
    -- `may_be_found` is slow; for all others its answer does not depend on this document: see `supersede`.
    and (d.content_hash = p_ready.content_hash or d.lineage = p_ready.lineage
      or d.source_type = p_ready.source_type and d.name_key = p_ready.name_key)
    and not may_be_found(d)
$$;
comment on function baza_internal.hide_rivals is
  'Hides documents being read that have the content, the name or the lineage of the one that is ready now.';

create or replace function baza_internal.put_whole(p_held documents, p_last jsonb, p_embeddings halfvec[], p_parsed jsonb,
  p_content_hash text)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  p_held.content_hash := coalesce(p_content_hash, p_held.content_hash);
  if p_parsed is not null then
    p_held := put_blocks(p_held, p_parsed);
  end if;
  if p_last is not null then
    p_held := put_chunks(p_held, p_last, p_embeddings);
  end if;
  return p_held;
end $$;
comment on function baza_internal.put_whole is
  'Stores the last chunks of a document, and its blocks if it is one batch; returns it with its new figures for '
  '`publish`. `p_content_hash` is that of a document for which `record_content` was not called: one that is stored '
  'whole here, so that nobody could see it before.';

create or replace function baza_internal.publish(p_held documents, p_had int, p_chunks int, p_base_passages bigint)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  held documents := p_held;
begin
  if p_had > 0 then
    delete from documents_chunks c where c.document_id = held.id and c.ordinal >= p_chunks;
  end if;
  if p_had > 0 and found or held.chunks <> p_chunks then
    select count(*), coalesce(sum(c.length), 0) into held.chunks, held.terms
    from documents_chunks c where c.document_id = held.id;
  end if;
  if held.chunks <> p_chunks then
    raise exception 'document % has % of % chunks', held.id, held.chunks, p_chunks using errcode = 'check_violation';
  end if;

  held := in_lineage(held);
  return query select * from stopped_by_another(held);
  if found then
    return;
  end if;
  perform ensure_room(held, p_chunks, p_base_passages);
  held := bear_own_titles(supersede(held));
  update documents d
  set status = 'ready', visible = true, chunks = held.chunks, terms = held.terms, version = held.version,
      content_hash = held.content_hash, given_title = held.given_title, given_terms = held.given_terms,
      title = held.title, names = held.names, language = held.language, author = held.author,
      published_at = held.published_at, medium = held.medium, duration_s = held.duration_s, pages = held.pages,
      parts = held.parts, pages_without_text = held.pages_without_text, unread = held.unread,
      expires_at = held.expires_at, progress_done = p_chunks, progress_total = p_chunks, lease = null,
      lease_until = null, finished_at = now()
  where d.id = held.id;
  if held.given_terms is not null then -- the worker has indexed the document under its own title
    perform retitle(held, only_name(held.given_title, held.given_terms));
  elsif p_had > 0 then
    perform count_spread(held);
  end if;
  perform hide_rivals(held);
  perform touch_batch(held.batch_id);
  return query select null::uuid, null::uuid;
end $$;
comment on function baza_internal.publish is
  'Makes a document ready whose chunks are all stored, `p_had` of them before this call: all of it is searchable, and '
  'what it replaces no longer. When another became ready meanwhile, stops the work as `record_content` does. It commits '
  'asynchronously: see `held_document`.';

create or replace function publish_document(p_document text, p_lease text, p_chunks int, p_last text default null,
  p_embeddings halfvec[] default '{}', p_parsed text default null, p_base_passages bigint default null,
  p_content_hash text default null)
returns table (duplicate_of uuid, namesake uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  held documents;
begin
  -- Serialised: of two documents with the same content or name the second sees the first.
  perform lock_base((select d.base_id from documents d where d.id = p_document::uuid));
  held := held_document(p_document, p_lease);
  return query select * from publish(put_whole(held, p_last::jsonb, p_embeddings, p_parsed::jsonb, p_content_hash),
    held.chunks, p_chunks, p_base_passages);
end $$;
comment on function publish_document is 'Stores what is left of a document (`put_whole`) and makes it ready (`publish`).';

create or replace function publish_documents(p_lease text, p_documents text, p_embeddings halfvec[],
  p_base_passages bigint default null)
returns table (id uuid, is_ready boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  given constant jsonb := p_documents::jsonb;
  sent record;
  stored documents[];
  had int[]; -- by the place in `stored`
  chunks int[];
  ended record;
begin
  perform lock_base(d.base_id) from documents d where d.id = (given -> 0 ->> 'document')::uuid;
  -- All are stored before the first is counted in its base: whoever else stores passages there waits from then on.
  for sent in
    select g.*, held from rows from (jsonb_to_recordset(given) as (document uuid, chunks int, last jsonb, parsed jsonb,
      hash text)) with ordinality as g (document, chunks, last, parsed, hash, place)
    join held_documents(p_lease, given) held on held.id = g.document order by g.place
  loop
    stored := stored || put_whole(sent.held, sent.last, p_embeddings, sent.parsed, sent.hash);
    had := had || (sent.held).chunks;
    chunks := chunks || sent.chunks;
  end loop;
  for place in 1 .. coalesce(cardinality(stored), 0) loop
    begin
      select * into ended from publish(stored[place], had[place], chunks[place], p_base_passages);
      return query select stored[place].id, ended.duplicate_of is null and ended.namesake is null;
    exception when sqlstate 'BZ003' then -- the same
      delete from documents_chunks c where c.document_id = stored[place].id;
      delete from document_blocks b where b.document_id = stored[place].id;
    end;
  end loop;
end $$;
comment on function publish_documents is
  '`publish` for several whole documents of one lease and base, in one transaction; the vectors of all stand in '
  '`p_embeddings`. Returns those that have ended, and whether they are ready or another was there first.';

create or replace function postpone_document(p_document text, p_lease text, p_delay_s double precision, p_code text,
  p_params text, p_detail text)
returns table (id uuid, run_after timestamptz)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  update documents d
  set status = 'queued', visible = false, run_after = now() + make_interval(secs => p_delay_s),
      waits_for_service = true, error_code = p_code, error_params = p_params::jsonb, error_detail = p_detail,
      lease = null, lease_until = null, attempts = d.attempts - (p_code = 'day-spent')::int
  where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select d.id, d.run_after from documents d where d.id = held.id;
end $$;
comment on function postpone_document is
  'Queues a document for a later retry, with what is stored of it; waiting for a person''s next day is no attempt. `waits_for_service` stays true to the end: the '
  'sender was promised that the document will be read.';

create or replace function fail_document(p_document text, p_lease text, p_code text, p_params text, p_detail text)
returns table (id uuid, status text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  held constant documents := held_document(p_document, p_lease);
begin
  perform finish_document(held.id, 'failed', p_code, p_params::jsonb, p_detail);
  return query select held.id, 'failed'::text;
end $$;
comment on function fail_document is 'Marks a document as failed and removes what was stored of it.';

select baza_internal.record_function_file('contents', '235aa00e8eb990c7aefba5cb27d2bd7a');

-- A passage is found by its document's words, too. In: the weighed terms of a question. Out: passages of the documents
-- that these terms choose. Party, number and day stand in the first passage and in the names of a document (which are
-- `titled` in all of its postings), the clause that answers has none of them. Measured in docs/retrieval.md.

create or replace function baza_internal.told_by_terms(p_base uuid, p_words weighed_term[])
returns table (place int, share double precision, score double precision, telling double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select t.place, least(t.parted, 1) * power(t.share, 0.7), case when t.firsts = 0 then 0
    else t.parted * power(t.firsts / (t.firsts + t.others), 3)
    -- What one document alone has tells as much as what one passage alone has.
    * rarity(t.firsts::bigint, b.documents) * ln(1 + b.passages) / ln(1 + greatest(b.documents, 1)) end,
    1 - power(least(power(t.share, 0.7) * t.firsts / greatest(b.documents, 1), 1), 8)
  from bases b cross join lateral (
    select w.place, 2 * (1 - least(b.documents::double precision / b.passages, 1)) as parted, -- 0: one passage each
      (sum(w.firsts_said) / greatest(sum(w.said), 1))::double precision as share,
      sum(w.firsts)::double precision as firsts,
      -- Documents that have it elsewhere: as many as their passages would be in, thrown at random.
      b.documents * (1 - exp(-(sum(w.postings) - sum(w.reached)) / greatest(b.documents, 1)))::double precision as others
    from unnest(p_words) w group by w.place) t
  where b.id = p_base
$$;
comment on function baza_internal.told_by_terms is
  'What each term of a question tells about documents. `share`: how far it is said in first passages alone; to that '
  'degree other passages inherit it. `score`: what it adds to documents that have it in their first passage or in their '
  'names; most for a term that few documents have, all of them in that place. `telling`: 0 for one that all documents '
  'say there and nowhere else, as where a clause of the form stands in the first passage.';

create or replace function baza_internal.telling_postings() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 10000 $$;
comment on function baza_internal.telling_postings is
  'So many postings are read to choose documents, those of the rarest terms first; a more frequent one tells few apart.';

create or replace function baza_internal.telling_terms(p_base uuid, p_words weighed_term[])
returns table (place int, chunk_id bigint, share double precision, score double precision)
language plpgsql stable rows 100 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  half_at constant double precision := half_per_term(p_base);
begin
  return query
  with read as (
    select u.* from (
      select w.*, sum(w.postings) over (order by w.ordinality) as so_far
      from unnest(p_words) with ordinality w where w.firsts > 0) u
    where u.so_far <= telling_postings()
  ), placed as (
    select r.place, x.chunk_id, t.share * t.telling as share, t.score, case when x.frequency > 0
      then t.share * (case when x.term = r.term then r.own else 0 end + r.wide)
        * bm25(in_all(x.frequency, x.titled, x.half), x.half) else 0 end as inherited, x.frequency > 0 as is_said
    from read r join told_by_terms(p_base, p_words) t using (place) cross join lateral (
      select x.term, x.chunk_id, x.frequency, x.titled, half_frequency(x.length, half_at) as half from chunk_terms x
      where x.base_id = p_base and x.term >= r.low collate "C" and x.term < r.high collate "C" and x.spread > 0
      offset 0) x
  )
  -- The best, not the sum: else «Вектор-Строй» would be a better «Вектор» than «Вектор» itself.
  select p.place, p.chunk_id, max(case when p.is_said then p.share else 0 end), max(p.score) + max(p.inherited)
  from placed p group by p.place, p.chunk_id;
end $$;
comment on function baza_internal.telling_terms is
  'Which first passages have a term in their text or in the names of their document, and what that is worth: the '
  '`score` of `told_by_terms`, and what others inherit of it.';

create or replace function baza_internal.unread_terms(p_base uuid, p_words weighed_term[], p_read int[], p_chunks bigint[])
returns table (place int, chunk_id bigint, share double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select w.place, c.id, l.share * l.telling
  from unnest(p_words) w join told_by_terms(p_base, p_words) l using (place) cross join unnest(p_chunks) c (id)
  cross join lateral (
    select from posting_lists x
    where x.base_id = p_base and x.term = w.term collate "C" and x.run = c.id >> 8
      and posting_at(x.postings, c.id & 255) & 127 > 0 offset 0) x
  where w.firsts > 0 and w.place <> all (p_read)
$$;
comment on function baza_internal.unread_terms is
  'As `telling_terms`, of the terms that it has not read, in these passages alone: «договор поставки» of 4,000 preambles '
  'tells no documents apart, but in each of them the preamble from the clauses.';

create or replace function baza_internal.search_chosen(p_base uuid, p_asked int, p_words weighed_term[], p_limit int)
returns table (chunk_id bigint, score double precision, inherited double precision[])
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  most constant int := 30; -- documents; when more fit equally well, the words tell none of them apart
  most_passages constant int := 1000; -- in them, but for the best one, which may be longer
  decided constant double precision := 0.2; -- what is left of a number that the first passage has: it names the document
  documents uuid[];
  scores double precision[];
  shares double precision[]; -- for each of them, by place of the question's terms
  left_over double precision[]; -- for each of them, by word: what it still decides inside the document
begin
  if not exists (select from bases b where b.id = p_base and b.documents between 2 and b.passages - 1) then
    return; -- nothing to choose; or one passage each
  end if;
  with told as materialized (
    select * from telling_terms(p_base, p_words)
  ), likely as materialized (
    select t.chunk_id, sum(t.score) as score from told t group by t.chunk_id order by score desc limit 4 * most
  ), ranked as materialized (
    select l.chunk_id, l.score, d.id, d.chunks from likely l
    cross join lateral (select * from documents_chunks x where x.id = l.chunk_id offset 0) c
    cross join lateral (select * from documents x where x.id = c.document_id offset 0) d
    where d.base_id = p_base and d.visible
    order by l.score desc, l.chunk_id limit most + 1
  ), chosen as (
    select r.*, row_number() over best as nth, sum(r.chunks) over best as passages
    from ranked r
    where r.score > coalesce((select last.score from ranked last order by last.score desc offset most), 0)
    window best as (order by r.score desc, r.chunk_id)
  ), given as materialized (
    select t.place, t.chunk_id, t.share from told t
    union all
    select * from unread_terms(p_base, p_words, array(select t.place from told t), array(select c.chunk_id from chosen c))
  )
  select array_agg(c.id order by c.nth), array_agg(c.score order by c.nth),
    array(
      select case when o.chunks > 1 then coalesce(t.share, 0) else 0 end
      from chosen o cross join generate_series(1, p_asked) g (place)
      left join given t on t.chunk_id = o.chunk_id and t.place = g.place
      where o.nth = 1 or o.passages <= most_passages order by o.nth, g.place),
    array(
      select (1 - l.share) * case when t.place is null or u.term !~ '^[0-9]' then 1 else decided end
      from chosen o cross join unnest(p_words) with ordinality u join told_by_terms(p_base, p_words) l using (place)
      left join told t on t.chunk_id = o.chunk_id and t.place = u.place
      where o.nth = 1 or o.passages <= most_passages order by o.nth, u.ordinality)
  into documents, scores, shares, left_over
  from chosen c where c.nth = 1 or c.passages <= most_passages;
  if documents is null then
    return;
  end if;
  return query
  select m.chunk_id, m.score, shares[(m.place - 1) * p_asked + 1 : m.place * p_asked]
  from score_members(p_base, p_words, left_over, documents, scores, p_limit) m
  order by m.score desc, m.chunk_id;
end $$;
comment on function baza_internal.search_chosen is
  'The best passages of the documents that the terms choose, be they of one passage or many: their document''s score, '
  'and their own without what the terms have decided already, so that a preamble with the party''s name does not stand '
  'before the clause. `inherited`, by term of the question: the share of its weight that the passage has from its '
  'document; none of what all first passages say, and no others: that tells no documents apart, but passages of one.';

create or replace function baza_internal.rarest_words(p_words weighed_term[], p_longest bigint, p_members int)
returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select greatest(1, count(*))::int
  from (
    select sum(case when u.postings > p_longest then least(u.postings, p_members) else u.postings end)
      over (order by u.ordinality) as so_far
    from unnest(p_words) with ordinality u) u
  where u.so_far <= 1000
$$;
comment on function baza_internal.rarest_words is
  'How many of the words, which come rarest first, have so few postings together that all of them are read; the others '
  'are looked up for the passages that these have found. Of a word with more than `p_longest` postings those of the '
  'members alone are read.';

create or replace function baza_internal.members_of(p_base uuid, p_documents uuid[],
  out chunks bigint[], out places bigint[])
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select array_agg(c.id order by c.id), array_agg(u.nth order by c.id)
  from unnest(p_documents) with ordinality u (document_id, nth)
  cross join lateral (select x.id from documents x where x.id = u.document_id and x.base_id = p_base offset 0) d
  cross join lateral (select x.id from documents_chunks x where x.document_id = d.id offset 0) c
$$;
comment on function baza_internal.members_of is
  'The passages of these documents, so far as they are of this base, and which of the documents each is of.';

create or replace function baza_internal.score_members(p_base uuid, p_words weighed_term[],
  p_shares double precision[], p_documents uuid[], p_scores double precision[], p_limit int)
returns table (chunk_id bigint, place bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_nestloop = off -- of an unknown limit the planner expects few rows, and would compare all with all
as $$
#variable_conflict use_column
declare
  longest constant bigint := 2000; -- postings of a range that is gone through; of more, the term itself is looked up
  half_at constant double precision := half_per_term(p_base);
  asked constant int := cardinality(p_words);
  members bigint[];
  places bigint[];
  rare int;
begin
  select m.chunks, m.places into members, places from members_of(p_base, p_documents) m;
  rare := rarest_words(p_words, longest, cardinality(members));
  return query
  with weighed as (
    select u.*, u.postings > longest as is_long, u.ordinality as nth from unnest(p_words[: rare]) with ordinality u
  ), member as materialized (
    select * from unnest(members, places) u (chunk_id, place)
  ), posting as (
    select x.chunk_id, u.nth, case when x.term = u.term then u.own * bm25(x.own, x.half) else 0 end
      + u.wide * bm25(x.around, x.half) as score
    from (select * from weighed w where not w.is_long offset 0) u cross join lateral (
      select x.chunk_id, x.term, half_frequency(x.length, half_at) as half,
        in_all(x.frequency, x.titled, half_frequency(x.length, half_at)) as own,
        in_all(x.around, x.around_titled, half_frequency(x.length, half_at)) as around
      from chunk_terms x
      where x.base_id = p_base and x.term >= u.low collate "C" and x.term < u.high collate "C" offset 0) x
    union all
    select x.chunk_id, u.nth, u.own * bm25(in_all(x.frequency, x.titled, x.half), x.half)
      + u.wide * bm25(in_all(x.around, x.around_titled, x.half), x.half)
    from (select * from weighed w where w.is_long offset 0) u cross join lateral (
      select x.*, half_frequency(x.length, half_at) as half from chunk_terms x
      where x.base_id = p_base and x.term = u.term collate "C" and x.run = any (array(
        select distinct m >> 8 from unnest(members) m)) and x.chunk_id in (select unnest(members)) offset 0) x
  ), said as (
    select p.chunk_id, m.place, sum(p_shares[(m.place - 1) * asked + p.nth] * p.score) as score
    from posting p join member m using (chunk_id) group by p.chunk_id, m.place
  ), found as materialized (
    -- Also those without a rare word, and without any: the party stands in the preamble, and of «в каком городе учился
    -- Голубев» the passage that answers says nothing.
    select u.chunk_id, u.place, p_scores[u.place] + sum(u.score) as score
    from (select * from said union all select member.*, 0 from member) u
    group by u.chunk_id, u.place order by score desc limit greatest(10 * p_limit, 300)
  ), looked_up as (
    select x.chunk_id, u.nth, u.own * bm25(in_all(x.frequency, x.titled, x.half), x.half)
      + u.wide * bm25(in_all(x.around, x.around_titled, x.half), x.half) as score
    from (select w.*, w.ordinality + rare as nth from unnest(p_words[rare + 1 :]) with ordinality w offset 0) u
    cross join lateral (
      select x.*, half_frequency(x.length, half_at) as half from chunk_terms x
      where x.base_id = p_base and x.term = u.term collate "C" and x.run = any (array(
        select distinct f.chunk_id >> 8 from found f)) and x.chunk_id in (select f.chunk_id from found f) offset 0) x
    offset 0
  )
  select u.chunk_id, u.place, sum(u.score) as score
  from (
    select found.* from found union all
    select f.chunk_id, f.place, p_shares[(f.place - 1) * asked + l.nth] * l.score
    from looked_up l join found f using (chunk_id)) u
  group by u.chunk_id, u.place order by score desc, u.chunk_id limit p_limit;
end $$;
comment on function baza_internal.score_members is
  'The best passages of these documents, scored as in `score_postings`. By the `place` of the document and the word, '
  '`p_shares` is how much of the word''s weight counts, and `p_scores` what the document adds. '
  'Relatives of frequent terms are left out.';

select baza_internal.record_function_file('document_choice', '243ec1c1e9ee8f7e7ccfe42fc7cde52f');

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

select baza_internal.record_function_file('library', '7a1720f3d052e60fb221fa524ab22967');

-- A document for another base. In: a ready document and a base. Out: the same document there, with its text, passages,
-- vectors and postings, as they were read: nothing is read or embedded again. Earlier versions stay where they are.

create or replace function keep_copy(p_base text, p_document text, p_to text, p_most_bytes bigint,
  p_person bigint default null)
returns table (id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select kept.id from documents d join kept_files k on k.id = d.kept_file
    cross join lateral keep_file(p_to, k.hash, k.size_bytes, p_most_bytes, p_person) kept
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.status = 'ready'
$$;
comment on function keep_copy is
  'The name under which the file of a document is to be stored for another base, before `send_document`; no row when '
  'Baza keeps none, or the other base has no room for it.';

create or replace function baza_internal.copy_passages(p_from documents, p_to documents)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into document_blocks (document_id, ordinal, kind, level, text, locator)
  select p_to.id, b.ordinal, b.kind, b.level, b.text, b.locator from document_blocks b where b.document_id = p_from.id;
  with old as materialized (
    select c.*, row_number() over (order by c.ordinal) - 1 as place from documents_chunks c where c.document_id = p_from.id
  ), new as materialized (
    select o.ordinal, o.id as old_id, (r.runs[1 + o.place / 128] << 8) | (o.place & 127) as id
    from old o cross join (select new_runs(count(*)) as runs from old) r
  ), stored as (
    insert into documents_chunks (id, base_id, document_id, ordinal, text, span_start, span_end, locator, length, model,
      embedding)
    select new.id, p_to.base_id, p_to.id, o.ordinal, o.text, o.span_start, o.span_end, o.locator, o.length, o.model,
      o.embedding
    from old o join new using (ordinal) order by o.ordinal
  )
  insert into posting_lists (base_id, term, run, postings)
  select p_to.base_id, t.term, new.id >> 8, array_agg((t.posting & ~(255::bigint << 55)) | ((new.id & 255) << 55) order by new.id)
  from (select distinct n.old_id >> 8 as run from new n) r
  cross join lateral (select * from chunk_terms x where x.run = r.run offset 0) t
  join new on new.old_id = t.chunk_id
  group by t.term, new.id >> 8
$$;
comment on function baza_internal.copy_passages is 'Text, passages and postings of one document for another.';

create or replace function baza_internal.copy_row(p_held documents, p_to uuid)
returns documents
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into documents as d (base_id, batch_id, position, user_id, sender, source_type, source_identifier, name_key,
    source_title, given_title, given_terms, title, names, author, published_at, source_text, source_url, media_type,
    size_bytes, chat_id, message_id, joined_messages, file_id, kept_file, content_hash, chosen, lane, language, medium, duration_s,
    pages, pages_without_text, parts, unread, meta, created_at, started_at)
  select p_to, begin_batch(p_to, '{"language": "ru"}'), 0, h.user_id, h.sender, h.source_type, h.source_identifier,
    h.name_key, h.source_title, h.given_title, h.given_terms, h.title, h.names, h.author, h.published_at, h.source_text,
    h.source_url, h.media_type, h.size_bytes, h.chat_id, h.message_id, h.joined_messages, h.file_id, (
      select held_file(p_to, theirs.id) from kept_files ours join kept_files theirs using (hash)
      where ours.id = h.kept_file and theirs.base_id = p_to and not theirs.leaving), h.content_hash, true,
    h.lane, h.language, h.medium, h.duration_s, h.pages, h.pages_without_text, h.parts, h.unread, h.meta, h.created_at,
    h.started_at
  from (select (p_held).*) h
  returning d.*
$$;
comment on function baza_internal.copy_row is
  'A document of its own in another base, not to be found yet. A file that Baza keeps belongs to its base: the copy has '
  'the one that `keep_copy` has named, if it did.';

create or replace function send_document(p_base text, p_document text, p_to text, p_move boolean,
  p_base_passages bigint default null, p_person bigint default null)
returns table (id uuid, title text, was_there boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
#variable_conflict use_column
declare
  held documents;
  made documents;
  number int;
begin
  perform require(p_base, p_person, case when p_move then 'write' else 'read' end);
  perform require(p_to, p_person, 'write');
  perform lock_base(each) from unnest(array[least(p_base::uuid, p_to::uuid), greatest(p_base::uuid, p_to::uuid)]) each;
  select * into held from documents d
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.status = 'ready' for update;
  if not found or p_base::uuid = p_to::uuid then
    return;
  end if;
  select * into made from documents d
  where d.base_id = p_to::uuid and d.status = 'ready' and (d.content_hash = held.content_hash
    or d.source_type = held.source_type and d.source_type <> 'file' and d.name_key = held.name_key) limit 1;
  if found then
    return query select made.id, made.title, true;
    return;
  end if;
  perform begin_writing(p_to::uuid);
  made := copy_row(held, p_to::uuid);
  perform ensure_room(made, held.chunks, p_base_passages);
  perform copy_passages(held, made);
  number := case when exists (
    select from documents d where d.base_id = made.base_id and d.source_type = 'file' and d.name_key = made.name_key
      and d.source_type = made.source_type and d.id <> made.id and d.status = 'ready') then free_number(made) end;
  update documents d
  set status = 'ready', visible = true, chunks = held.chunks, terms = held.terms, progress_done = held.chunks,
      progress_total = held.chunks, finished_at = coalesce(held.finished_at, now()),
      name_key = coalesce(beside(d.name_key, number), d.name_key),
      given_title = coalesce(beside(d.known_as, number), d.given_title),
      title = coalesce(beside(d.known_as, number), d.title)
  where d.id = made.id returning d.* into made;
  if p_move then
    perform delete_document(p_base, p_document);
  end if;
  return query select made.id, made.title, false;
end $$;
comment on function send_document is
  'Copies a ready document to another base, or moves it; no row when there is none. `was_there`: the other base has its '
  'content, or its address, already, and nothing was changed. A file beside another of its name gets a number.';

select baza_internal.record_function_file('moving', '9e56f1044a04a56157b99a8cb9988609');

-- The names of a document, as people see them and as search indexes them. In: another name with its lexical terms. Out:
-- the document under it. The terms of its names (title, file name) are in the postings of every passage, as `titled`.
create or replace function baza_internal.retitle(p_held documents, p_names jsonb)
returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  with line as materialized (
    select -1 as sign, x.text, x.terms from jsonb_to_recordset(p_held.names) as x (text text, terms jsonb)
    union all
    select 1, x.text, x.terms from jsonb_to_recordset(p_names) as x (text text, terms jsonb)
  ), unsaid as (
    -- As in `ingestion.indexing`: a name that is in the passage, or is a heading above it, is not counted once more.
    select c.id, c.length, line.sign, line.terms
    from documents_chunks c cross join line
    where c.document_id = p_held.id and strpos(c.text, line.text) = 0
      and not coalesce(c.locator -> 'headings' ? line.text, false)
  ), changed as (
    select u.id as chunk_id, said.key collate "C" as term, least(u.length, 4095) as length,
      sum(u.sign * said.value::int) as titled
    from unsaid u cross join lateral jsonb_each_text(u.terms) said
    where octet_length(said.key) <= 1000
    group by 1, 2, 3 having sum(u.sign * said.value::int) <> 0
  ), held as materialized ( -- with all terms of the same prefix: their sums change, too
    select t.chunk_id, t.term, t.length, t.frequency, t.titled, t.spread
    from (select distinct c.id >> 8 as run from documents_chunks c where c.document_id = p_held.id) r
    cross join lateral (select * from chunk_terms x where x.run = r.run offset 0) t
    where t.chunk_id in (select c.id from documents_chunks c where c.document_id = p_held.id)
      and left(t.term, 5) in (select left(c.term, 5) from changed c)
  ), posting as materialized (
    select chunk_id, term, coalesce(h.length, c.length) as length, coalesce(h.frequency, 0) as frequency,
      coalesce(h.spread, 0) as spread, least(greatest(coalesce(h.titled, 0) + coalesce(c.titled, 0), 0), 127) as titled
    from held h full join changed c using (chunk_id, term)
  ), summed as (
    select p.chunk_id, p.term, p.frequency::bigint, p.titled::bigint, p.length::bigint, p.spread::bigint,
      case when row_number() over alike = 1 then least(sum(p.frequency) over alike, 127)::bigint else 0 end as around,
      case when row_number() over alike = 1 then least(sum(p.titled) over alike, 127)::bigint else 0 end as around_titled
    from posting p
    window alike as (partition by p.chunk_id, left(p.term, 5) order by p.frequency = 0 and p.titled = 0, p.term
      rows between unbounded preceding and unbounded following)
  ), list as ( -- with the postings of the other passages
    select p.term, p.chunk_id >> 8 as run, array_agg(p.chunk_id) as renamed, coalesce(
      array_agg(p.frequency | (p.around << 7) | (p.titled << 14) | (p.around_titled << 21) | (p.length << 28)
        | (p.spread << 40) | ((p.chunk_id & 255) << 55)) filter (where p.frequency > 0 or p.titled > 0), '{}') as postings
    from summed p group by 1, 2
  ), whole as materialized (
    select l.term, l.run, array(
      select u.p from unnest(l.postings || array(
        select k.posting from chunk_terms k
        where k.base_id = p_held.base_id and k.term = l.term and k.run = l.run and k.chunk_id <> all (l.renamed))) u (p)
      order by u.p) as postings
    from list l
  ), unnamed as (
    delete from posting_lists t using whole w
    where t.base_id = p_held.base_id and t.term = w.term and t.run = w.run and w.postings = '{}'
  )
  insert into posting_lists as t (base_id, term, run, postings)
  select p_held.base_id, w.term, w.run, w.postings from whole w where w.postings <> '{}' order by w.term, w.run
  on conflict (base_id, term, run) do update set postings = excluded.postings where t.postings <> excluded.postings;
  perform count_spread(p_held);
  update documents d set names = p_names where d.id = p_held.id;
  perform note_changed_postings(p_held);
end $$;
comment on function baza_internal.retitle is
  'Indexes the passages of a document under the terms of these names ({text, terms} each), in place of those '
  'of its former names.';

create or replace function baza_internal.bear_own_titles(p_held documents)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  if p_held.given_title is null and p_held.source_type in ('file', 'path') then
    update documents d set title = file_name(d.source_identifier)
    where d.base_id = p_held.base_id and d.status = 'ready' and d.id <> p_held.id and d.given_title is null
      and d.source_type in ('file', 'path')
      and lower(left(d.names -> 0 ->> 'text', 200)) = lower(left(p_held.title, 200));
    if found then
      p_held.title := file_name(p_held.source_identifier);
    end if;
  end if;
  return p_held;
end $$;
comment on function baza_internal.bear_own_titles is
  'A title that several files of the base bear («Form 10-K») tells none of them: they all go by their file '
  'names, the document that is being published and those that are ready. Returns the document, which the caller '
  'stores. '
  'The first of `names` remembers the title; passages stay to be found by it.';

create or replace function baza_internal.file_name(p_identifier text)
returns text
language sql immutable parallel safe set search_path = public, baza_internal, extensions, pg_temp
as $$
  select regexp_replace(p_identifier, '^.*/(?=.)', '')
$$;
comment on function baza_internal.file_name is 'The last part of a path.';

create or replace function baza_internal.only_name(p_title text, p_terms jsonb)
returns jsonb
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select jsonb_build_array(jsonb_build_object('text', p_title, 'terms', p_terms))
$$;
comment on function baza_internal.only_name is 'The names of a document that a person has renamed: this one alone.';

create or replace function baza_internal.numbered_names(p_names jsonb, p_number int)
returns jsonb
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  -- The file name is the last of the names (`ingestion.indexing`). A number is a term as it is written.
  select jsonb_set(p_names, '{-1}', jsonb_build_object('text', (p_names -> -1 ->> 'text') || ' (' || p_number || ')',
    'terms', (p_names -> -1 -> 'terms') || jsonb_build_object(p_number::text,
      coalesce((p_names -> -1 -> 'terms' ->> p_number::text)::int, 0) + 1)))
$$;
comment on function baza_internal.numbered_names is
  'The names of the second, third … file of the same name; see `beside`.';

create or replace function rename_document(p_base text, p_document text, p_title text, p_name_key text, p_terms text,
  p_person bigint default null)
returns table (id uuid, title text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held documents;
begin
  perform require(p_base, p_person, 'write');
  perform lock_base(p_base::uuid); -- a publication would delete the passages whose postings are being written
  select * into held from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid for update;
  if not found then
    return;
  end if;
  update documents d
  set given_title = p_title, given_terms = p_terms::jsonb, title = p_title,
      name_key = case when d.source_type = 'file' then p_name_key else d.name_key end
  where d.id = held.id;
  if held.status = 'ready' then
    perform retitle(held, only_name(p_title, p_terms::jsonb));
  end if;
  return query select held.id, p_title;
end $$;
comment on function rename_document is
  'Renames a document. Later versions and attempts keep the name. The document is found by it from now on; one that is '
  'being read, from its publication on. `p_terms` are the lexical terms of the name with their counts. No row when '
  'there is no such document.';

select baza_internal.record_function_file('names', '62b1d1e177f46609e7c805edfa576adc');

-- Segments of postings: the weight of each term in each passage of a large base, stored as vectors, which pgvector adds
-- up. In: bases that have grown. Out: `posting_segments`, their terms and passages, and the search in them
-- (term_search.sql calls it). Workers make them in the background, eight thousand passages a segment; nobody who writes
-- or searches waits for it. A passage that is in no segment yet is found by its postings. Grouping postings by passage
-- costs PostgreSQL nearly a microsecond each; adding a vector of 8,000 numbers to another costs four, however many of
-- them are zero. So no word is too frequent to be read.

create or replace function baza_internal.posting_segment_size() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 8000 $$;
comment on function baza_internal.posting_segment_size is 'Passages in a segment; a vector has at most 16,000 numbers.';

create or replace function baza_internal.passages_without_segments() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 20000 $$;
comment on function baza_internal.passages_without_segments is 'A base of up to this many passages has no segments.';

create or replace function baza_internal.in_segments_up_to(p_base uuid) returns bigint
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select max(b.last) from posting_segments b where b.base_id = p_base and not b.emptied
$$;
comment on function baza_internal.in_segments_up_to is
  'The last passage that is in a segment; null where there is none.';

create or replace function baza_internal.share_outside_segments(p_base uuid) returns double precision
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select least(greatest(b.passages - k.passages, posting_segment_size())::double precision / greatest(b.passages, 1), 1)
  from bases b cross join lateral (
    select coalesce(sum(k.passages), 0) as passages from posting_segments k where k.base_id = p_base and not k.emptied) k
  where b.id = p_base
$$;
comment on function baza_internal.share_outside_segments is
  'The share of the passages of a base that are in no segment; at least one segment, since some may be removed.';

create or replace function baza_internal.writing_key(p_base uuid) returns bigint
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select hashtextextended('passages of ' || p_base, 0) $$;
comment on function baza_internal.writing_key is
  'The key of the advisory lock that writers of passages and postings in a base hold, shared.';

create or replace function baza_internal.begin_writing(p_base uuid) returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$ select pg_advisory_xact_lock_shared(writing_key(p_base)) $$;
comment on function baza_internal.begin_writing is
  'Must be called before the id of a passage is assigned. It blocks nobody; the lock shows in `writers_in` '
  'until the transaction ends.';

create or replace function baza_internal.writers_in(p_base uuid) returns text[]
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select coalesce(array_agg(l.virtualtransaction), '{}') from pg_locks l
  where l.locktype = 'advisory' and (l.classid::bigint << 32 | l.objid::bigint) = writing_key(p_base)
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
$$;
comment on function baza_internal.writers_in is
  'The transactions that are writing passages in a base at this moment, not those that write in other bases.';

create or replace function baza_internal.note_changed_postings(p_held documents) returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select begin_writing(p_held.base_id);
  insert into renamed_documents (document_id, base_id)
  select p_held.id, b.id from bases b
  where b.id = p_held.base_id and (b.passages > passages_without_segments() or in_segments_up_to(b.id) is not null
    or exists (select from posting_segment_plans p where p.base_id = b.id))
  on conflict do nothing
$$;
comment on function baza_internal.note_changed_postings is
  'Notes that the postings of a document change, which may be in a segment or in one that is being made.';

create or replace function baza_internal.add_posting_segment(p_base uuid, p_up_to bigint) returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off
set enable_mergejoin = off set work_mem = '64MB' -- sorting postings by term would take a third of the time
as $$
declare
  many constant int := 1000; -- postings; terms that have more stand in `common_terms`
  next constant int := (select coalesce(max(b.number) + 1, 0) from posting_segments b where b.base_id = p_base);
  size constant int := posting_segment_size();
  total constant bigint := (select b.passages from bases b where b.id = p_base);
  half_at constant double precision := half_per_term(p_base);
  members constant bigint[] := array(
    select c.id from documents_chunks c
    where c.base_id = p_base and c.id > coalesce(in_segments_up_to(p_base), 0) and c.id <= p_up_to
    order by c.id limit size);
begin
  insert into posting_segments (base_id, number, passages, last, base_passages)
  values (p_base, next, cardinality(members), coalesce(members[size], p_up_to), total);
  insert into posting_segment_chunks (base_id, number, place, chunk_id)
  select p_base, next, m.place, m.chunk from unnest(members) with ordinality m (chunk, place);
  insert into posting_segment_terms (base_id, term, number, weights)
  with posting as materialized (
    select t.term, left(t.term, 5) as low, m.place, half_frequency(t.length, half_at) as half, t.frequency, t.titled,
      t.around, t.around_titled
    from (select distinct m.chunk >> 8 as run from unnest(members) m (chunk)) r
    -- By the run alone: without statistics the planner would read all postings of the base for each of them.
    cross join lateral (select * from chunk_terms x where x.run = r.run offset 0) t
    join unnest(members) with ordinality m (chunk, place) on m.chunk = t.chunk_id
    where t.base_id = p_base
  ), given as (
    select p.term, p.place, bm25(in_all(p.frequency, p.titled, p.half), p.half) as score from posting p
    union all
    select p.low || '*', p.place, bm25(in_all(p.around, p.around_titled, p.half), p.half) from posting p
    where p.around > 0 or p.around_titled > 0
  ), asked as (
    select p.term, p.term as low, p.term || chr(1) as high, case when is_word(p.term) then 1 - prefix_share() else 1 end
      as share
    from posting p group by p.term
    union all -- "offset 0": `is_word` is called for each prefix once, not for each posting
    select p.low || '*', p.low, p.low || chr(1114111), prefix_share()
    from (select distinct p.low from posting p offset 0) p
    where is_word(p.low)
  ), weighed as materialized (
    select a.term, a.share * rarity(counted.postings, total) as weight
    from asked a left join common_terms common on common.base_id = p_base and common.term = a.term
    cross join lateral (
      select coalesce(common.postings, (
        select count(*) from (
          select from chunk_terms t where t.base_id = p_base and t.term >= a.low collate "C"
            and t.term < a.high collate "C" limit many) t)) as postings offset 0) counted
  )
  select p_base, g.term, next,
    ('{' || string_agg(g.place || ':' || (w.weight * g.score)::real, ',')
      || '}/' || size)::sparsevec
  from given g join weighed w using (term) group by g.term;
end $$;
comment on function baza_internal.add_posting_segment is
  'Puts the next passages of a base, up to a given one, into a segment.';

create or replace function baza_internal.posting_segment_wanted()
returns table (base_id uuid, worn boolean, up_to bigint, writers text[])
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select b.id, worn.out, p.up_to, p.writers
  from bases b left join posting_segment_plans p on p.base_id = b.id
  cross join lateral (
    select coalesce(sum(k.passages), 0) as passages, coalesce(max(k.last), 0) as last, min(k.base_passages) as least,
      bool_or(k.emptied) as emptied
    from posting_segments k where k.base_id = b.id) placed
  cross join lateral (
    select count(*) as passages from (
      select from documents_chunks c where c.base_id = b.id and c.id > placed.last
        and (b.passages > passages_without_segments() or placed.passages > 0)
      order by c.id limit posting_segment_size()) c) late
  cross join lateral ( -- their passages are in segments, too
    select coalesce(sum(d.chunks), 0) as passages from hidden_documents h join documents d on d.id = h.id
    where h.base_id = b.id) hidden
  cross join lateral (
    select coalesce(sum(d.chunks), 0) as passages from renamed_documents r join documents d on d.id = r.document_id
    where r.base_id = b.id) renamed
  cross join lateral (
    select placed.passages > 0 and (placed.emptied or 1.25 * b.passages <= passages_without_segments()
      or b.passages > 1.5 * placed.least or placed.passages > 1.25 * (b.passages + hidden.passages - late.passages)
      or renamed.passages > 0.25 * placed.passages) as out) worn
  where worn.out or (b.passages > passages_without_segments() and late.passages = posting_segment_size())
  order by b.passages desc
$$;
comment on function baza_internal.posting_segment_wanted is
  'Large bases with enough passages for another segment, and those whose segments are `worn`: many of their '
  'passages were removed or renamed, or so many were added that term weights have changed.';

create or replace function ensure_posting_segments()
returns table (base_id uuid, number int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '15min'
as $$
#variable_conflict use_column
declare
  wanted record;
begin
  if not pg_try_advisory_xact_lock(hashtext('posting_segment_terms')) then -- another worker is at it
    return;
  end if;
  for wanted in select * from posting_segment_wanted() loop
    if wanted.worn then
      delete from posting_segments b where b.base_id = wanted.base_id;
      delete from posting_segment_plans p where p.base_id = wanted.base_id;
      delete from renamed_documents r where r.base_id = wanted.base_id;
    elsif wanted.up_to is null then -- `writers_in` runs later: it sees all who hold ids up to `up_to` and still write
      insert into posting_segment_plans (base_id, up_to, writers)
      select wanted.base_id, max(c.id), writers_in(wanted.base_id)
      from (select c.id from documents_chunks c
        where c.base_id = wanted.base_id and c.id > coalesce(in_segments_up_to(wanted.base_id), 0)
        order by c.id limit posting_segment_size()) c;
    elsif wanted.writers && writers_in(wanted.base_id) then
      continue;
    else
      perform add_posting_segment(wanted.base_id, wanted.up_to);
      delete from posting_segment_plans p where p.base_id = wanted.base_id;
    end if;
    return query select wanted.base_id, max(b.number) from posting_segments b where b.base_id = wanted.base_id;
    return;
  end loop;
end $$;
comment on function ensure_posting_segments is
  'One step of some seconds for the largest base that needs a segment; to be called until no row comes back. Search is '
  'complete at any time.';

create or replace function baza_internal.even_vector(p_number real) returns vector
language plpgsql immutable parallel safe set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  numbers vector := array_fill(p_number, array[125])::vector; -- doubled: filled one by one it takes four times as long
begin
  while vector_dims(numbers) < posting_segment_size() loop
    numbers := numbers || numbers;
  end loop;
  return subvector(numbers, 1, posting_segment_size());
end $$;
comment on function baza_internal.even_vector is 'A vector as long as a segment, the same number everywhere.';

create or replace function baza_internal.bound_above(p_sums vector[], p_wanted int,
  p_highest double precision) returns real
language plpgsql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  low real := 0; -- at least as many as wanted are above it, or there are no more
  high real := p_highest;
  bound real := 0;
  level vector;
  above bigint;
begin
  for step in 1 .. 20 loop
    level := even_vector(bound);
    above := (select sum(bit_count(binary_quantize(s - level))) from unnest(p_sums) s);
    if above >= p_wanted then
      low := bound;
    else
      high := bound;
    end if;
    exit when above between p_wanted and 3 * p_wanted or high <= 0;
    bound := (low + high) / 2;
  end loop;
  return low;
end $$;
comment on function baza_internal.bound_above is
  'By bisection, a bound with about as many sums above it as wanted, or somewhat more; 0 where there are '
  'fewer.';

create or replace function baza_internal.search_posting_segments(p_base uuid, p_terms text[],
  p_highest double precision, p_hidden bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  wanted int := p_limit + p_limit / 2;
  bound real;
  chunks bigint[];
  scores double precision[];
begin
  loop
    with sums as materialized ( -- 32 kB each: gathered in arrays they would be copied again and again
      select t.number, sum(t.weights::vector) as weights
      from unnest(p_terms) w (term) -- "offset 0": looked up by key, also while the table has no statistics
      cross join lateral (select * from posting_segment_terms x where x.base_id = p_base and x.term = w.term offset 0) t
      group by t.number
    ), found as materialized ( -- one bound for all, by a quarter of the segments, or six: by three it is often too high
      select bound_above(array_agg(s.weights), ceil(wanted * count(*)::real / max(counted.segments))::int, p_highest)
        as bound
      from sums s cross join (select count(*) as segments from sums) counted
      where s.number % least(4, greatest(1, counted.segments / 6)) = 0
    ), level as materialized (
      select f.bound, even_vector(f.bound) as even from found f
    ), above as ( -- 1 bits are above the bound: the bits as text, split at each 1; the lengths add up to the places
      select s.number, s.weights, z.place
      from sums s cross join level cross join lateral (
        select (sum(octet_length(z.zeros)) over (order by z.n) + z.n)::int as place
        from unnest(string_to_array(binary_quantize(s.weights - level.even)::text, '1')) with ordinality z (zeros, n)) z
      where z.place <= posting_segment_size()
    ), best as (
      select p.chunk_id, (subvector(a.weights, a.place, 1)::real[])[1]::double precision as score
      from above a cross join lateral (
        select * from posting_segment_chunks x
        where x.base_id = p_base and x.number = a.number and x.place = a.place offset 0) p
      where p.chunk_id not in (select unnest(p_hidden))
        and exists (select from documents_chunks c where c.id = p.chunk_id and c.base_id = p_base)
      order by score desc, p.chunk_id limit p_limit
    )
    select array_agg(best.chunk_id), array_agg(best.score), (select f.bound from found f) into chunks, scores, bound
    from best;
    exit when bound <= 0 or cardinality(chunks) >= p_limit;
    wanted := 4 * wanted;
  end loop;
  return query select * from unnest(chunks, scores);
end $$;
comment on function baza_internal.search_posting_segments is
  'The best passages that are in segments, by the sums of the weights of their terms. Removed passages keep '
  'their places: where they took too many, a lower bound is sought.';

select baza_internal.record_function_file('posting_segments', '28c2e3886b496a5641e9edf0671702e7');

-- A document's way through the queue. In: what was sent, then what a worker made of it. Out: rows of its state.
-- A worker acts under a lease: it holds until another worker claims the document, or it is cancelled or deleted.
-- Locks are taken in one order everywhere (`lock_base`, documents, the row of the base, its batch), so that no two
-- calls deadlock.
create or replace function baza_internal.lock_base(p_base uuid)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('base ' || p_base, 0))
$$;
comment on function baza_internal.lock_base is
  'Serialises the publications and removals of a base. An advisory lock, not a row lock: everybody who '
  'stores passages updates the counts in the row of the base, and need not wait for a publication.';

create or replace function baza_internal.count_removed() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  update bases b set passages = b.passages - gone.passages, terms = b.terms - gone.terms,
    documents = b.documents - gone.documents
  from (select base_id, sum(chunks) as passages, sum(terms) as terms, count(*) as documents
        from old_rows where visible group by base_id) gone
  where b.id = gone.base_id;
  return null;
end $$;
comment on function baza_internal.count_removed is
  'Subtracts deleted visible documents from the counts of their bases.';
create or replace trigger documents_removed after delete on documents
  referencing old table as old_rows for each statement execute function baza_internal.count_removed();

create or replace function baza_internal.count_changed() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  before constant int := old.visible::int;
  after constant int := new.visible::int;
begin
  update bases
  set passages = passages + after * new.chunks - before * old.chunks,
      terms = terms + after * new.terms - before * old.terms,
      documents = documents + after - before
  where id = new.base_id;
  return null;
end $$;
comment on function baza_internal.count_changed is
  'Adds a document to the counts of its base when it becomes visible and with each batch of chunks, and '
  'subtracts all of it when it is hidden.';
create or replace trigger documents_changed after update of visible, chunks, terms on documents
  for each row when (
    (old.visible or new.visible)
    and (old.visible, old.chunks, old.terms) is distinct from (new.visible, new.chunks, new.terms))
  execute function baza_internal.count_changed();

create or replace function baza_internal.remove_postings() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  -- Arrays, not joins: the planner does not know the size of the transition table, and would scan all postings.
  gone constant bigint[] := array(select o.id from old_rows o);
  bases constant uuid[] := array(select distinct o.base_id from old_rows o); -- a run of 0.1.0 may hold others
  runs constant bigint[] := array(select distinct c >> 8 from unnest(gone) c);
  kept constant bigint[] := array( -- with passages that stay
    select u.run from unnest(runs) u (run)
    where exists (select from documents_chunks c where c.id between u.run << 8 and (u.run << 8) + 255));
begin
  update posting_lists l set postings = array(
    select u.p from unnest(l.postings) u (p)
    where (l.run << 8) | (u.p >> 55) not in (select unnest(gone)) order by u.p)
  where l.run = any (kept) and case when l.base_id = any (bases) then true end; -- `case`: by the run, no other index
  delete from posting_lists l where l.run = any (runs) and (l.postings = '{}' or l.run <> all (kept));
  return null;
end $$;
comment on function baza_internal.remove_postings is 'Postings leave together with their chunks.';
create or replace trigger chunks_removed after delete on documents_chunks
  referencing old table as old_rows for each statement execute function baza_internal.remove_postings();

create or replace function enqueue_batch(p_base text, p_batch text, p_hold_s double precision default 0,
  p_most_waiting bigint default null, p_person bigint default null)
returns table (id uuid, "position" int, created boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  sent constant jsonb := p_batch::jsonb;
  its_batch uuid;
  earlier int := 0; -- documents that earlier messages of the album brought
begin
  perform require(p_base, p_person, 'write');
  insert into batches (base_id, chat_id, thread_id, message_id, media_group, language)
  values (p_base::uuid, (sent ->> 'chat_id')::bigint, (sent ->> 'thread_id')::bigint,
          (sent ->> 'message_id')::bigint, sent ->> 'media_group', sent ->> 'language')
  on conflict do nothing
  returning batches.id into its_batch;

  if its_batch is null then -- the next message of an album, or one that Telegram delivers again
    if sent ->> 'ttl_s' is null then -- or a message that was to be read only, and is to stay now
      perform keep_document(p_base, d.id::text) from documents d
      where d.base_id = p_base::uuid and d.expires_at is not null and d.chat_id = (sent ->> 'chat_id')::bigint
        and d.message_id = (sent ->> 'message_id')::bigint;
    end if;
    perform from bases b where b.id = p_base::uuid for key share;
    select b.id into its_batch from batches b
    where b.base_id = p_base::uuid and b.chat_id = (sent ->> 'chat_id')::bigint
      and (b.message_id = (sent ->> 'message_id')::bigint or b.media_group = sent ->> 'media_group')
    limit 1 for update;
    if not found then -- its documents are being removed at this moment
      return query select * from enqueue_batch(p_base, p_batch, p_hold_s, p_most_waiting);
      return;
    end if;
    return query
    select d.id, (row_number() over (order by d.position))::int - 1, false from documents d
    where d.batch_id = its_batch and d.message_id = (sent ->> 'message_id')::bigint
    order by d.position;
    if found or not exists (select from batches b where b.id = its_batch and b.media_group = sent ->> 'media_group') then
      return;
    end if;
    select coalesce(max(d.position) + 1, 0) into earlier from documents d where d.batch_id = its_batch;
    perform touch_batch(its_batch);
  end if;

  perform ensure_few_waiting((sent ->> 'user_id')::bigint, jsonb_array_length(sent -> 'sources'), p_most_waiting);
  return query
  insert into documents (base_id, batch_id, position, user_id, sender, chat_id, message_id, source_type,
    source_identifier, name_key, source_title, title, source_text, source_url, file_id, kept_file, size_bytes,
    media_type, author, published_at, lane, run_after, expires_at)
  select p_base::uuid, its_batch, earlier + s.place - 1, (sent ->> 'user_id')::bigint, sent ->> 'sender',
    (sent ->> 'chat_id')::bigint,
    (sent ->> 'message_id')::bigint, s.type, s.identifier, s.name_key, s.title, coalesce(s.title, s.identifier), s.text,
    s.url, s.file_id, held_file(p_base::uuid, s.kept_file), s.size_bytes, s.media_type, s.author, s.published_at,
    lane_of(s.lane, s.type, s.identifier, s.text, s.size_bytes),
    now() + make_interval(secs => p_hold_s), -- below, cut to the minute that people are told
    date_trunc('minute', now() + make_interval(secs => (sent ->> 'ttl_s')::double precision))
  from rows from (jsonb_to_recordset(sent -> 'sources') as (type text, identifier text, name_key text, title text,
    text text, url text, file_id text, kept_file uuid, size_bytes bigint, media_type text, author text,
    published_at timestamptz, lane text)) with ordinality
    as s (type, identifier, name_key, title, text, url, file_id, kept_file, size_bytes, media_type, author,
      published_at, lane, place)
  order by s.place
  returning documents.id, documents.position - earlier, true;
end $$;
comment on function enqueue_batch is
  'Stores all sources of a message; the messages of an album share a batch. A repeated message only gets its rows '
  'again.';

create or replace function baza_internal.album_caption(p_held documents)
returns text
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select d.source_text from documents d join batches b on b.id = d.batch_id
  where d.batch_id = p_held.batch_id and b.media_group is not null and d.source_text is not null
  order by d.position limit 1
$$;
comment on function baza_internal.album_caption is
  'The caption of an album, which Telegram keeps with one of its files though people mean all of them. Where '
  'that file could not be taken, the caption is in a note or a link of the album.';

create or replace function baza_internal.source_of(p_sent documents)
returns jsonb
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select jsonb_build_object('type', p_sent.source_type,
    'identifier', case when p_sent.given_terms is null then p_sent.known_as else p_sent.source_identifier end,
    'title', p_sent.source_title, 'text', p_sent.source_text, 'url', p_sent.source_url,
    'file_id', p_sent.file_id, 'kept_file', p_sent.kept_file, 'size_bytes', p_sent.size_bytes,
    'media_type', p_sent.media_type, 'author', p_sent.author, 'published_at', p_sent.published_at,
    'lane', p_sent.lane)
$$;
comment on function baza_internal.source_of is
  'What was sent, by the name that the person knows it by («План (2).docx»).';

create or replace function claim_documents(p_worker text, p_lease_s double precision, p_only text[] default null,
  p_together int default 1, p_lanes text[] default '{short,small,quick,long}', p_person_places int[] default null,
  p_base_passages bigint default null)
returns table (id uuid, base_id uuid, lease uuid, attempt int, source jsonb, is_known boolean, full_at bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  its_ids uuid[];
  its_base uuid;
  its_person bigint;
  its_lease constant uuid := gen_random_uuid();
begin
  if p_only is null then
    its_ids := next_documents(p_worker, p_lanes, p_person_places, p_together);
  else
    its_ids := array(
      select d.id from documents d
      where d.id = any (p_only::uuid[]) and (d.phase = 'waiting' or d.phase = 'working' and d.lease_until <= now())
      order by d.id for update skip locked);
  end if;
  select d.base_id, d.person into its_base, its_person from documents d where d.id = its_ids[1];
  if its_base is null then
    return;
  end if;
  perform set_config('synchronous_commit', 'off', true); -- after a crash it is simply claimed again
  update documents d
  set status = 'fetching', visible = false, progress_done = 0, progress_total = 0, attempts = d.attempts + 1,
      worker = p_worker, lease = its_lease, lease_until = now() + make_interval(secs => p_lease_s),
      run_after = least(d.run_after, now()), -- a held document that was claimed early: if its worker dies, anybody's
      source_text = coalesce(d.source_text, case when d.source_type = 'file' then album_caption(d) end),
      started_at = coalesce(d.started_at, now()), error_code = null, error_params = '{}', error_detail = null
  where d.id = any (its_ids);
  perform from bases b where b.id = its_base for no key update skip locked; -- nobody waits for a row being counted
  if found then -- a single statement would update the row version that it saw, not the one that it locked: a deadlock
    update bases b set served_at = now() where b.id = its_base;
  end if;
  if pg_try_advisory_xact_lock(hashtextextended('served ' || its_person, 0)) then -- else somebody notes the same just now
    insert into served as s (person, served_at) values (its_person, now())
    on conflict (person) do update set served_at = excluded.served_at;
  end if;
  perform touch_batch(b.id) from (
    select distinct d.batch_id as id from documents d where d.id = any (its_ids) order by 1) b;
  return query
  select taken.id, taken.base_id, taken.lease, taken.attempts, source_of(taken),
    taken.source_type in ('file', 'link') and taken.chosen and taken.content_hash is not null,
    full_at(taken, p_base_passages)
  from documents taken where taken.id = any (its_ids)
  order by array_position(its_ids, taken.id);
end $$;
comment on function claim_documents is
  'Leases to a worker the documents whose turn it is in these lanes, if any (`next_documents`), all under one lease; '
  '`p_person_places` is how many of its places in each lane one person, and one base, may hold. `p_only`: these, which '
  'are of one base, also before `run_after`. What an earlier attempt stored is hidden. `is_known`, `full_at`: see '
  '`known_reading`, `full_at`.';

create or replace function baza_internal.touch_batch(p_batch uuid)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update batches set revision = revision + 1 where id = p_batch and chat_id is not null
$$;
comment on function baza_internal.touch_batch is
  'The live message of this batch has something new to show; a batch of the command line has none.';

create or replace function baza_internal.held_document(p_document text, p_lease text)
returns documents
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held documents;
begin
  select * into held from documents
  where id = p_document::uuid and lease = p_lease::uuid and phase = 'working'
  for update;
  if not found then
    raise exception 'the lease of document % is lost', p_document using errcode = 'BZ001';
  end if;
  perform set_config('synchronous_commit', 'off', true);
  return held;
end $$;
comment on function baza_internal.held_document is
  'Locks the document for the holder of its lease; raises BZ001 for anybody else. The commit is '
  'asynchronous, of a publication too, which would hold up all others of the base while it waits for the disk: after a '
  'crash within that second the document is still queued as its sender left it (that commit was synchronous), and is '
  'read again. Nobody is told of an end before it is durable: `due_notices` writes, and its commit flushes all before '
  'it.';

create or replace function baza_internal.finish_document(p_document uuid, p_status text, p_code text, p_params jsonb,
  p_detail text)
returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  its_batch uuid;
begin
  perform set_config('synchronous_commit', 'on', true); -- people are told of an end, so it must be durable
  delete from documents_chunks where document_id = p_document;
  delete from document_blocks where document_id = p_document;
  update documents
  set status = p_status, error_code = p_code, error_params = p_params, error_detail = p_detail, chunks = 0, terms = 0,
      visible = false, lease = null, lease_until = null, finished_at = now()
  where id = p_document
  returning batch_id into its_batch;
  perform touch_batch(its_batch);
end $$;
comment on function baza_internal.finish_document is
  'Ends the work on a document that will not be ready, at least not now, and removes what was stored of it.';

create or replace function renew_lease(p_document text, p_lease text, p_lease_s double precision)
returns table (id uuid, lease_until timestamptz)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  return query
  update documents d set lease_until = now() + make_interval(secs => p_lease_s)
  where d.id = held.id
  returning d.id, d.lease_until;
end $$;
comment on function renew_lease is 'Extends the lease to that many seconds from now.';

create or replace function return_document(p_document text, p_lease text)
returns table (id uuid, attempts int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant documents := held_document(p_document, p_lease);
begin
  update documents d
  set status = 'queued', visible = false, attempts = d.attempts - 1, progress_done = 0, progress_total = 0,
      lease = null, lease_until = null
  where d.id = held.id;
  perform touch_batch(held.batch_id);
  return query select held.id, held.attempts - 1;
end $$;
comment on function return_document is
  'Releases a document as if it had not been claimed, with what is stored of it, because its worker has to stop.';

create or replace function report_progress(p_document text, p_lease text, p_status text, p_done int, p_total int)
returns table (id uuid, status text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held documents := held_document(p_document, p_lease);
begin
  update documents d set status = p_status, progress_done = p_done, progress_total = p_total
  where d.id = held.id
  returning d.* into held;
  if held.phase <> 'working' then
    raise exception 'a report cannot move a document to %', p_status using errcode = 'invalid_parameter_value';
  end if;
  perform touch_batch(held.batch_id);
  return query select held.id, p_status;
end $$;
comment on function report_progress is 'Records the stage and progress of a document; ends nothing, extends no lease.';

select baza_internal.record_function_file('queue', 'f9b3823ca2191de98ee6b404f9073e30');

-- The search by words: BM25 over the postings of a base. In: the terms of a question. Out: passages with scores.
-- Needs no extension. The terms are made by the analyzer that made the postings (adapters/lexical); what each setting
-- is for, and what it brings, is in docs/retrieval.md.

create or replace function baza_internal.counted_anew() returns int
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select 2000 $$;
comment on function baza_internal.counted_anew is
  'In a base of up to this many passages a search counts all postings itself; in a larger one it takes the large counts '
  'from `common_terms`. In 20,000 passages of 4,000 contracts of one form counting took 14 ms of a search.';

create or replace function baza_internal.count_common_terms(p_base uuid) returns bigint
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  frequent constant int := 1000; -- postings; fewer are counted in a millisecond
  held constant bigint := (select b.passages from bases b where b.id = p_base);
  written bigint;
begin
  delete from common_terms c where c.base_id = p_base;
  insert into common_terms (base_id, term, postings, said, firsts, firsts_said, reached, passages)
  with counted as materialized (
    select t.term, count(*) as postings, count(*) filter (where t.frequency > 0) as said,
      count(*) filter (where t.spread > 0) as firsts,
      count(*) filter (where t.spread > 0 and t.frequency > 0) as firsts_said, sum(t.spread) as reached
    from chunk_terms t where t.base_id = p_base group by t.term
  )
  -- The most frequent one in any case: else a base without frequent terms would be counted again and again.
  select p_base, c.*, held from counted c
  where c.postings > least(frequent, (select max(most.postings) - 1 from counted most))
  union all
  select p_base, left(c.term, 5) || '*', sum(c.postings), sum(c.said), sum(c.firsts), sum(c.firsts_said),
    sum(c.reached), held from counted c
  where is_word(c.term) group by left(c.term, 5) having sum(c.postings) > frequent;
  get diagnostics written = row_count;
  return written;
end $$;
comment on function baza_internal.count_common_terms is 'Counts the frequent terms of a base anew.';

create or replace function refresh_common_terms()
returns table (base_id uuid, terms bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '15min'
as $$
  select b.id, count_common_terms(b.id) from bases b
  where b.passages > counted_anew()
    and coalesce((select max(c.passages) from common_terms c where c.base_id = b.id), 0)
      not between b.passages * 0.8 and b.passages * 1.2
  limit 1
$$;
comment on function refresh_common_terms is
  'Counts the frequent terms of one large base that has grown or shrunk by a fifth since it was last done.';

create or replace function baza_internal.forget_terms() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  delete from common_terms c where c.base_id = new.id;
  delete from posting_segment_plans p where p.base_id = new.id;
  update posting_segments b set emptied = true where b.base_id = new.id; -- workers delete them later
  return null;
end $$;
comment on function baza_internal.forget_terms is
  'Of a base that was emptied, removes the term counts and marks the segments.';
create or replace trigger bases_emptied after update of passages on bases
  for each row when (new.passages = 0 and old.passages > 0) execute function baza_internal.forget_terms();

create or replace function baza_internal.is_word(p_term text) returns boolean
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select length(p_term) >= 5 and p_term !~ '[-0-9._@+#'']' $$;
comment on function baza_internal.is_word is
  'Whether terms with the same first five letters count as relatives of this one: it is a word of letters, '
  'not a code, a number or a file name.';

-- BM25F (Robertson and Zaragoza) with k1 = 1.2 and b = 1: passages are all cut alike, and of two with the same words
-- the shorter one is about nothing else. A passage of fewer than 16 terms counts as that long. These functions have no
-- `set` clause: so the planner puts their expressions in the place of the calls.

create or replace function baza_internal.rarity(p_postings bigint, p_passages bigint) returns double precision
language sql immutable parallel safe
as $$ select ln(1 + (greatest(p_passages - p_postings, 0) + 0.5::double precision) / (p_postings + 0.5)) $$;
comment on function baza_internal.rarity is 'The inverse document frequency of a term with so many postings in a base.';

create or replace function baza_internal.prefix_share() returns double precision
language sql immutable parallel safe
as $$ select 0.5::double precision $$;
comment on function baza_internal.prefix_share is
  'How much of the weight of a word is for its prefix, which its relatives have too; the rest is for the word itself.';

create or replace function baza_internal.half_per_term(p_base uuid) returns double precision
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select 1.2::double precision * greatest(b.passages, 1) / greatest(b.terms, 1) from bases b where b.id = p_base
$$;
comment on function baza_internal.half_per_term is
  'k1 by the average length of the passages of a base: for `half_frequency`.';

create or replace function baza_internal.half_frequency(p_length int, p_half_per_term double precision)
returns double precision
language sql immutable parallel safe
as $$ select p_half_per_term * greatest(p_length, 16) $$;
comment on function baza_internal.half_frequency is
  'How often a term must stand in a passage of this length to get half of what it could: `p_half` below.';

create or replace function baza_internal.in_all(p_frequency int, p_titled int, p_half double precision)
returns double precision
language sql immutable parallel safe
as $$
  select case when p_titled = 0 then p_frequency
    else p_frequency + p_titled * (0.5 / 1.2)::double precision * p_half end -- as numeric it takes many times as long
$$;
comment on function baza_internal.in_all is
  'The frequency of a term in the text and in the title and headings above it: once there counts as half the average '
  'frequency, however long they are.';

create or replace function baza_internal.bm25(p_frequency double precision, p_half double precision)
returns double precision
language sql immutable parallel safe
as $$ select 2.2 * p_frequency / (p_frequency + p_half) $$;
comment on function baza_internal.bm25 is 'The score that a term of rarity 1 gives to a passage.';

create or replace function baza_internal.similar_terms(p_base uuid, p_term text, p_beginnings text[], p_pattern text)
returns table (term text)
language sql stable rows 3 set search_path = public, baza_internal, extensions, pg_temp
as $$
  with recursive vocabulary as (
    select first.term, b.start from unnest(p_beginnings) b (start) cross join lateral (
      select t.term from posting_lists t
      where t.base_id = p_base and t.term >= b.start collate "C" and t.term < (b.start || chr(1114111)) collate "C"
      order by t.term limit 1) first
    union all
    (select later.term, v.start from vocabulary v cross join lateral (
       select t.term from posting_lists t
       where t.base_id = p_base and t.term > v.term and t.term < (v.start || chr(1114111)) collate "C"
       order by t.term limit 1) later)
  )
  select v.term from vocabulary v
  -- A word with one typo keeps its beginning or its end: checking that takes a tenth of the time of matching. A term of
  -- the other alphabet shares neither, and is always matched. "case", since the planner would match first.
  where case when left(v.term, 1) <> left(p_term, 1) or starts_with(v.term, left(p_term, length(p_term) / 2))
    or right(v.term, (length(p_term) - 1) / 2) = right(p_term, (length(p_term) - 1) / 2) then v.term ~ p_pattern end
  order by v.term limit 3
$$;
comment on function baza_internal.similar_terms is
  'The first three terms of the base that begin with one of `p_beginnings` and match `p_pattern`, to stand '
  'for `p_term`. Steps from term to term along the index: one step for each such term, however many passages hold it.';

create or replace function baza_internal.count_range(p_base uuid, p_low text, p_high text, p_hidden bigint[],
  out postings bigint, out said bigint, out firsts bigint, out firsts_said bigint, out reached bigint)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  select count(*), count(*) filter (where t.frequency > 0), count(*) filter (where t.spread > 0),
    count(*) filter (where t.spread > 0 and t.frequency > 0), sum(t.spread)
  into postings, said, firsts, firsts_said, reached from chunk_terms t
  where t.base_id = p_base and t.term >= p_low collate "C" and t.term < p_high collate "C"
    and t.chunk_id not in (select unnest(p_hidden));
end $$;
comment on function baza_internal.count_range is
  'What `common_terms` has, counted now: of all terms from `p_low` to before `p_high`.';

create or replace function baza_internal.count_postings(p_base uuid, p_term text, p_low text, p_high text,
  p_hidden bigint[],
  out own bigint, out around bigint, out said bigint, out firsts bigint, out firsts_said bigint, out reached bigint)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  exact record; -- of the term itself
  range record; -- of it and its relatives
begin
  if (select b.passages from bases b where b.id = p_base) > counted_anew() then
    select * into exact from common_terms c where c.base_id = p_base and c.term = p_term;
    select * into range from common_terms c
    where c.base_id = p_base and c.term in (p_low || '*', case when p_low = p_term then p_term end)
    order by c.term desc limit 1; -- of the whole range, if it is known
  else
    select null::bigint as postings into exact;
    range := exact;
  end if;
  if range.postings is null then
    select * into range from count_range(p_base, p_low, p_high, p_hidden);
  end if;
  if p_high = p_term || chr(1) then
    exact := range;
  elsif exact.postings is null then
    select * into exact from count_range(p_base, p_term, p_term || chr(1), p_hidden) where range.postings > 0;
  end if;
  own := exact.postings;
  around := range.postings;
  if exact.firsts > 0 then -- what documents are called: «электронной», said everywhere, tells nothing of «Электрон»
    select exact.said, exact.firsts, exact.firsts_said, around - (exact.postings - exact.reached)
    into said, firsts, firsts_said, reached;
  else
    select range.said, range.firsts, range.firsts_said, range.reached into said, firsts, firsts_said, reached;
  end if;
end $$;
comment on function baza_internal.count_postings is
  'How many postings a term has (`own`), and all terms from `p_low` to before `p_high` (`around`); of these, or of the '
  'term itself where a first passage or a name has it, also what `common_terms` has. The large counts of large bases '
  'are those of the last `count_common_terms`.';

create or replace function baza_internal.weigh_terms(p_base uuid, p_terms text[], p_spellings jsonb, p_hidden bigint[])
returns setof weighed_term
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  total constant bigint := (select b.passages from bases b where b.id = p_base);
begin
  return query
  with asked as materialized (
    select a.term, min(a.place)::int as place,
      exists (select from posting_lists t where t.base_id = p_base and t.term = a.term) as held
    from unnest(p_terms) with ordinality a (term, place) group by a.term
  ), meant as (
    select a.place, a.term from asked a
    union
    select a.place, s.term from asked a
    join jsonb_to_recordset(p_spellings) x (term text, beginnings text[], pattern text) on x.term = a.term
    cross join lateral similar_terms(p_base, a.term, x.beginnings, x.pattern) s
    where not a.held
  ), range as (
    select m.place, m.term, r.low, case when r.low = m.term and not is_word(m.term) then m.term || chr(1)
      else r.low || chr(1114111) end as high
    from meant m cross join lateral (select case when is_word(m.term) then left(m.term, 5) else m.term end) r (low)
  ), counted as (
    select r.*, c.*, row_number() over (partition by r.low order by c.own desc, r.place) = 1 as leads
    from range r cross join lateral count_postings(p_base, r.term, r.low, r.high, p_hidden) c
    where c.around > 0
  )
  select c.place, c.term, c.low, c.high,
    (case when is_word(c.term) then 1 - prefix_share() else 1 end) * rarity(c.own, total),
    case when is_word(c.term) and c.leads then prefix_share() else 0 end * rarity(c.around, total),
    c.around, c.said, c.firsts, c.firsts_said, c.reached
  from counted c order by c.around, c.place, c.term;
end $$;
comment on function baza_internal.weigh_terms is
  'The weight (rarity) of each term of a question in this base, and the range of the index that holds the '
  'term and its relatives, with the numbers of its postings; the rarest first. A term that the base does not hold is '
  'looked up in other spellings.';

create or replace function baza_internal.score_postings(p_base uuid, p_words weighed_term[], p_after bigint, p_hidden bigint[], p_allowed bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  half_at constant double precision := half_per_term(p_base);
  all_shown constant boolean := p_hidden = '{}';
  every constant int := 2147483647; -- rows; as an optimisation fence as good as "offset 0", but for an unknown limit
  -- the planner expects a tenth of the rows, and makes hash tables that fit the cache
begin
  return query
  select f.chunk_id, f.score
  from (
    -- Nearly every posting is the only one of its passage with its prefix: then one fraction serves the term and the
    -- prefix.
    select h.chunk_id, sum(
      case when h.term <> w.term then w.wide * bm25(h.around, h.half)
        when h.own = h.around then (w.own + w.wide) * bm25(h.own, h.half)
        else w.own * bm25(h.own, h.half) + w.wide * bm25(h.around, h.half)
      end) as score
    from (select u.term, u.low, u.high, u.own, u.wide from unnest(p_words) u offset 0) w
    cross join lateral (
      select x.chunk_id, x.term, half_frequency(x.length, half_at) as half,
        in_all(x.frequency, x.titled, half_frequency(x.length, half_at)) as own,
        in_all(x.around, x.around_titled, half_frequency(x.length, half_at)) as around
      from chunk_terms x
      where x.base_id = p_base and x.term >= w.low collate "C" and x.term < w.high collate "C"
        and x.run >= p_after >> 8 and x.chunk_id > p_after limit every) h
    group by h.chunk_id offset 0) f
  where (all_shown or f.chunk_id not in (select unnest(p_hidden)))
    and (p_allowed is null or f.chunk_id in (select unnest(p_allowed)))
  order by f.score desc, f.chunk_id limit p_limit;
end $$;
comment on function baza_internal.score_postings is
  'The best passages after `p_after`, by all postings of the ranges of these words.';

create or replace function baza_internal.search_postings(p_base uuid, p_words weighed_term[],
  p_share double precision, p_after bigint, p_hidden bigint[], p_allowed bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  readable constant int := 10000; -- postings that one search reads in full, beginning with the rarest word
  longest constant bigint := ( -- postings of a word other than the rarest; reading all of «cloud» outweighed the rest
    select case when p_share < 1 then 15000 else least(15000, greatest(1000, b.passages / 2)) end
    from bases b where b.id = p_base);
  looked_through constant int := greatest(10 * p_limit, 300); -- candidates that get a full score when words are left
  half_at constant double precision := half_per_term(p_base);
  few weighed_term[]; -- the words that are read; the `frequent` are looked up by key for the candidates found
  frequent weighed_term[];
begin
  select array_agg(p_words[w.nth]) filter (where not w.many), array_agg(p_words[w.nth]) filter (where w.many)
  into few, frequent
  from (
    select u.ordinality as nth, p_share * (sum(u.postings) over (order by u.ordinality) - u.postings) > readable
      or (p_share * u.postings > longest and u.ordinality > 1) as many
    from unnest(p_words) with ordinality u) w;
  return query
  with found as materialized (
    select * from score_postings(p_base, few, p_after, p_hidden, p_allowed,
      case when frequent is null then p_limit else looked_through end)
  )
  -- Summed, not joined: the planner would compare each passage found with each that has a frequent word.
  select u.chunk_id, sum(u.score) as score
  from (
    select found.chunk_id, found.score from found
    union all -- all passages at once for each term: one by one takes nearly twice as long
    select x.chunk_id, (w.own + w.wide) * bm25(x.own, x.half)
    from unnest(frequent) w
    cross join lateral (
      select x.chunk_id, half_frequency(x.length, half_at) as half,
        in_all(x.frequency, x.titled, half_frequency(x.length, half_at)) as own
      from chunk_terms x
      where x.base_id = p_base and x.term = w.term collate "C"
        and x.run = any (array(select distinct found.chunk_id >> 8 from found))
        and x.chunk_id in (select found.chunk_id from found) offset 0) x) u
  group by u.chunk_id order by score desc, u.chunk_id limit p_limit;
end $$;
comment on function baza_internal.search_postings is
  'The best passages after `p_after` by weighed terms, the rarest first, with the number of postings each '
  'has in the whole base. `p_share` is the part of them that has to be read; terms that are too frequent even then are '
  'looked up for what the others have found.';

create or replace function baza_internal.search_terms(p_base uuid, p_terms text[], p_spellings jsonb,
  p_within uuid[], p_limit int)
returns table (chunk_id bigint, score double precision, rarities double precision[], inherited double precision[])
language plpgsql stable rows 30 set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  total constant int := (select b.passages from bases b where b.id = p_base);
  passed_over constant double precision := 0.03; -- of reading a posting: to skip one in segments, before PostgreSQL 18
  hidden constant bigint[] := array(
    select c.id from hidden_documents h join documents_chunks c on c.document_id = h.id where h.base_id = p_base);
  allowed constant bigint[] := case when p_within is not null then array(
    select c.id from documents_chunks c where c.base_id = p_base and c.document_id = any (p_within)) end;
  in_segments constant bigint := coalesce(case when p_within is null then in_segments_up_to(p_base) end, 0);
  share constant double precision := case when in_segments = 0 then 1
    else greatest(share_outside_segments(p_base), passed_over) end;
  renamed constant bigint[] := case when in_segments > 0 then array(
    select c.id from renamed_documents r join documents_chunks c on c.document_id = r.document_id
    where r.base_id = p_base and c.id <= in_segments) else '{}' end;
  words constant weighed_term[] := array(select w from weigh_terms(p_base, p_terms, p_spellings, hidden) w);
  rarities constant double precision[] := array(
    select coalesce(max(w.own + w.wide), rarity(1, total))
    from unnest(p_terms) with ordinality t (term, place) left join unnest(words) w on w.place = t.place
    group by t.place order by t.place);
  keys text[]; -- of the words and their prefixes in segments
  highest double precision;
begin
  select array_agg(w.term) || array_agg(w.low || '*') filter (where w.wide > 0), 2.2 * sum(w.own + w.wide)
  into keys, highest from unnest(words) w;
  return query
  with plain as (
    select * from search_postings(p_base, words, share, in_segments, hidden, allowed, p_limit)
    union all
    select * from search_postings(p_base, words, 1, 0, hidden, renamed, p_limit) where renamed <> '{}'
    union all
    select * from search_posting_segments(p_base, keys, highest, hidden || renamed, p_limit) where in_segments > 0
  ), inside as (
    select * from search_chosen(p_base, cardinality(p_terms), words, p_limit) where p_within is null
  )
  select chunk_id, greatest(plain.score, inside.score) as score, rarities, inside.inherited
  from plain full join inside using (chunk_id)
  order by score desc, chunk_id limit p_limit;
end $$;
comment on function baza_internal.search_terms is
  'Passages by BM25 over the postings of the base; a repeated term counts once. `rarities` is the weight of '
  'each term of the question, the same in every row: of one that no passage holds that of a word in one passage; '
  '`inherited` is explained at `search_chosen`.';

select baza_internal.record_function_file('term_search', '4cca13e01a7b07f5a226a11cc78bbe9f');
reset check_function_bodies;

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

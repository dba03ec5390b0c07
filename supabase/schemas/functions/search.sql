create or replace view passages with (security_invoker = true) as
select c.id as chunk_id, c.base_id, c.document_id, c.ordinal, d.title, d.source_type, d.known_as as source_identifier,
  c.text, c.locator, d.published_at, d.source_url as url, d.author,
  d.sender, d.status as document_status, d.chunks as searchable, d.progress_total,
  case when c.ordinal > 0 then head.opening end as opening
from documents_chunks c join documents d on d.id = c.document_id left join lateral (
  select left(x.text, 400) as opening from documents_chunks x where x.document_id = c.document_id and x.ordinal = 0
  offset 0) head on true
where d.visible;
comment on view passages is
  'Searchable passages: the chunks of ready documents, and of those being read as far as they are stored, with what a '
  'citation needs. Of the `progress_total` passages that a document will have, `searchable` are there.';

create or replace view hidden_documents with (security_invoker = true) as
select d.id, d.base_id from documents d
where d.chunks > 0 and not d.visible;
comment on view hidden_documents is
  'Documents whose chunks must not be found. There are mostly none, so that excluding them costs less than checking '
  'for each chunk whether its document is visible.';

-- Search in one base, by vector and by words at once. In: a base, a query vector, terms, a filter. Out: passages.
-- Reads one snapshot, so that a publication is found whole or not at all. Planned once per connection, like what it
-- calls (`force_generic_plan`): planning anew for the values of each question took up to a third of a search by vector.

create or replace function baza_internal.folded(p_name text) returns text
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select translate(lower(p_name), 'ё', 'е') $$;
comment on function baza_internal.folded is 'A name in lower case, with е for ё, as people type it.';

create or replace function baza_internal.matching_documents(p_base uuid, p_filter jsonb) returns uuid[]
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select case when p_filter is not null then array(
    select d.id from documents d
    where d.base_id = p_base and d.visible
      and (p_filter -> 'documents' is null or p_filter -> 'documents' ? d.id::text)
      and (p_filter -> 'types' is null or p_filter -> 'types' ? d.source_type)
      and (p_filter -> 'media' is null or p_filter -> 'media' ? d.medium)
      and (p_filter ->> 'sender' is null or strpos(folded(d.sender), folded(p_filter ->> 'sender')) > 0)
      and (p_filter -> 'sent_by' is null or d.user_id = (p_filter ->> 'sent_by')::bigint)
      and (p_filter ->> 'author' is null
        or strpos(folded(coalesce(d.author, d.sender)), folded(p_filter ->> 'author')) > 0)
      and exists (
        select from unnest(array[d.published_at, d.created_at]) as dated (at)
        where (p_filter ->> 'since' is null or at >= (p_filter ->> 'since')::timestamptz)
          and (p_filter ->> 'before' is null or at < (p_filter ->> 'before')::timestamptz))
  ) end
$$;
comment on function baza_internal.matching_documents is
  'The documents of the base that pass a filter; null where there is no filter. Either the document''s own '
  'date or the date when it was sent has to be within since and before: «приказы 2024 года», «что присылали в мае». A '
  'document without an author, such as a note, counts as written by its sender.';

create or replace function search(p_base text, p_embedding halfvec[], p_model text, p_terms text[], p_spellings text,
  p_filter text,
  p_limit int, p_near bigint[] default null, p_near_segment text default null, p_near_row bigint default null,
  p_by_vector boolean default true, p_person bigint default null)
returns table (chunk_id bigint, document_id uuid, ordinal int, title text, source_type text, source_identifier text,
  text text, locator jsonb, published_at timestamptz, url text, author text, sender text,
  document_status text, searchable int, progress_total int, similarity double precision, bm25 double precision,
  rarities double precision[], inherited double precision[], opening text, as_of text)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  as_of constant text := (select b.xmin::text from bases b where b.id = p_base::uuid);
  within constant uuid[] := case when p_filter is not null then matching_documents(p_base::uuid, p_filter::jsonb) end;
  query_vector constant halfvec := p_embedding[1];
begin
  perform require(p_base, p_person, 'read');
  if within = '{}' then -- no document fits
    return;
  end if;
  return query
  with found as (
    select chunk_id, near.distance, words.score, words.rarities, words.inherited
    from search_vectors(p_base::uuid, case when p_by_vector then query_vector end, p_model, within, p_limit, p_near,
      p_near_segment, p_near_row) near
    full join (
      select * from search_terms(p_base::uuid, p_terms, p_spellings::jsonb, within, p_limit)
      where cardinality(p_terms) > 0) words using (chunk_id) -- without terms it is not even called
  )
  select c.id, c.document_id, c.ordinal, d.title, d.source_type, d.known_as, c.text, c.locator, d.published_at,
    d.source_url, d.author, d.sender, d.status, d.chunks, d.progress_total,
    case when c.model = p_model then -- NaN: a vector of zeros
      nullif(1 - coalesce(found.distance, c.embedding <=> query_vector), 'NaN') end,
    found.score, found.rarities, found.inherited, case when c.ordinal > 0 then head.opening end, as_of
  from found
  -- "offset 0": each row is looked up by key. Without statistics the planner expects one row and would read the whole
  -- base again, which takes longer than the search did; the same with a few hundred documents.
  cross join lateral (select * from documents_chunks x where x.id = found.chunk_id offset 0) c
  cross join lateral (select * from documents x where x.id = c.document_id offset 0) d
  left join lateral (
    select left(x.text, 400) as opening from documents_chunks x where x.document_id = c.document_id and x.ordinal = 0
    offset 0) head on true
  where c.base_id = p_base::uuid and d.visible;
end $$;
comment on function search is
  'Up to `p_limit` passages of each leg (vector, words), each passage once. `similarity` (cosine) is there for all '
  'that the vector can be compared with, `bm25` for those that the words found, with the weight of each term of the '
  'question in `rarities` and what it is `inherited` (see `search_chosen`), `opening` how the document of a later '
  'passage begins. A leg without vector or terms is left out, that of the vector also where it serves `similarity` '
  'alone (not `p_by_vector`). Calls with the same `as_of` see the same documents: who adds or removes any changes the '
  'counts of its base. `p_near` are candidates from a copy of the segment `p_near_segment` up to its place '
  '`p_near_row`; like all others they are looked up in this base alone.';

create or replace function passage(p_base text, p_chunk bigint, p_person bigint default null)
returns setof passages
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select * from passages p where p.base_id = p_base::uuid and p.chunk_id = p_chunk
$$;
comment on function passage is 'One passage of this base, or none.';

create or replace function holds_documents(p_base text, p_person bigint default null)
returns table (base_id uuid, holds boolean)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select b.id, b.passages > 0 from bases b where b.id = p_base::uuid
$$;
comment on function holds_documents is 'Whether the base has any searchable passage.';

-- Reading a document through, passage by passage. In: a base, a document, where to begin. Out: rows of `passages`.

create or replace function read_passages(p_base text, p_document text, p_after int, p_limit int,
  p_person bigint default null)
returns setof passages
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select * from passages p
  where p.base_id = p_base::uuid and p.document_id = p_document::uuid and p.ordinal > p_after
  order by p.ordinal limit p_limit
$$;
comment on function read_passages is
  'Passages of a document in reading order, after an ordinal; none when the base does not hold the document.';

create or replace function find_documents(p_base text, p_terms text[], p_spellings text, p_limit int,
  p_person bigint default null)
returns table (id uuid, title text, file_name text, source_type text, published_at timestamptz, pages int,
  passages int, score double precision, opening text)
language plpgsql stable security invoker set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  looked_into constant int := 200; -- passages; a long document has many good ones
begin
  perform require(p_base, p_person, 'read');
  return query
  select d.id, d.title, d.known_as, d.source_type, d.published_at, d.pages, d.chunks, best.score,
    coalesce((select left(x.text, 400) from documents_chunks x where x.document_id = d.id and x.ordinal = 0), '')
  from (
    select c.document_id, max(found.score) as score
    from search_terms(p_base::uuid, p_terms, p_spellings::jsonb, null, looked_into) found
    cross join lateral (select * from documents_chunks x where x.id = found.chunk_id offset 0) c
    group by c.document_id) best
  cross join lateral (select * from documents x where x.id = best.document_id offset 0) d
  where d.base_id = p_base::uuid and d.visible
  order by best.score desc, d.id limit p_limit;
end $$;
comment on function find_documents is
  'The documents that these terms choose, by their best passage, each with how it begins; `passages` is how many of '
  'theirs can be found.';

create or replace function documents_saying_first(p_base text, p_terms text[], p_limit int, p_offset int default 0,
  p_person bigint default null)
returns table (id uuid, title text, file_name text, source_type text, published_at timestamptz, pages int,
  passages int, score double precision, opening text)
language plpgsql stable security invoker set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  perform require(p_base, p_person, 'read');
  return query
  with first as materialized (
    select x.chunk_id from unnest(p_terms) u (term) cross join lateral (
      select t.chunk_id from chunk_terms t
      where t.base_id = p_base::uuid and t.term = u.term collate "C" and t.spread > 0 offset 0) x
    group by x.chunk_id having count(*) = cardinality(p_terms)
  )
  select d.id, d.title, d.known_as, d.source_type, d.published_at, d.pages, d.chunks, 0::double precision,
    left(c.text, 400)
  from first
  cross join lateral (select * from documents_chunks x where x.id = first.chunk_id offset 0) c
  cross join lateral (select * from documents x where x.id = c.document_id offset 0) d
  where d.base_id = p_base::uuid and d.visible
  order by d.id limit p_limit offset p_offset;
end $$;
comment on function documents_saying_first is
  'The documents that have all of these terms (each given once) in their first passage or in their names, by id; '
  '`opening` is how the text begins, with its lines. Every one is found: for counting.';

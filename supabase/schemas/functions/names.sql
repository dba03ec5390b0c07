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

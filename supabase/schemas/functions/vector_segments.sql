-- Segments: the binary-quantised vectors of a large base, in a table of its own (vector_search.sql searches them).
-- In: bases that have grown. Out: `vector_segments` and tables in the schema `segments`. Workers make them in the
-- background, from ready documents, whose passages no longer change. Nobody who writes or searches waits for it.
-- `ensure_vector_segments` is a security definer, because only the owner of a schema may create tables in it.

create or replace function baza_internal.vector_segment_wanted()
returns table (base_id uuid, segment text, present bigint, in_segment bigint, outside bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select b.id, s.name, b.passages, s.passages, late.passages
  from bases b left join vector_segments s on s.base_id = b.id
  cross join lateral (
    select coalesce(sum(d.chunks), 0)::bigint as passages
    from documents d -- only of bases that have a segment: the documents of small bases are never read here
    where s.base_id is not null and d.base_id = b.id and d.status = 'ready' and d.chunks > 0 and not d.in_segment) late
  where case when s.base_id is null then b.passages > exact_scan_limit()
    else late.passages > exact_scan_limit() / 4 or s.passages > 1.25 * b.passages end
  order by b.passages desc limit 1
$$;
comment on function baza_internal.vector_segment_wanted is
  'A large base without a segment, or one whose segment is outdated: more than a few ready passages are not in '
  'it, or many that are in it were removed.';

create or replace function baza_internal.segment_thresholds(p_base uuid, p_model text) returns halfvec[]
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with sampled as materialized ( -- an even sample: the ids of documents are random
    select c.embedding
    from (select d.id from documents d where d.base_id = p_base and d.chunks > 0 order by d.id limit 5000) d
    cross join lateral (select * from documents_chunks x where x.document_id = d.id offset 0) c
    where c.model = p_model and c.embedding is not null
      and c.ordinal % (1 + (select b.passages / 5000 from bases b where b.id = p_base)) = 0
    limit 5000
  ), shape as (
    select w.width, (select avg(embedding) from sampled) as middle
    from (select coalesce(max(u.place), 1)::int as width
      from (select embedding from sampled limit 100) s
      cross join unnest(s.embedding::real[]) with ordinality u (number, place) where u.number <> 0) w
  ), spread as (
    select sqrt(avg((s.embedding <-> shape.middle) ^ 2) / min(shape.width)) as one from sampled s cross join shape
  )
  select coalesce(array_agg(subvector(shape.middle, 1, shape.width)
    + array_fill((cut * spread.one)::real, array[shape.width])::halfvec order by cut)
    filter (where shape.middle is not null), '{}')
  from shape cross join spread cross join unnest(case
    when shape.width >= 1000 then '{0}'
    when shape.width >= 500 then '{-0.43, 0.43}'
    when shape.width >= 340 then '{-0.67, 0, 0.67}'
    else '{-0.84, -0.25, 0.25, 0.84}' end::double precision[]) cut
$$;
comment on function baza_internal.segment_thresholds is
  'The thresholds that cut the numbers of a vector into bits: their mean in this base (vectors of many models '
  'lean to one side); for a narrow model more thresholds, so that a vector has a thousand bits: these divide a normal '
  'distribution into equal shares. Empty where no passage has a vector.';

create or replace function baza_internal.new_vector_segment(p_base uuid, p_model text) returns text
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  segment constant text := 'segment_' || replace(gen_random_uuid()::text, '-', '');
  cuts constant halfvec[] := segment_thresholds(p_base, p_model);
  bits constant int := (select coalesce(sum(vector_dims(threshold)), 1) from unnest(cuts) threshold);
begin
  execute format('create table segments.%I (document_id uuid not null, chunks bigint[] not null, %s, '
    'place bigint generated always as identity primary key)', segment,
    (select string_agg(format('b%s bit(%s)', n, bits), ', ') from generate_series(1, 10) n));
  execute format('alter table segments.%I alter column chunks set storage plain, %s', segment,
    (select string_agg(format('alter column b%s set storage plain', n), ', ') from generate_series(1, 10) n));
  execute format('alter table segments.%I enable row level security', segment);
  if exists (select from pg_roles where rolname = 'service_role') then
    execute format('grant select on segments.%I to service_role', segment);
  end if;
  update documents d set in_segment = false where d.base_id = p_base and d.in_segment;
  insert into vector_segments (base_id, name, model, thresholds, passages) values (p_base, segment, p_model, cuts, 0)
  on conflict (base_id) do update
  set name = excluded.name, model = excluded.model, thresholds = excluded.thresholds, passages = 0, last_row = 0;
  return segment;
end $$;
comment on function baza_internal.new_vector_segment is
  'An empty segment for a base in place of an earlier one, whose table stays for those who are reading it. A '
  'row holds ten passages of one document, since reading a row costs as much as comparing five.';

create or replace function baza_internal.fill_vector_segment(p_base uuid, p_segment text, p_rows bigint) returns bigint
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  taken constant uuid[] := array(
    select t.id from (
      select d.id, sum(d.chunks) over (order by d.id) - d.chunks as before from documents d
      where d.base_id = p_base and d.status = 'ready' and d.chunks > 0 and not d.in_segment) t
    where t.before < p_rows);
  written bigint;
  last bigint;
begin
  execute format(
    'with read as (select c.document_id, array_agg(c.id) as chunks, '
    '    array_agg(quantised(c.embedding, s.thresholds)) as bits '
    '  from vector_segments s, unnest($1) t (id) '
    '  cross join lateral (select * from documents_chunks x where x.document_id = t.id order by x.ordinal) c '
    '  where s.name = $2 and c.base_id = s.base_id and c.model = s.model and c.embedding is not null '
    '  group by c.document_id, c.ordinal / 10), '
    'written as (insert into segments.%I select document_id, chunks, %s from read '
    '  returning cardinality(chunks) as passages, place) '
    'select coalesce(sum(passages), 0), max(place) from written', p_segment,
    (select string_agg(format('bits[%s]', n), ', ') from generate_series(1, 10) n))
  into written, last using taken, p_segment;
  update documents d set in_segment = true where d.id = any (taken) and d.status = 'ready';
  update vector_segments s set passages = s.passages + written, last_row = greatest(s.last_row, last)
  where s.name = p_segment;
  return written;
end $$;
comment on function baza_internal.fill_vector_segment is
  'Puts ready documents that are not there yet into a segment, about `p_rows` passages of them.';

create or replace function baza_internal.clear_vector_segment(p_segment text) returns bigint
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  gone uuid[];
  freed bigint;
begin
  execute format(
    'with left_over as (delete from segments.%I s '
    '  where not exists (select from documents d where d.id = s.document_id and d.visible) '
    '  returning s.document_id, cardinality(s.chunks) as passages) '
    'select coalesce(array_agg(distinct document_id), ''{}''), coalesce(sum(passages), 0) from left_over', p_segment)
  into gone, freed;
  update documents d set in_segment = false where d.id = any (gone);
  update vector_segments s set passages = s.passages - freed where s.name = p_segment;
  return freed;
end $$;
comment on function baza_internal.clear_vector_segment is 'Removes from a segment what is no longer searchable.';

create or replace function baza_internal.drop_old_vector_segments() returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  unused text;
begin
  for unused in
    select c.relname from pg_class c
    where c.relnamespace = 'segments'::regnamespace and c.relkind = 'r'
      and not exists (select from vector_segments s where s.name = c.relname)
  loop
    execute format('drop table segments.%I', unused);
  end loop;
end $$;
comment on function baza_internal.drop_old_vector_segments is 'Drops the tables that no base refers to any longer.';

create or replace function ensure_vector_segments()
returns table (base_id uuid, in_segment bigint)
language plpgsql security definer set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  step constant bigint := 10000; -- passages, quantised and stored in about a second
  wanted record;
begin
  if not pg_try_advisory_xact_lock(hashtext('vector_segments')) then -- another worker is at it
    return;
  end if;
  perform drop_old_vector_segments();
  select * into wanted from vector_segment_wanted();
  if not found then
    return;
  elsif wanted.present <= exact_scan_limit() then
    delete from vector_segments s where s.base_id = wanted.base_id;
    return query select wanted.base_id, 0::bigint;
    return;
  elsif wanted.in_segment > 1.25 * wanted.present then
    perform clear_vector_segment(wanted.segment);
  elsif wanted.segment is null then
    wanted.segment := new_vector_segment(wanted.base_id, (
      select c.model from documents_chunks c where c.base_id = wanted.base_id
      group by c.model order by count(*) desc limit 1));
  end if;
  return query select wanted.base_id, fill_vector_segment(wanted.base_id, wanted.segment, step);
end $$;
comment on function ensure_vector_segments is
  'One step of about a second for the segment that needs it most; to be called until no row comes back. Search is '
  'complete at any time. Security definer, because only the owner of a schema may create tables in it.';

-- Copies of segments, for a process that answers many questions: PostgreSQL compares the bits of a vector in some
-- ninety nanoseconds, one call each; an array of them in memory takes twenty (docs/decisions.md). In: nothing, or what
-- is held already. Out: which segments there are, and their rows. What a copy finds is only a proposal: `search` checks
-- it in the base that asks, and knows whether the copy is complete.

create or replace function list_vector_segments(p_bytes bigint, p_known text[])
returns table (base_id uuid, name text, model text, thresholds jsonb, passages bigint, last_row bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select s.base_id, s.name, s.model,
    case when s.name = any (p_known) then '[]'
      else (select jsonb_agg(to_jsonb(threshold::real[])) from unnest(s.thresholds) threshold) end, s.passages, s.last_row
  from (
    select x.*, sum(x.passages * (8 + (select sum(vector_dims(threshold)) / 8 from unnest(x.thresholds) threshold)))
      over (order by x.passages, x.name) as bytes
    from vector_segments x where x.last_row > 0 and x.thresholds <> '{}') s
  where s.bytes <= p_bytes
  order by s.passages, s.name
$$;
comment on function list_vector_segments is
  'The segments whose copies together take up to `p_bytes`, an id and the bits of each passage; the smallest first, so '
  'that as many bases as possible have one. The thresholds of known segments are left out: they never change.';

create or replace function read_vector_segment(p_base text, p_segment text, p_after bigint, p_limit int,
  p_person bigint default null)
returns table (last bigint, passages bigint[], bits text)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform require(p_base, p_person, 'read');
  if exists (select from vector_segments s where s.base_id = p_base::uuid and s.name = p_segment) then
    return query execute format(
      'select max(u.place), array_agg(u.chunk order by u.place, u.nth), '
      '  translate(encode(string_agg(u.bytes, '''' order by u.place, u.nth), ''base64''), e''\n'', '''') '
      'from (select r.place, x.chunk, substring(bit_send(x.bits) from 5) as bytes, x.nth '
      '  from (select * from segments.%I where place > $1 order by place limit $2) r '
      '  cross join unnest(r.chunks, array[%s]) with ordinality x (chunk, bits, nth) where x.chunk is not null) u '
      'having count(*) > 0', p_segment,
      (select string_agg(format('r.b%s', n), ', ') from generate_series(1, 10) n))
    using p_after, p_limit;
  end if;
end $$;
comment on function read_vector_segment is
  'One row for up to `p_limit` rows of a segment after the place `p_after`: the place of the last one, the passages, '
  'and '
  'their bits one after the other, each padded to whole bytes (`bit_send`); no row at the end.';

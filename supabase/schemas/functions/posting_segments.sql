-- Blocks: the weight of each term in each passage of a large base, stored as vectors, which pgvector adds up. In: bases
-- that have grown. Out: `blocks` and `block_terms`, and the search in them (term_search.sql calls it). Workers make them in the
-- background, eight thousand passages a block; nobody who writes or searches waits for it. A passage that is in no
-- block yet is found by its postings. Grouping postings by passage costs PostgreSQL nearly a microsecond each; adding a
-- vector of 8,000 numbers to another costs four, however many of them are zero. So no word is too frequent to be read.

create or replace function baza_internal.block_size() returns int
language sql immutable security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$ select 8000 $$;
comment on function baza_internal.block_size is 'Passages in a block; a vector has at most 16,000 numbers.';

create or replace function baza_internal.blocked_up_to(p_base uuid) returns bigint
language sql stable security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$
  select max(b.last) from blocks b where b.base_id = p_base and not b.emptied
$$;
comment on function baza_internal.blocked_up_to is 'The last passage that is in a block; null where there is none.';

create or replace function baza_internal.unblocked_share(p_base uuid) returns double precision
language sql stable security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$
  select least(greatest(b.passages - k.passages, block_size())::double precision / greatest(b.passages, 1), 1)
  from bases b cross join lateral (
    select coalesce(sum(k.passages), 0) as passages from blocks k where k.base_id = p_base and not k.emptied) k
  where b.id = p_base
$$;
comment on function baza_internal.unblocked_share is
  'The share of the passages of a base that are in no block; at least one block, since some may be removed.';

create or replace function baza_internal.writing_key(p_base uuid) returns bigint
language sql immutable security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$ select hashtextextended('passages of ' || p_base, 0) $$;
comment on function baza_internal.writing_key is
  'The key of the advisory lock that writers of passages and postings in a base hold, shared.';

create or replace function baza_internal.begin_writing(p_base uuid) returns void
language sql security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$ select pg_advisory_xact_lock_shared(writing_key(p_base)) $$;
comment on function baza_internal.begin_writing is
  'Must be called before the id of a passage is assigned. It blocks nobody; the lock shows in `writers_in` '
  'until the transaction ends.';

create or replace function baza_internal.writers_in(p_base uuid) returns text[]
language sql security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$
  select coalesce(array_agg(l.virtualtransaction), '{}') from pg_locks l
  where l.locktype = 'advisory' and (l.classid::bigint << 32 | l.objid::bigint) = writing_key(p_base)
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
$$;
comment on function baza_internal.writers_in is
  'The transactions that are writing passages in a base at this moment, not those that write in other bases.';

create or replace function baza_internal.leave_blocks(p_held documents) returns void
language sql security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$
  select begin_writing(p_held.base_id);
  insert into renamed_documents (document_id, base_id)
  select p_held.id, b.id from bases b
  where b.id = p_held.base_id and (b.passages > counted_passages() or blocked_up_to(b.id) is not null
    or exists (select from block_plans p where p.base_id = b.id))
  on conflict do nothing
$$;
comment on function baza_internal.leave_blocks is
  'Notes that the postings of a document change, which may be in a block or in one that is being made.';

create or replace function baza_internal.add_block(p_base uuid, p_up_to bigint) returns void
language plpgsql security invoker set search_path = public, baza_internal, extensions, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off
set enable_mergejoin = off set work_mem = '64MB' -- sorting postings by term would take a third of the time
as $$
declare
  many constant int := 1000; -- postings; terms that have more stand in `common_terms`
  next constant int := (select coalesce(max(b.number) + 1, 0) from blocks b where b.base_id = p_base);
  size constant int := block_size();
  total constant bigint := (select b.passages from bases b where b.id = p_base);
  average constant double precision := (
    select greatest(b.terms, 1)::double precision / greatest(b.passages, 1) from bases b where b.id = p_base);
  members constant bigint[] := array(
    select c.id from documents_chunks c
    where c.base_id = p_base and c.id > coalesce(blocked_up_to(p_base), 0) and c.id <= p_up_to order by c.id limit size);
begin
  insert into blocks (base_id, number, passages, last, of)
  values (p_base, next, cardinality(members), coalesce(members[size], p_up_to), total);
  insert into block_places (base_id, number, place, chunk_id)
  select p_base, next, m.place, m.chunk from unnest(members) with ordinality m (chunk, place);
  insert into block_terms (base_id, term, number, worth)
  with posting as materialized (
    select t.term, left(t.term, 5) as low, m.place, greatest(t.length, 16) as length, t.frequency, t.titled::int as titled,
      t.around, t.around_titled::int as around_titled
    from unnest(members) with ordinality m (chunk, place)
    -- By the passage alone: without statistics the planner would read all postings of the base for each passage.
    cross join lateral (select * from chunk_terms x where x.chunk_id = m.chunk offset 0) t
    where t.base_id = p_base
  ), given as ( -- as `score_postings` has it
    select p.term, p.place, p.frequency * average / p.length + p.titled * 0.5 as weight from posting p
    union all
    select p.low || '*', p.place, p.around * average / p.length + p.around_titled * 0.5 from posting p
    where p.around > 0 or p.around_titled > 0
  ), asked as (
    select p.term, p.term as low, p.term || chr(1) as high from posting p group by p.term
    union all -- "offset 0": `is_word` is called for each prefix once, not for each posting
    select p.low || '*', p.low, p.low || chr(1114111) from (select distinct p.low from posting p offset 0) p
    where is_word(p.low)
  ), weighed as materialized ( -- as `weigh_terms` has it
    select a.term, case when is_word(a.low) then 0.5 else 1 end -- half for the term, half for its prefix
        * ln(1 + (greatest(total - counted.postings, 0) + 0.5::float) / (counted.postings + 0.5)) as weight
    from asked a left join common_terms common on common.base_id = p_base and common.term = a.term
    cross join lateral (
      select coalesce(common.postings, (
        select count(*) from (
          select from chunk_terms t where t.base_id = p_base and t.term >= a.low collate "C"
            and t.term < a.high collate "C" limit many) t)) as postings offset 0) counted
  )
  select p_base, g.term, next,
    ('{' || string_agg(g.place || ':' || (w.weight * 2.2 * g.weight / (g.weight + 1.2))::real, ',')
      || '}/' || size)::sparsevec
  from given g join weighed w using (term) group by g.term;
end $$;
comment on function baza_internal.add_block is 'Puts the next passages of a base, up to a given one, into a block.';

create or replace function baza_internal.block_wanted()
returns table (base_id uuid, worn boolean, up_to bigint, writers text[])
language sql stable security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$
  select b.id, worn.out, p.up_to, p.writers
  from bases b left join block_plans p on p.base_id = b.id
  cross join lateral (
    select coalesce(sum(k.passages), 0) as passages, coalesce(max(k.last), 0) as last, min(k.of) as least,
      bool_or(k.emptied) as emptied
    from blocks k where k.base_id = b.id) placed
  cross join lateral (
    select count(*) as passages from (
      select from documents_chunks c where c.base_id = b.id and c.id > placed.last
        and (b.passages > counted_passages() or placed.passages > 0) order by c.id limit block_size()) c) late
  cross join lateral ( -- their passages are in blocks, too
    select coalesce(sum(d.chunks), 0) as passages from hidden_documents h join documents d on d.id = h.id
    where h.base_id = b.id) hidden
  cross join lateral (
    select coalesce(sum(d.chunks), 0) as passages from renamed_documents r join documents d on d.id = r.document_id
    where r.base_id = b.id) renamed
  cross join lateral (
    select placed.passages > 0 and (placed.emptied or 1.25 * b.passages <= counted_passages()
      or b.passages > 1.5 * placed.least or placed.passages > 1.25 * (b.passages + hidden.passages - late.passages)
      or renamed.passages > 0.25 * placed.passages) as out) worn
  where worn.out or (b.passages > counted_passages() and late.passages = block_size())
  order by b.passages desc
$$;
comment on function baza_internal.block_wanted is
  'Large bases with enough passages for another block, and those whose blocks are `worn`: many of their '
  'passages were removed or renamed, or so many were added that term weights have changed.';

create or replace function ensure_term_blocks()
returns table (base_id uuid, number int)
language plpgsql security invoker set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '15min'
as $$
#variable_conflict use_column
declare
  wanted record;
begin
  if not pg_try_advisory_xact_lock(hashtext('block_terms')) then -- another worker is at it
    return;
  end if;
  for wanted in select * from block_wanted() loop
    if wanted.worn then
      delete from blocks b where b.base_id = wanted.base_id;
      delete from block_plans p where p.base_id = wanted.base_id;
      delete from renamed_documents r where r.base_id = wanted.base_id;
    elsif wanted.up_to is null then -- `writers_in` runs later: it sees all who hold ids up to `up_to` and still write
      insert into block_plans (base_id, up_to, writers)
      select wanted.base_id, max(c.id), writers_in(wanted.base_id)
      from (select c.id from documents_chunks c
        where c.base_id = wanted.base_id and c.id > coalesce(blocked_up_to(wanted.base_id), 0)
        order by c.id limit block_size()) c;
    elsif wanted.writers && writers_in(wanted.base_id) then
      continue;
    else
      perform add_block(wanted.base_id, wanted.up_to);
      delete from block_plans p where p.base_id = wanted.base_id;
    end if;
    return query select wanted.base_id, max(b.number) from blocks b where b.base_id = wanted.base_id;
    return;
  end loop;
end $$;
comment on function ensure_term_blocks is
  'One step of some seconds for the largest base that needs a block; to be called until no row comes back. Search is '
  'complete at any time.';

create or replace function baza_internal.even_vector(p_number real) returns vector
language plpgsql immutable parallel safe security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  numbers vector := array_fill(p_number, array[125])::vector; -- doubled: filled one by one it takes four times as long
begin
  while vector_dims(numbers) < block_size() loop
    numbers := numbers || numbers;
  end loop;
  return subvector(numbers, 1, block_size());
end $$;
comment on function baza_internal.even_vector is 'A vector as long as a block, the same number everywhere.';

create or replace function baza_internal.edge_above(p_sums vector[], p_wanted int, p_highest double precision) returns real
language plpgsql immutable security invoker set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  low real := 0; -- at least as many as wanted are above it, or there are no more
  high real := p_highest;
  edge real := 0;
  level vector;
  above bigint;
begin
  for step in 1 .. 20 loop
    level := even_vector(edge);
    above := (select sum(bit_count(binary_quantize(s - level))) from unnest(p_sums) s);
    if above >= p_wanted then
      low := edge;
    else
      high := edge;
    end if;
    exit when above between p_wanted and 3 * p_wanted or high <= 0;
    edge := (low + high) / 2;
  end loop;
  return low;
end $$;
comment on function baza_internal.edge_above is
  'By bisection, an edge with about as many sums above it as wanted, or somewhat more; 0 where there are '
  'fewer.';

create or replace function baza_internal.search_blocks(p_base uuid, p_terms text[], p_highest double precision, p_hidden bigint[], p_limit int)
returns table (chunk_id bigint, score double precision)
language plpgsql stable rows 30 security invoker set search_path = public, baza_internal, extensions, pg_temp set jit = off
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  wanted int := p_limit + p_limit / 2;
  edge real;
  chunks bigint[];
  scores double precision[];
begin
  loop
    with sums as materialized ( -- 32 kB each: gathered in arrays they would be copied again and again
      select t.number, sum(t.worth::vector) as worth
      from unnest(p_terms) w (term) -- "offset 0": looked up by key, also while the table has no statistics
      cross join lateral (select * from block_terms x where x.base_id = p_base and x.term = w.term offset 0) t
      group by t.number
    ), found as materialized ( -- one edge for all, by a quarter of the blocks, or six: by three it is often too high
      select edge_above(array_agg(s.worth), ceil(wanted * count(*)::real / max(of.blocks))::int, p_highest) as edge
      from sums s cross join (select count(*) as blocks from sums) of
      where s.number % least(4, greatest(1, of.blocks / 6)) = 0
    ), level as materialized (
      select f.edge, even_vector(f.edge) as even from found f
    ), above as ( -- 1 bits are above the edge: the bits as text, split at each 1; the lengths add up to the places
      select s.number, s.worth, z.place
      from sums s cross join level cross join lateral (
        select (sum(octet_length(z.zeros)) over (order by z.n) + z.n)::int as place
        from unnest(string_to_array(binary_quantize(s.worth - level.even)::text, '1')) with ordinality z (zeros, n)) z
      where z.place <= block_size()
    ), best as (
      select p.chunk_id, (subvector(a.worth, a.place, 1)::real[])[1]::double precision as score
      from above a cross join lateral (
        select * from block_places x where x.base_id = p_base and x.number = a.number and x.place = a.place offset 0) p
      where p.chunk_id not in (select unnest(p_hidden))
        and exists (select from documents_chunks c where c.id = p.chunk_id and c.base_id = p_base)
      order by score desc, p.chunk_id limit p_limit
    )
    select array_agg(best.chunk_id), array_agg(best.score), (select f.edge from found f) into chunks, scores, edge
    from best;
    exit when edge <= 0 or cardinality(chunks) >= p_limit;
    wanted := 4 * wanted;
  end loop;
  return query select * from unnest(chunks, scores);
end $$;
comment on function baza_internal.search_blocks is
  'The best passages that are in blocks, by the sums of the weights of their terms. Removed passages keep '
  'their places: where they took too many, a lower edge is sought.';

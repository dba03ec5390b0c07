-- What documents say of people, projects, organisations, places and technologies (seed 4, sections 5.1 and 7.1).
-- In: what a worker found in a ready document, under a lease of its own. Out: entities by the keys of their names, and
-- facts with the passages they stand in. Everything is deleted with the document that says it.
-- Locks are taken in one order: the document, its enrichment, `lock_entities`.

create or replace function baza_internal.lock_entities(p_base uuid)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('entities ' || p_base, 0))
$$;
comment on function baza_internal.lock_entities is
  'Serialises the writers of a base''s entities, so that none is removed for lack of mentions while another '
  'document adds one.';

create or replace function baza_internal.drop_unmentioned() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform lock_entities(g.base_id) from (select distinct o.base_id from old_rows o order by o.base_id) g;
  delete from entities e
  where e.id = any (array(select o.entity_id from old_rows o))
    and not exists (select from entity_mentions m where m.entity_id = e.id);
  return null;
end $$;
comment on function baza_internal.drop_unmentioned is
  'Removes an entity together with the last document that names it.';
create or replace trigger mentions_removed after delete on entity_mentions
  referencing old table as old_rows for each statement execute function baza_internal.drop_unmentioned();

create or replace function baza_internal.forget_entities(p_document uuid)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  delete from graph_facts f where f.document_id = p_document;
  delete from entity_aliases a where a.document_id = p_document;
  delete from entity_mentions m where m.document_id = p_document;
$$;
comment on function baza_internal.forget_entities is 'Removes what was read from a document.';

create or replace function baza_internal.await_enrichment() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  if new.status = 'ready' then
    insert into enrichments (document_id, base_id, turn)
    values (new.id, new.base_id, greatest(now(), (
      select max(e.turn) from enrichments e where e.base_id = new.base_id and e.finished_at is null and not e.again)
      + interval '30 seconds'))
    on conflict do nothing;
  else
    delete from enrichments e where e.document_id = new.id;
    perform forget_entities(new.id);
  end if;
  return null;
end $$;
comment on function baza_internal.await_enrichment is
  'Queues a document that became ready for enrichment; removes all facts of one that no longer is.';
create or replace trigger documents_enriched after update of status on documents
  for each row when ((old.status = 'ready') is distinct from (new.status = 'ready'))
  execute function baza_internal.await_enrichment();

create or replace function claim_enrichment(p_lease_s double precision, p_attempts int, p_only text default null)
returns table (document uuid, base_id uuid, lease uuid, attempt int, title text, language text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  its_id uuid;
begin
  update enrichments e set finished_at = now(), problem = 'no attempt came to an end'
  where e.finished_at is null and e.attempts >= p_attempts and e.lease_until <= now();
  select e.document_id into its_id from enrichments e
  where e.finished_at is null and e.run_after <= now() and (e.lease_until is null or e.lease_until <= now())
    and (p_only is null or (e.base_id = p_only::uuid and not e.again))
  order by e.again, e.turn limit 1 for update skip locked;
  return query
  update enrichments e
  set lease = gen_random_uuid(), lease_until = now() + make_interval(secs => p_lease_s), attempts = e.attempts + 1
  from documents d
  where e.document_id = its_id and d.id = its_id
  returning e.document_id, e.base_id, e.lease, e.attempts, d.title, d.language;
end $$;
comment on function claim_enrichment is
  'Leases to a worker the next ready document to read entities from, or one whose lease has expired; `p_only` asks for '
  'new documents of one base. Gives up what has ended none of `p_attempts` attempts.';

create or replace function unread_for_entities(p_base text, p_person bigint default null)
returns table (unread bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select count(*) from enrichments e where e.base_id = p_base::uuid and e.finished_at is null and not e.again
$$;
comment on function unread_for_entities is
  'How many ready documents of a base wait for their first reading of entities, or are being read.';

create or replace function read_again(p_reader text, p_limit int)
returns table (document_id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  with chosen as (
    select e.document_id from enrichments e
    where e.finished_at is not null and e.reader = p_reader
    order by e.turn limit p_limit for update skip locked
  )
  update enrichments e set again = true, finished_at = null, attempts = 0, run_after = now()
  from chosen c where e.document_id = c.document_id
  returning e.document_id
$$;
comment on function read_again is
  'Queues documents that this reader has read once more, behind all new ones, up to `p_limit` at a time. What is known '
  'of them stays until `store_entities` replaces it.';

create or replace function baza_internal.held_enrichment(p_document text, p_lease text)
returns enrichments
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held enrichments;
begin
  perform from documents d where d.id = p_document::uuid for key share;
  select * into held from enrichments e
  where e.document_id = p_document::uuid and e.lease = p_lease::uuid and e.finished_at is null
  for update;
  if not found then
    raise exception 'the lease of enrichment % is lost', p_document using errcode = 'BZ001';
  end if;
  return held;
end $$;
comment on function baza_internal.held_enrichment is
  'Locks an enrichment for the holder of its lease; raises BZ001 for anybody else.';

create or replace function renew_enrichment(p_document text, p_lease text, p_lease_s double precision)
returns table (document_id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant enrichments := held_enrichment(p_document, p_lease);
begin
  update enrichments e set lease_until = now() + make_interval(secs => p_lease_s)
  where e.document_id = held.document_id;
  return query select held.document_id;
end $$;
comment on function renew_enrichment is 'Extends the lease of an enrichment to that many seconds from now.';

create or replace function postpone_enrichment(p_document text, p_lease text, p_delay_s double precision,
  p_problem text,
  p_final boolean)
returns table (document_id uuid)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  held constant enrichments := held_enrichment(p_document, p_lease);
begin
  update enrichments e
  set run_after = now() + make_interval(secs => p_delay_s), lease = null, lease_until = null, problem = p_problem,
      finished_at = case when p_final then now() end
  where e.document_id = held.document_id;
  return query select held.document_id;
end $$;
comment on function postpone_enrichment is 'Releases an enrichment for a later retry, or (`p_final`) gives it up.';

create or replace function store_entities(p_document text, p_lease text, p_found text, p_reader text)
returns table (entities_stored int, facts_stored int)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  held constant enrichments := held_enrichment(p_document, p_lease);
  its_base constant uuid := held.base_id;
  its_id constant uuid := held.document_id;
  content constant jsonb := p_found::jsonb;
  its_entities bigint[];
  stored int;
begin
  perform lock_entities(its_base);
  delete from graph_facts f where f.document_id = its_id;
  delete from entity_aliases a where a.document_id = its_id;

  insert into entities (base_id, canonical, type, name)
  select its_base, e.canonical, e.type, e.name
  from jsonb_to_recordset(content -> 'entities') as e (canonical text, type text, name text)
  on conflict (base_id, canonical) do nothing;

  insert into entity_mentions as m (base_id, entity_id, document_id, count, chunk_id, confidence)
  select its_base, n.id, its_id, e.count, e.chunk, e.confidence
  from jsonb_to_recordset(content -> 'entities') as e (canonical text, count int, chunk bigint, confidence real)
  join entities n on n.base_id = its_base and n.canonical = e.canonical
  on conflict (entity_id, document_id) do update
  set count = excluded.count, chunk_id = excluded.chunk_id, confidence = excluded.confidence;
  its_entities := array(
    select n.id from jsonb_array_elements(content -> 'entities') e
    join entities n on n.base_id = its_base and n.canonical = e ->> 'canonical');
  delete from entity_mentions m where m.document_id = its_id and m.entity_id <> all (its_entities);

  insert into entity_aliases (base_id, key, entity_id, document_id, form, weight, as_name)
  select distinct on (a.key, n.id) its_base, a.key, n.id, its_id, a.form, a.weight, a.as_name
  from jsonb_to_recordset(content -> 'aliases') as a (canonical text, key text, form text, weight real, as_name boolean)
  join entities n on n.base_id = its_base and n.canonical = a.canonical
  order by a.key, n.id, a.weight desc, a.as_name;

  insert into graph_facts (base_id, entity_id, relation, text, object_id, document_id, chunk_id, position, confidence)
  select its_base, n.id, f.relation, f.text, o.id, its_id, f.chunk, f.position, f.confidence
  from jsonb_to_recordset(content -> 'facts') as f (canonical text, relation text, text text, object text,
    chunk bigint, position int, confidence real)
  join entities n on n.base_id = its_base and n.canonical = f.canonical
  left join entities o on o.base_id = its_base and o.canonical = f.object
  order by f.position;
  get diagnostics stored = row_count;

  update enrichments e
  set finished_at = now(), reader = p_reader, problem = null, lease = null, lease_until = null
  where e.document_id = its_id;
  return query select cardinality(its_entities), stored;
end $$;
comment on function store_entities is
  'Stores what was read from a document in place of any earlier, and ends its enrichment, in one transaction.';

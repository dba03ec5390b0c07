-- Looking up what documents say of entities. In: a base, with keys of names or an entity. Out: spans to read, entities,
-- facts with their passages. It changes nothing.
create or replace function read_spans(p_base text, p_document text, p_after int, p_limit int,
  p_person bigint default null)
returns table (chunk bigint, ordinal int, start int, "end" int)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select c.id, c.ordinal, c.span_start, c.span_end from documents_chunks c join documents d on d.id = c.document_id
  where c.base_id = p_base::uuid and c.document_id = p_document::uuid and d.visible and c.ordinal > p_after
  order by c.ordinal limit p_limit
$$;
comment on function read_spans is 'Which characters of a document each of its passages holds, in reading order.';

create or replace function resolve_names(p_base text, p_keys text[], p_limit int, p_person bigint default null)
returns table (id text, type text, name text, forms text[], key text, weight real, as_name boolean,
  confidence real, facts bigint)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp
  set plan_cache_mode = force_generic_plan
as $$ -- planning it takes ten times as long as running it
#variable_conflict use_column
begin
  perform require(p_base, p_person, 'read');
  return query
  with named as (
    select a.entity_id, a.key, max(a.weight) as weight, bool_and(a.as_name) as as_name,
      row_number() over (partition by a.key order by max(a.weight) desc, count(*) desc, a.entity_id) as place
    from entity_aliases a
    where a.base_id = p_base::uuid and a.key = any (p_keys)
    group by a.entity_id, a.key
  ), found as (
    select n.entity_id, n.key, n.weight, n.as_name from named n
    where n.place <= 12 -- a first name may mean hundreds: the ones that most documents call so
    order by n.weight desc, n.entity_id limit p_limit
  )
  select e.canonical, e.type, e.name,
    array(select x.form from entity_aliases x where x.entity_id = e.id and x.weight = 1
          group by x.form order by count(*) desc, x.form limit 8),
    f.key, f.weight, f.as_name,
    (select coalesce(max(m.confidence), 0) from entity_mentions m where m.entity_id = e.id),
    (select count(*) from (select from graph_facts g where g.entity_id = e.id limit 100) own)
      + (select count(*) from ( -- facts about a technology have other entities as their subject
           select from graph_facts g where g.object_id = e.id and e.type = 'technology' limit 100) said)
  from found f join entities e on e.id = f.entity_id
  order by f.weight desc, e.canonical;
end $$;
comment on function resolve_names is
  'Entities of a base that are found under these keys, the surest first; at most twelve for each key.';

create or replace function entity_facts(p_base text, p_entity text, p_relations text[], p_related boolean, p_limit int,
  p_person bigint default null)
returns table (entity text, relation text, text text, object text, confidence real, passage jsonb)
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp
  set plan_cache_mode = force_generic_plan
as $$ -- planning it takes ten times as long as running it
#variable_conflict use_column
begin
  perform require(p_base, p_person, 'read');
  return query
  with asked as (
    select e.id, e.type from entities e where e.base_id = p_base::uuid and e.canonical = p_entity
  ), chosen as (
    select f.id, 0 as remoteness from asked a join graph_facts f on f.entity_id = a.id
    union all
    select f.id, 1 from asked a join graph_facts f on f.object_id = a.id
    union all -- for an employer or a technology: the facts of the projects that name it
    select f.id, 2 from asked a join graph_facts t on t.object_id = a.id join graph_facts f on f.entity_id = t.entity_id
    where p_related and a.type <> 'project'
    union all
    select f.id, 0 from graph_facts f
    where p_entity is null and f.base_id = p_base::uuid and f.relation = any (p_relations)
  ), nearest as (
    select c.id, min(c.remoteness) as remoteness from chosen c group by c.id
  )
  select e.name, f.relation, f.text, o.name, f.confidence, to_jsonb(p)
  from nearest n
  join graph_facts f on f.id = n.id
  join entities e on e.id = f.entity_id
  left join entities o on o.id = f.object_id
  join passages p on p.chunk_id = f.chunk_id and p.base_id = p_base::uuid
  join documents d on d.id = f.document_id
  where f.base_id = p_base::uuid and f.relation = any (p_relations)
  order by n.remoteness, coalesce(d.published_at, d.created_at) desc, d.id, f.position limit p_limit;
end $$;
comment on function entity_facts is
  'Facts about an entity, or about all (null), in these relations: its own, then those of others that name it, then '
  'with `p_related` all facts of those others. Only facts whose passage is searchable.';

-- What documents say of people, projects, organisations, places and technologies. In: ready documents. Out: the tables
-- of entities, their names and facts, and the queue of documents that are still to be read for them.

set search_path = public, extensions;

create table enrichments (
  document_id uuid primary key references documents on delete cascade,
  base_id     uuid not null references bases on delete cascade,
  turn        timestamptz not null,        -- a base's documents are half a minute apart, so that bases take turns
  run_after   timestamptz not null default now(),
  attempts    int not null default 0,
  lease       uuid,
  lease_until timestamptz,
  reader      text,                        -- the reader that has read it; null: none yet
  problem     text,                        -- why it was given up
  again       boolean not null default false, -- it is queued for a better reader, behind all that was never read
  finished_at timestamptz
);
create index enrichments_turn on enrichments (again, turn) where finished_at is null;
create index enrichments_base on enrichments (base_id, turn) where finished_at is null;
create index enrichments_reader on enrichments (reader, turn) where finished_at is not null;
create index enrichments_by_base on enrichments (base_id);
create index enrichments_held on enrichments (lease_until) where finished_at is null and lease_until is not null;
comment on table enrichments is 'The queue of ready documents that entities and facts are still to be read from.';

create table entities (
  id          bigint generated always as identity primary key,
  base_id     uuid not null references bases on delete cascade,
  canonical   text not null,               -- 'project:alor-broker'; plans name it, people never see it
  type        text not null,
  name        text not null,
  unique (base_id, canonical)
);
comment on table entities is 'Who and what the documents of a base speak of; each has a mention.';

create table entity_aliases (
  base_id     uuid not null references bases on delete cascade,
  key         text collate "C" not null,   -- a normalised form of the name
  entity_id   bigint not null references entities on delete cascade,
  document_id uuid not null references documents on delete cascade,
  form        text not null,               -- as the document writes it
  weight      real not null check (weight > 0 and weight <= 1), -- how surely the key means this entity
  as_name     boolean not null,            -- an ordinary word: it counts only where it is written as a name
  primary key (base_id, key, entity_id, document_id)
);
create index entity_aliases_entity on entity_aliases (entity_id);
create index entity_aliases_document on entity_aliases (document_id);
comment on table entity_aliases is 'Under which keys an entity is found, and which document says so.';

create table entity_mentions (
  base_id     uuid not null references bases on delete cascade,
  entity_id   bigint not null references entities on delete cascade,
  document_id uuid not null references documents on delete cascade,
  count       int not null,
  chunk_id    bigint,                      -- the first passage that names it
  confidence  real not null,               -- that it is what `type` says
  primary key (entity_id, document_id)
);
create index entity_mentions_document on entity_mentions (document_id);
create index entity_mentions_base on entity_mentions (base_id);
comment on table entity_mentions is 'Which documents name an entity; one that none names is removed.';

create table graph_facts (
  id          bigint generated always as identity primary key,
  base_id     uuid not null references bases on delete cascade,
  entity_id   bigint not null references entities on delete cascade,
  relation    text not null,               -- a structural intent of prompts/intents.toml
  text        text not null,
  object_id   bigint references entities on delete set null,
  document_id uuid not null references documents on delete cascade,
  chunk_id    bigint not null,             -- no foreign key: see chunk_terms; one that is gone is not found
  position    int not null,                -- within the document
  confidence  real not null
);
create index graph_facts_entity on graph_facts (entity_id, relation);
create index graph_facts_object on graph_facts (object_id) where object_id is not null;
create index graph_facts_relation on graph_facts (base_id, relation);
create index graph_facts_document on graph_facts (document_id);
comment on table graph_facts is 'What documents say of entities, each fact with the passage it stands in.';

select baza_internal.secure_new_objects();

-- What search reads beside the passages. In: passages. Out: postings, and the structures of large bases that workers
-- make from postings and vectors.

set search_path = public, extensions;

create table chunk_terms (
  base_id     uuid not null,
  term        text collate "C" not null,   -- compared byte by byte, whatever the database's collation
  chunk_id    bigint not null,             -- no foreign key: checking each posting is slow; a trigger deletes them
  frequency   "char" not null,             -- one byte as a number: in the chunk's own text
  around      "char" not null,             -- sum of `frequency` over its terms with these five first letters, see below
  length      smallint not null,           -- of the chunk, so that scoring reads nothing but this index
  titled      "char" not null,             -- in the title and the headings above it
  around_titled "char" not null,           -- sum of `titled` over the same terms
  spread      smallint not null,           -- of the first chunk of a document: in how many of its chunks; of others 0
  primary key (base_id, term, chunk_id) include (frequency, around, length, titled, around_titled, spread)
) with (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
-- An index-only scan needs the visibility map: for a page it does not cover, every posting is looked up in the table,
-- which takes twice as long. By default autovacuum waits until the table has grown by a fifth.
-- The sums over terms with a common prefix are computed once, on writing: the first of these terms in the chunk holds
-- them in `around` and `around_titled`, the others hold 0. Adding up took a third of the time of a search. `spread`
-- makes the postings of first chunks the record of what a document is about: no search asks whose a chunk is.
create index chunk_terms_chunk on chunk_terms (chunk_id);
comment on table chunk_terms is 'The postings of the lexical index: which term stands in which chunk, how often.';

create table common_terms (
  base_id   uuid not null references bases on delete cascade,
  term      text collate "C" not null,     -- or a prefix of terms, with a star
  postings  bigint not null,
  said      bigint not null,               -- of them in the text of a chunk, not only above it
  firsts    bigint not null,               -- in first chunks of documents
  firsts_said bigint not null,
  reached   bigint not null,               -- in documents whose first chunks have the term: the sum of `spread`
  passages  bigint not null,               -- of the base when they were counted
  primary key (base_id, term)
);
comment on table common_terms is
  'How many postings the frequent terms of large bases have: counting them takes longer than a search may.';

create type baza_internal.weighed_term as (
  place     int,                           -- of the term in the question
  term      text,
  low       text,                          -- the range of the index with the term and its relatives, `high` excluded
  high      text,
  own       double precision,              -- the weight of the term itself
  wide      double precision,              -- and of any term in its range
  postings  bigint,                        -- in the range; these five as in `common_terms`
  said      bigint,
  firsts    bigint,
  firsts_said bigint,
  reached   bigint
);
comment on type baza_internal.weighed_term is 'A term of a question with what it weighs in a base, see `weigh_terms`.';

create table posting_segments (
  base_id   uuid not null references bases on delete cascade,
  number    int not null,
  passages  int not null,
  last      bigint not null,               -- passage id: all passages of the base up to it are in segments
  base_passages bigint not null,           -- when its terms were weighed
  emptied   boolean not null default false, -- all passages that the base held then were removed
  primary key (base_id, number)
);
comment on table posting_segments is 'How far the passages of large bases are in segments, for the search by words.';

create table posting_segment_chunks (
  base_id   uuid not null,
  number    int not null,
  place     int not null,                  -- from 1, in the order of ids
  chunk_id  bigint not null,               -- may have been removed since
  primary key (base_id, number, place) include (chunk_id),
  foreign key (base_id, number) references posting_segments on delete cascade
);
comment on table posting_segment_chunks is 'Which passage stands where in a segment.';

create table posting_segment_terms (
  base_id   uuid not null,
  term      text collate "C" not null,     -- or a prefix that terms share, with a star
  number    int not null,
  weights   sparsevec not null,            -- at the place of a passage: what the term adds to its score
  primary key (base_id, term, number),
  foreign key (base_id, number) references posting_segments on delete cascade
);
-- Compressed they take longer to read than to add.
alter table posting_segment_terms alter column weights set storage external;
create index posting_segment_terms_segment on posting_segment_terms (base_id, number);
comment on table posting_segment_terms is 'The postings of a segment, a row for each term.';

create table posting_segment_plans (
  base_id   uuid primary key references bases on delete cascade,
  up_to     bigint not null,               -- the last passage of the segment that comes next
  writers   text[] not null                -- once these transactions have ended, no passage up to it can be missing
);
comment on table posting_segment_plans is
  'Ids of passages are assigned before the passages are committed: until the transactions that were writing in the '
  'base then have ended, a passage before `up_to` may still appear, and would be in no segment.';

create table renamed_documents (
  document_id uuid primary key references documents on delete cascade,
  base_id     uuid not null
);
create index renamed_documents_base on renamed_documents (base_id);
comment on table renamed_documents is
  'Documents of large bases whose postings have changed with their names. Segments may be outdated about them, so '
  'their '
  'passages are found by their postings until the segments are made anew.';

create table vector_segments (
  base_id   uuid primary key references bases on delete cascade,
  name      text not null unique,          -- of the table in the schema `segments`
  model     text not null,                 -- that made the vectors
  thresholds halfvec[] not null,           -- a bit tells on which side of a threshold a number of the vector lies
  passages  bigint not null,               -- how many are in it
  last_row  bigint not null default 0      -- the place of the row that was added last; 0: none
);
comment on table vector_segments is 'Which table holds the binary-quantised vectors of a large base.';

create table next_vectors (
  chunk_id  bigint primary key references documents_chunks on delete cascade,
  base_id   uuid not null,
  model     text not null,
  embedding halfvec(1024)                  -- null: the model makes none
);
create index next_vectors_base on next_vectors (base_id);
alter table next_vectors alter column embedding set storage plain;
comment on table next_vectors is 'Vectors of passages by the model that their base is being moved to.';

select baza_internal.secure_new_objects();

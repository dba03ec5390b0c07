-- Postings in lists: one row for a term and the passages that were stored together, where there was a row for each
-- posting. In: `chunk_terms` as a table. Out: `posting_lists`, which take half the place and a third of the time to
-- write; `chunk_terms` is a view of them now, made in schemas/functions/chunks.sql.

set search_path = public, extensions;

-- Passages that are stored together are a run: the id of a passage is that of its run, and in the lowest eight bits its
-- place there. So a list says with a byte whose a posting is. An index entry holds 2,704 bytes: a term of a thousand and
-- 128 postings, or 256 of a term half as long.
create sequence baza_internal.passage_runs;
select setval('baza_internal.passage_runs', (select coalesce(max(c.id), 0) / 256 + 1 from documents_chunks c), false);
alter table documents_chunks alter column id drop identity;
alter table documents_chunks alter column id set default nextval('baza_internal.passage_runs') << 8;

create table posting_lists (
  base_id   uuid not null,
  term      text collate "C" not null,     -- compared byte by byte, whatever the database's collation
  run       bigint not null,               -- no foreign key: runs have no table; a trigger deletes what has no passages
  postings  bigint[] not null,             -- in the order of passages; seven numbers are packed in each, see `chunk_terms`
  primary key (base_id, term, run) include (postings)
) with (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
-- An index-only scan needs the visibility map: for a page it does not cover, every list is looked up in the table,
-- which takes twice as long. By default autovacuum waits until the table has grown by a fifth.
create index posting_lists_run on posting_lists (run);
comment on table posting_lists is 'The lexical index: which term stands in which passages of a run, how often.';

insert into posting_lists (base_id, term, run, postings)
select t.base_id, t.term, t.chunk_id >> 8, array_agg(
  t.frequency::int::bigint | (t.around::int::bigint << 7) | (t.titled::int::bigint << 14)
  | (t.around_titled::int::bigint << 21) | (least(t.length, 4095)::bigint << 28) | (t.spread::bigint << 40)
  | ((t.chunk_id & 255) << 55)
  order by t.chunk_id)
from chunk_terms t group by t.base_id, t.term, t.chunk_id >> 8
having octet_length(t.term) <= 500 or count(*) <= 128; -- what no longer fits is no word that anybody looks for
drop table chunk_terms;

select baza_internal.secure_new_objects();

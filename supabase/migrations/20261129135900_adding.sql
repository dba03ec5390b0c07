-- Adding documents takes less work. In: the tables of 0.1.0. Out: the same, with an index and without a reference.

set search_path = public, extensions;

-- The base of a passage is that of its document: one reference is enough to check and to delete by.
alter table documents_chunks drop constraint documents_chunks_base_id_fkey;

-- In the order of `ready_namesake`, so that no other index is ever as good for it: it need not be planned anew each time.
drop index documents_name;
create index documents_name on documents
  (base_id, source_type, name_key, expires_at nulls first, created_at desc)
  where status = 'ready' and name_key is not null;

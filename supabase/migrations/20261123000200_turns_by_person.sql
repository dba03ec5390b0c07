-- Documents are read in turns of people, not of bases, or who has ten bases would get ten turns. In: who sent each
-- document. Out: in whose turn it is read, which the queue's indexes begin with.

set search_path = public, extensions;

alter table documents add column person bigint;
update documents d set person = coalesce((select t.user_id from api_tokens t where t.id = d.user_id), d.user_id);
alter table documents alter column person set not null;
comment on column documents.person is
  'In whose turn it is read: who sent it, or the person whose token did (baza_internal.note_sender).';

drop index documents_turn, documents_waiting_of;
create index documents_turn on documents (lane, person, base_id, run_after, created_at, position, id)
  where phase = 'waiting';
create index documents_waiting_of on documents (person) where phase = 'waiting';
create index documents_working_of on documents (person) where phase = 'working';

create table served (
  person      bigint primary key,
  served_at   timestamptz not null         -- when a document of theirs was last given to a worker
);
comment on table served is 'Who had the last turn; `bases.served_at` is for the bases of one person among themselves.';

select baza_internal.secure_new_objects();

-- Bases, who uses them, and what they hold. In: nothing. Out: the tables of documents, their text and their passages.

set search_path = public, extensions;

create table bases (
  id          uuid primary key default gen_random_uuid(),
  kind        text not null check (kind in ('private', 'group', 'named')), -- of a person, of a group, of the command line
  chat_id     bigint,                      -- whose first base it is: of this person or group; null: made later
  thread_id   bigint not null default 0,   -- each topic of a chat begins with a base of its own; 0 is none
  name        text,                        -- null: the first base of a chat that nobody has named
  passages    bigint not null default 0,   -- searchable ones; counted by triggers on documents
  terms       bigint not null default 0,   -- in those passages; BM25 takes its average length from here
  documents   bigint not null default 0,   -- that those passages belong to
  served_at   timestamptz not null default '-infinity',  -- when a document of it was last given to a worker
  created_at  timestamptz not null default now(),
  check (kind <> 'named' or chat_id is null),
  check (chat_id is not null or name is not null)
);
create unique index bases_chat on bases (chat_id, thread_id) where chat_id is not null;
create unique index bases_name on bases (name) where kind = 'named';
comment on table bases is 'A knowledge base: of a person, of a group, or of the command line.';

create table base_members (
  base_id   uuid not null references bases on delete cascade,
  user_id   bigint not null,               -- a person, or a group by its (negative) chat id: all who write in it
  role      text not null check (role in ('owner', 'writer', 'reader')),
  name      text,                          -- of the person or group, as Telegram last gave it
  until     timestamptz,                   -- when the right ends; null: it stays
  joined_at timestamptz not null default now(),
  primary key (base_id, user_id)
);
create index base_members_user on base_members (user_id);
comment on table base_members is
  'Who may do what with a base: `require` asks here before a function reads or changes anything for somebody.';

create table invitations (
  id          bigint generated always as identity primary key,
  base_id     uuid not null references bases on delete cascade,
  hash        text not null unique,        -- SHA-256 of the link's secret, which is 24 random bytes and is shown once
  role        text not null check (role in ('writer', 'reader')),
  once        boolean not null,            -- gone with the first who joins by it
  until       timestamptz,                 -- when the link, and the right of those who joined by it, ends
  created_at  timestamptz not null default now()
);
create index invitations_base on invitations (base_id);
comment on table invitations is 'Links by which people join a base.';

create table user_state (
  user_id      bigint not null,            -- a person, or a group by its (negative) chat id
  thread_id    bigint not null default 0,  -- a topic of the chat; 0 is none
  current_mode text check (current_mode in ('chat', 'documents')),
  session_id   uuid not null default gen_random_uuid(),
  base_id      uuid not null references bases on delete cascade,
  language     text not null default 'ru',
  only_document uuid,                      -- questions are asked of it alone; one that is gone limits nothing
  updated_at   timestamptz not null default now(),
  primary key (user_id, thread_id)
);
create index user_state_base on user_state (base_id);
comment on table user_state is 'Mode, dialogue and open base of a chat or of one of its topics (seed 1, section 4.1).';

create type opened_state as (
  user_id bigint, thread_id bigint, current_mode text, session_id uuid, base_id uuid, language text, only_document uuid,
  base_name text, role text, base_kind text, base_chat bigint, owner_name text
);
comment on type opened_state is
  'A state with what the person sees of the open base: the columns of the view `user_states`. Functions return this type, '
  'not the view''s rows: they would be dropped with the view when its file is made anew.';

create table pending_questions (
  chat_id    bigint not null,
  thread_id  bigint not null,              -- 0: none
  user_id    bigint not null,              -- the person, in a group too
  about      text not null,                -- what kind of question it is; the bot knows the kinds
  subject    text not null,                -- what it is about, for instance a document's id
  ends_at    timestamptz not null,
  taken_by   bigint,                       -- the update that answered or cancelled it; a replay gets it again
  primary key (chat_id, thread_id, user_id)
);
comment on table pending_questions is 'What the bot has asked and waits to be told, for some minutes.';

create table batches (
  id                uuid primary key default gen_random_uuid(),
  base_id           uuid not null references bases on delete cascade,
  chat_id           bigint,                -- null: nobody waits for a notice
  thread_id         bigint,
  message_id        bigint,                -- the person's message; for an album, the first one that came
  media_group       text,                  -- Telegram's name of the album; null: a message by itself
  language          text not null default 'ru',
  notice_message_id bigint,                -- our live message
  revision          bigint not null default 1,
  shown_revision    bigint not null default 0,
  removed           int not null default 0,  -- documents removed from it; an empty batch stays until people are told
  notice_due_at     timestamptz not null default now(),
  created_at        timestamptz not null default now()
);
create unique index batches_message on batches (base_id, chat_id, message_id) where message_id is not null;
create unique index batches_album on batches (base_id, chat_id, media_group) where media_group is not null;
create index batches_base on batches (base_id);
create index batches_behind on batches (notice_due_at) where chat_id is not null and shown_revision < revision;
comment on table batches is
  'What came in one message or album; its documents share one live message, edited until it is the receipt.';

create table kept_files (
  id          uuid primary key default gen_random_uuid(), -- its name in the storage
  base_id     uuid not null,               -- no reference: the row stays until the file itself is removed
  hash        text not null,               -- SHA-256 of the content
  size_bytes  bigint not null,
  keep_until  timestamptz not null,        -- 'infinity' while a document has it
  leaving     boolean not null default false -- it is being removed; the same content would come as another file
);
create unique index kept_files_content on kept_files (base_id, hash) where not leaving;
create index kept_files_due on kept_files (keep_until);
comment on table kept_files is
  'Files that came over HTTP, which no Telegram keeps. The same content is kept once a base, never for two bases: whether '
  'another base holds a file must not show.';

create table documents (
  id                  uuid primary key default gen_random_uuid(),
  base_id             uuid not null references bases on delete cascade,
  batch_id            uuid not null references batches on delete cascade,
  position            int not null,        -- within the batch
  user_id             bigint not null,     -- who sent it
  person              bigint not null,     -- in whose turn it is read: who sent it, or the person whose token did
  sender              text,                -- their name, in a group
  source_type         text not null check (source_type in ('note', 'file', 'link', 'site', 'path')),
  source_identifier   text not null,
  name_key            text,                -- normalised file name: equal for files that count as having one name
  source_title        text,                -- the sender's title; `title` may become what the parser found
  given_title         text,                -- the name that a person gave it later; it stays the `title`
  given_terms         jsonb,               -- lexical terms of that name
  title               text not null,
  names               jsonb not null default '[]',  -- of {text, terms}: the names indexed in its passages' postings
  known_as            text not null generated always as (case  -- a file goes by its new name, an address stays itself
                        when source_type in ('file', 'path') then coalesce(given_title, source_identifier)
                        else source_identifier end) stored,
  author              text,
  published_at        timestamptz,
  source_text         text,                -- the text of a note, the caption of a file
  source_url          text,                -- where the original can be seen
  media_type          text,
  size_bytes          bigint,
  chat_id             bigint,              -- of the original message
  message_id          bigint,
  joined_messages     bigint[] not null default '{}',  -- later messages whose text was joined to this note
  file_id             text,                -- Telegram's
  kept_file           uuid references kept_files,  -- ours; at most one of the two
  content_hash        text,
  lineage             uuid not null default gen_random_uuid(),  -- what all versions of one document share
  version             int not null default 1,
  chosen              boolean not null default false,  -- it is decided what happens to an earlier one of this name
  lane                text not null default 'quick' check (lane in ('short', 'small', 'quick', 'long')),
  language            text,
  medium              text not null default 'text' check (medium in ('text', 'image', 'audio', 'video')),
  duration_s          double precision,
  pages               int,
  pages_without_text  int[] not null default '{}',
  parts               int,
  unread              jsonb not null default '[]',  -- of {name, code}: parts that could not be read, and why
  chunks              int not null default 0,     -- stored so far
  terms               bigint not null default 0,  -- in its chunks
  promised            int not null default 0,     -- chunks it will have; they count against BASE_PASSAGES as it is read
  visible             boolean not null default false,  -- its chunks can be found
  in_segment          boolean not null default false,  -- its vectors are in the segment of the base, if there is one
  status              text not null default 'queued' check (status in
                        ('queued', 'choosing', 'fetching', 'parsing', 'recognising', 'listening', 'embedding',
                         'ready', 'failed', 'duplicate', 'cancelled', 'superseded')),
  phase               text not null generated always as (case  -- what a status means to the queue
                        when status = 'queued' then 'waiting'
                        when status = 'choosing' then 'asking'
                        when status in ('ready', 'failed', 'duplicate', 'cancelled', 'superseded') then 'ended'
                        else 'working' end) stored,
  progress_done       int not null default 0,
  progress_total      int not null default 0,
  attempts            int not null default 0,
  waits_for_service   boolean not null default false,
  run_after           timestamptz not null default now(),
  expires_at          timestamptz,         -- when a document sent only to be read now is removed; null: it stays
  lease               uuid,
  lease_until         timestamptz,
  worker              text,
  error_code          text,
  error_params        jsonb not null default '{}',
  error_detail        text,
  meta                jsonb not null default '{}',  -- edition: the HTTP validators (ETag, …) of a page that was read
  created_at          timestamptz not null default now(),
  started_at          timestamptz,
  finished_at         timestamptz,
  unique (batch_id, position),
  check (not visible or status = 'ready' or phase = 'working')
);
create index documents_base on documents (base_id, created_at desc, id);
create index documents_turn on documents (lane, person, base_id, run_after, created_at, position, id)
  where phase = 'waiting';
create index documents_waiting_of on documents (person) where phase = 'waiting';
create index documents_working_of on documents (person) where phase = 'working';
create index documents_working on documents (base_id) where phase = 'working';
create index documents_after_another on documents (base_id) where status in ('duplicate', 'choosing');
create index documents_hidden on documents (base_id) where chunks > 0 and not visible;
create index documents_outside_segment on documents (base_id) where chunks > 0 and not in_segment;
create index documents_kept_file on documents (kept_file) where kept_file is not null;
create index documents_lineage on documents (lineage);
create index documents_leaving on documents (expires_at) where expires_at is not null;
create index documents_name on documents (base_id, source_type, name_key) where status = 'ready' and name_key is not null;
-- Not by base first: without statistics the planner would look a content hash up in it, among all documents of the base.
create index documents_titled on documents (lower(left(names -> 0 ->> 'text', 200)), base_id) where status = 'ready';
create unique index documents_content on documents (base_id, content_hash) where status = 'ready';
create unique index documents_current on documents (lineage) where status = 'ready';
comment on table documents is
  'A source and its state. Its chunks are searchable while it is `visible`: when it is ready, and while it is being '
  'read unless another document conflicts with it (functions/conflicts.sql).';

create table served (
  person      bigint primary key,
  served_at   timestamptz not null         -- when a document of theirs was last given to a worker
);
comment on table served is
  'Who had the last turn: documents are read in turns of people, and `bases.served_at` is for the bases of one person '
  'among themselves. Who has ten bases would get ten turns otherwise.';

create table document_blocks (
  document_id uuid not null references documents on delete cascade,
  ordinal     int not null,
  kind        text not null,
  level       int,
  text        text not null,
  locator     jsonb not null default '{}',
  primary key (document_id, ordinal)
);
comment on table document_blocks is
  'The parsed text in reading order, without overlap: for reading, showing and chunking anew.';

create table documents_chunks (
  id          bigint generated always as identity primary key,
  base_id     uuid not null references bases on delete cascade,
  document_id uuid not null references documents on delete cascade,
  ordinal     int not null,
  text        text not null,
  span_start  int not null,
  span_end    int not null,
  locator     jsonb not null default '{}',
  length      int not null,                -- in lexical terms
  model       text not null,               -- the one that made the embedding
  embedding   halfvec(1024),               -- null: without a model there is nothing to compare
  unique (document_id, ordinal) include (id)
);
-- An exact scan reads every vector of a base: vectors stay in the row, and only the text moves out of it (TOAST).
alter table documents_chunks
  alter column embedding set storage plain, alter column locator set storage main, alter column model set storage main;
create index documents_chunks_base on documents_chunks (base_id, id) include (model);
comment on table documents_chunks is 'Passages: what is searched, quoted and cited.';

select baza_internal.secure_new_objects();

-- What was said and what it cost. In: dialogues. Out: the tables of messages, thumbs, turns and what answers keep.

set search_path = public, extensions;

create table chat_messages (
  id          bigint generated always as identity primary key,
  user_id     bigint not null,
  session_id  uuid not null,
  base_id     uuid references bases on delete cascade,
  role        text not null check (role in ('user', 'assistant')),
  content     text not null,
  created_at  timestamptz not null default now(),
  terms       text[] not null default '{}', -- lexical ones, for recalling the message when something like it is asked
  sources     jsonb not null default '[]', -- that the answer names, with their quotes
  context_used jsonb not null default '[]' -- the facts it was made from: passages by id, without the words of documents
);
create index chat_messages_session on chat_messages (user_id, session_id, id);
create index chat_messages_base on chat_messages (base_id);
comment on table chat_messages is 'The window of a dialogue: at most 30 messages, older ones are in chat_archive.';

create table chat_archive (
  id          bigint primary key,          -- as it was in chat_messages
  user_id     bigint not null,
  session_id  uuid not null,
  base_id     uuid references bases on delete cascade,
  role        text not null,
  content     text not null,
  created_at  timestamptz not null,
  terms       text[] not null default '{}', -- lexical ones, for recalling the message when something like it is asked
  sources     jsonb not null default '[]', -- that the answer names, with their quotes
  context_used jsonb not null default '[]' -- the facts it was made from: passages by id, without the words of documents
);
create index chat_archive_session on chat_archive (user_id, session_id, id);
create index chat_archive_base on chat_archive (base_id);
comment on table chat_archive is 'What has left the window.';

create table chat_session_summary (
  user_id     bigint not null,
  session_id  uuid not null,
  summary     text not null,
  up_to       bigint not null,             -- the last message that the summary covers
  updated_at  timestamptz not null default now(),
  primary key (user_id, session_id)
);
comment on table chat_session_summary is 'The running summary of what has left the window.';

create table answer_feedback (
  id          bigint generated always as identity primary key,
  user_id     bigint not null,
  base_id     uuid references bases on delete cascade,
  chat_id     bigint not null,
  message_id  bigint not null,             -- our answer
  rating      smallint not null check (rating in (-1, 1)),
  created_at  timestamptz not null default now(),
  unique (user_id, chat_id, message_id)
);
comment on table answer_feedback is 'Thumbs up and down under answers.';
create index answer_feedback_base on answer_feedback (base_id, created_at);

create table turn_metrics (
  id          bigint generated always as identity primary key,
  user_id     bigint not null,
  asker       bigint not null,             -- the person; user_id may be a group
  base_id     uuid references bases on delete set null, -- what a day has cost outlives the base it was spent on
  kind        text not null,
  model       text,
  seconds     real not null,               -- until the last word
  planned_s   real not null default 0,     -- until the plan was there
  found_s     real not null default 0,     -- from the plan until the facts were
  first_s     real,                        -- until the person saw the first word; null when there was none
  plan        text,                        -- where the plan came from: the model, its repair, the default
  facts       int not null default 0,      -- found
  facts_used  int not null default 0,      -- of those found, the ones that the answer uses
  used_rank   real,                        -- their mean rank among the facts, from 1; null: none was used
  passages    int not null default 0,      -- cited
  steps_planned int not null default 0,    -- 0: one search, no plan of several steps
  steps_run   int not null default 0,
  adapted     int not null default 0,      -- steps added, changed or skipped on the way
  each_step   jsonb not null default '[]', -- what each took: action, state, seconds, facts, calls, tokens, waiting
  searching_s real not null default 0,     -- while at least one search was under way
  models_s    real not null default 0,     -- while at least one model call was under way
  calls       int not null default 0,      -- of models
  prompt_tokens bigint not null default 0,
  answer_tokens bigint not null default 0,
  checked     jsonb not null default '{}', -- by a model: outcome, statements, failed, withdrawn, tokens, seconds
  cost        double precision not null default 0, -- US dollars, as far as the server tells
  by_model    boolean not null generated always as (  -- true also when the server reports no calls
    calls > 0 or model is not null or coalesce(plan, 'default') <> 'default') stored,
  created_at  timestamptz not null default now()
);
comment on table turn_metrics is 'What each turn took and cost; no texts.';
create index turn_metrics_base on turn_metrics (base_id, created_at);
create index turn_metrics_day on turn_metrics (created_at);
create index turn_metrics_asker on turn_metrics (asker, created_at, id) include (cost, user_id) where by_model;

create table reading_costs (
  id          bigint generated always as identity primary key,
  user_id     bigint not null,             -- who sent the document
  asker       bigint not null,             -- the person in whose day it counts; user_id may be a token of theirs
  base_id     uuid references bases on delete set null,
  cost        double precision not null,   -- US dollars
  created_at  timestamptz not null default now()
);
create index reading_costs_base on reading_costs (base_id);
create index reading_costs_day on reading_costs (asker, created_at) include (cost);
create index reading_costs_time on reading_costs (created_at);
comment on table reading_costs is
  'What models have cost for reading documents: their vectors, pictures, names. It counts in the day of who sent them.';

create table reservations (
  id          uuid primary key default gen_random_uuid(),
  user_id     bigint not null,             -- who asked: a person, a group, a token
  asker       bigint not null,             -- the person in whose day it counts
  cost        double precision not null,   -- US dollars; infinity: nobody knows yet what a question costs
  ends_at     timestamptz not null         -- unless it is renewed: then the process that answered was killed
);
create index reservations_asker on reservations (asker, ends_at);
comment on table reservations is
  'What questions that are being answered may cost, so that many at one moment do not pass a bound together; gone with '
  'their row of turn_metrics.';

create table answer_tables (
  id          bigint generated always as identity primary key,
  base_id     uuid not null references bases on delete cascade,
  user_id     bigint not null,
  content     jsonb not null,
  created_at  timestamptz not null default now()
);
create index answer_tables_by_base on answer_tables (base_id, created_at);
comment on table answer_tables is 'Tables under answers, for a month.';

create table kept_readings (
  base_id     uuid not null references bases on delete cascade,
  request     text not null,               -- a hash: the model, the rules, what is asked
  key         text not null,               -- a hash: the words that it is asked of
  documents   uuid[] not null,             -- the ones that the content quotes; the one that was read last at the end
  content     text not null,
  kept_at     timestamptz not null default clock_timestamp(),
  primary key (base_id, request, key)
);
comment on table kept_readings is
  'Replies to parts of documents, for a month; of a base the newest 2,000, about 8 MB.';

select baza_internal.secure_new_objects();

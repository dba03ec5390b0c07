-- The base over HTTP. In: bases and dialogues. Out: who may ask over HTTP, and what each answer was made from.

set search_path = public, extensions;

create table api_tokens (
  id          bigint generated always as identity (start with 4503599627370496) primary key, -- 2^52: ids of Telegram
                                           -- have 52 bits, so a token is a person of its own, with its own dialogues
  base_id     uuid not null references bases on delete cascade,
  hash        text not null unique,        -- SHA-256 of the token, which is 32 random bytes and is shown once
  read_only   boolean not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,                 -- null: never
  used_at     timestamptz,
  minute      timestamptz not null default 'epoch', -- in which `requests` were made
  requests    int not null default 0
);
create index api_tokens_base on api_tokens (base_id);
comment on table api_tokens is 'Who may reach a base over HTTP; each token opens one base.';

alter table chat_messages
  add column sources jsonb not null default '[]',
  add column context_used jsonb not null default '[]';
alter table chat_archive
  add column sources jsonb not null default '[]',
  add column context_used jsonb not null default '[]';
comment on column chat_messages.sources is 'The sources that the answer names, with their quotes.';
comment on column chat_messages.context_used is
  'The facts that the answer was made from: their passages by id, without the words of documents.';

select baza_internal.secure_new_objects();

-- The base over HTTP. In: bases. Out: who may ask over HTTP, and who is told of it.

set search_path = public, extensions;

create table api_tokens (
  id          bigint generated always as identity (start with 4503599627370496) primary key, -- 2^52: ids of Telegram
                                           -- have 52 bits, so a token is a person of its own, with its own dialogues
  user_id     bigint,                      -- whose it is: it may do no more than they may; null: of the command line
  base_id     uuid references bases on delete cascade,  -- null: all bases of the person
  hash        text not null unique,        -- SHA-256 of the token, which is 32 random bytes and is shown once
  read_only   boolean not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,                 -- null: never
  used_at     timestamptz,
  minute      timestamptz not null default 'epoch', -- in which `requests` were made
  requests    int not null default 0,
  day         date not null default 'epoch',   -- on which `bytes` were sent
  bytes       bigint not null default 0,
  check (user_id is not null or base_id is not null)
);
create index api_tokens_base on api_tokens (base_id);
create index api_tokens_user on api_tokens (user_id);
comment on table api_tokens is 'Who may reach bases over HTTP: one base, or all of a person.';

create table api_additions (
  token_id    bigint not null references api_tokens on delete cascade,
  key         text not null,               -- Idempotency-Key
  digest      text not null,               -- SHA-256 of what was sent with it
  answer      jsonb,                       -- the document as it was then
  created_at  timestamptz not null default now(),
  primary key (token_id, key)
);
create index api_additions_created on api_additions (created_at);
comment on table api_additions is 'What was added under an Idempotency-Key, for a day.';

create table webhooks (
  id          uuid primary key default gen_random_uuid(),
  base_id     uuid not null references bases on delete cascade,
  url         text not null,
  secret      text not null,               -- signs what is sent there, so it cannot be stored as a hash
  created_at  timestamptz not null default now(),
  problem     text                         -- why the last try failed; null: it did not
);
create index webhooks_base on webhooks (base_id);
comment on table webhooks is 'Addresses that are told when a document of a base ends.';

create table webhook_messages (
  id          uuid primary key default gen_random_uuid(),
  webhook_id  uuid not null references webhooks on delete cascade,
  base_id     uuid not null,
  body        jsonb not null,
  attempts    int not null default 0,
  due_at      timestamptz not null default now(),
  created_at  timestamptz not null default now()
);
create index webhook_messages_due on webhook_messages (due_at);
create index webhook_messages_webhook on webhook_messages (webhook_id);
comment on table webhook_messages is 'What webhooks are still to be told; removed once they have answered.';

select baza_internal.secure_new_objects();

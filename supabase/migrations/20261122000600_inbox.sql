-- The inbox: every update of Telegram is kept here from the moment it is acknowledged until it is handled.

set search_path = public, extensions;

create table inbox (
  bot_id      bigint not null,
  update_id   bigint not null,
  chat_id     bigint not null,              -- whose order it belongs to; 0: of no chat
  payload     jsonb,                        -- null once handled: message bodies are not kept here
  attempts    int not null default 0,
  holder      text,                         -- the process that handles it, or has it next
  lease_until timestamptz,                  -- until when, unless it is renewed; null: nobody's
  received_at timestamptz not null default now(),
  handled_at  timestamptz,
  primary key (bot_id, update_id)
);
create index inbox_waiting on inbox (bot_id, update_id) where handled_at is null;
create index inbox_handled on inbox (bot_id, handled_at) where handled_at is not null;  -- each call looks for old ones
comment on table inbox is
  'Updates that were acknowledged to Telegram; the handled ones are remembered for a day against redelivery.';

select baza_internal.secure_new_objects();

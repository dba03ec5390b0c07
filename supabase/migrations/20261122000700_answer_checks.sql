-- What the check of an answer found and took, and where among the facts those stood that it used.
-- In: turn_metrics. Out: two columns; rows from before have neither.

set search_path = public, extensions;

alter table turn_metrics
  add column used_rank real,                            -- mean rank, from 1, of the facts used; null: none was
  add column checked jsonb not null default '{}';       -- outcome, statements, failed, withdrawn, tokens, seconds

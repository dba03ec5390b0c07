-- What a day has cost outlives the base that it was spent on, or whoever makes and deletes bases would have no bound.
-- What a person's tokens cost counts in the person's day.

set search_path = public, extensions;

alter table turn_metrics drop constraint turn_metrics_base_id_fkey,
  add constraint turn_metrics_base_id_fkey foreign key (base_id) references bases on delete set null;
alter table reading_costs drop constraint reading_costs_base_id_fkey,
  add constraint reading_costs_base_id_fkey foreign key (base_id) references bases on delete set null,
  alter column base_id drop not null,
  add column asker bigint;
update reading_costs set asker = user_id;
alter table reading_costs alter column asker set not null;
comment on column reading_costs.asker is 'The person whose day it counts in; `user_id` may be a token of theirs.';
drop index reading_costs_day;
create index reading_costs_day on reading_costs (asker, created_at) include (cost);
create index reading_costs_time on reading_costs (created_at);
drop index turn_metrics_asker;
create index turn_metrics_asker on turn_metrics (asker, created_at, id) include (cost, user_id) where by_model;

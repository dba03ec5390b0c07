-- What questions that are being answered may cost, so that many at one moment do not pass a bound together. In: nothing
-- that was there. Out: `reservations`, empty.

set search_path = public, extensions;

create table reservations (
  id          uuid primary key default gen_random_uuid(),
  user_id     bigint not null,             -- who asked: a person, a group, a token
  asker       bigint not null,             -- the person in whose day it counts
  cost        double precision not null,   -- US dollars; infinity: nobody knows yet what a question costs
  ends_at     timestamptz not null         -- unless it is renewed: then the process that answered was killed
);
create index reservations_asker on reservations (asker, ends_at);
comment on table reservations is 'What questions that are being answered may cost; gone with their row of turn_metrics.';

select baza_internal.secure_new_objects();

-- What a day costs. In: turns and readings, and what they took. Out: what a person has spent in 24 hours, and whether one
-- more question may be asked of models: what those being answered may cost is reserved, so that many questions at one
-- moment do not pass a bound together.

create or replace function baza_internal.whose_day(p_user bigint)
returns bigint
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select coalesce((select t.user_id from api_tokens t where t.id = p_user), p_user)
$$;
comment on function baza_internal.whose_day is 'In whose day something counts: of a token, that of the person who made it.';

create or replace function save_turn(p_user bigint, p_base text, p_turn text, p_asker bigint default null,
  p_reservation text default null, p_person bigint default null)
returns table (id bigint, created_at timestamptz)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  delete from reservations r where r.id = p_reservation::uuid and r.user_id = p_user;
  delete from turn_metrics t where t.base_id is null and t.created_at < now() - interval '24 hours';
  insert into turn_metrics as t (user_id, asker, base_id, kind, model, seconds, planned_s, found_s, first_s, plan,
    facts, facts_used, passages, steps_planned, steps_run, adapted, each_step, used_rank, checked, searching_s, models_s,
    calls, prompt_tokens, answer_tokens, cost)
  select p_user, coalesce(p_asker, whose_day(p_user)), p_base::uuid, x.kind, x.model, x.seconds, pace.planned_s,
    pace.found_s, pace.first_s, x.plan, x.facts, x.facts_used, x.passages, steps.planned, steps.run, steps.adapted,
    x.each_step, x.used_rank, x.checked, used.searching_s, used.models_s, used.calls, used.prompt_tokens,
    used.answer_tokens, used.cost
  from jsonb_to_record(p_turn::jsonb) x (kind text, model text, seconds real, pace jsonb, plan text, facts int,
      facts_used int, passages int, steps jsonb, each_step jsonb, used_rank real, checked jsonb, usage jsonb),
    jsonb_to_record(x.pace) pace (planned_s real, found_s real, first_s real),
    jsonb_to_record(x.steps) steps (planned int, run int, adapted int),
    jsonb_to_record(x.usage) used (searching_s real, models_s real, calls int, prompt_tokens bigint,
      answer_tokens bigint, cost double precision)
  returning t.id, t.created_at
$$;
comment on function save_turn is
  'What a turn took and cost; no texts. `p_turn`: the program''s `TurnMetrics`. `p_asker`: who asked in a group. '
  'What `p_reservation` held for it is free again in the same moment.';

create or replace function baza_internal.likely_cost(p_asker bigint)
returns double precision
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select coalesce(
    (select max(r.cost) from (
      select t.cost from turn_metrics t where t.asker = p_asker and t.by_model order by t.created_at desc limit 20) r),
    (select max(r.cost) from (select t.cost from turn_metrics t where t.by_model order by t.created_at desc limit 20) r),
    'infinity')
$$;
comment on function baza_internal.likely_cost is
  'What a question of this person may cost, in US dollars: as much as the dearest of their last 20, or else of '
  'everybody''s. Infinity before the first: then one is asked at a time.';

create or replace function reserve_question(p_user bigint, p_asker bigint, p_questions bigint, p_cost double precision,
  p_token_cost double precision, p_lease_s double precision)
returns table (id uuid, cost double precision, refused text, until timestamptz)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  likely constant double precision := likely_cost(p_asker);
  day record;
begin
  perform pg_advisory_xact_lock(hashtextextended('spending ' || p_asker, 0));
  delete from reservations r where r.asker = p_asker and r.ends_at < now();
  select own.questions, own.cost, own.until, by_token.cost as token_cost, by_token.until as token_until, held.*
  into day
  from spent_in_a_day(p_asker, p_questions, p_cost) own, spent_in_a_day(p_asker, null, p_token_cost, p_user) by_token, (
    select count(*) as held_questions, coalesce(sum(r.cost), 0) as held_cost,
      coalesce(sum(r.cost) filter (where r.user_id = p_user), 0) as held_by_token
    from reservations r where r.asker = p_asker) held;
  if day.token_until is not null or day.until is not null then
    return query select null::uuid, 0::double precision,
      case when day.token_until is null then 'spent' else 'token_spent' end, coalesce(day.token_until, day.until);
  elsif day.questions + day.held_questions >= p_questions
      or day.held_cost > 0 and day.cost + day.held_cost + likely > p_cost
      or day.held_by_token > 0 and day.token_cost + day.held_by_token + likely > p_token_cost then
    return query select null::uuid, 0::double precision, 'busy', null::timestamptz;
  else
    return query
    insert into reservations as r (user_id, asker, cost, ends_at)
    values (p_user, p_asker, likely, now() + make_interval(secs => p_lease_s))
    returning r.id, case when r.cost < 'infinity' then r.cost else 0 end, null::text, null::timestamptz;
  end if;
end $$;
comment on function reserve_question is
  'Whether `p_user` (a person, a group, a token) may ask models one more question in the day of `p_asker`; null bounds '
  'hold nobody back. It is asked and counted in one step. `cost`: what is held for it until `save_turn`, or until '
  '`p_lease_s` have passed without `renew_reservation`; 0: nobody knows what a question costs. `refused`: '
  '`token_spent` or `spent`, until then; `busy`: those being answered may take what is left. The last question of a day '
  'may pass a bound, never two.';

create or replace function renew_reservation(p_reservation text, p_lease_s double precision)
returns table (id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update reservations r set ends_at = now() + make_interval(secs => p_lease_s) where r.id = p_reservation::uuid
  returning r.id
$$;
comment on function renew_reservation is 'The question is still being answered; no row for one that is over.';

create or replace function save_reading_cost(p_base text, p_document text, p_cost double precision,
  p_person bigint default null)
returns table (id bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'write');
  with old as (
    delete from reading_costs r where r.created_at < now() - interval '24 hours'
  )
  insert into reading_costs as r (user_id, asker, base_id, cost)
  select d.user_id, whose_day(d.user_id), d.base_id, p_cost from documents d
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.user_id <> 0
  returning r.id
$$;
comment on function save_reading_cost is
  'What models have cost for reading a document, counted in the day of its sender; the command line has none.';

create or replace function spent_in_a_day(p_user bigint, p_questions bigint default null,
  p_cost double precision default null, p_token bigint default null)
returns table (questions bigint, cost double precision, until timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with spent as (
    select t.created_at, t.cost, 1 as questions from turn_metrics t
    where t.asker = p_user and t.by_model and t.created_at > now() - interval '24 hours'
      and t.user_id = coalesce(p_token, t.user_id)
    union all
    select r.created_at, r.cost, 0 from reading_costs r
    where r.asker = p_user and r.created_at > now() - interval '24 hours' and r.user_id = coalesce(p_token, r.user_id)
  ), running as (
    select s.*, sum(s.questions) over latest as questions_since, sum(s.cost) over latest as cost_since
    from spent s
    window latest as (order by s.created_at desc rows unbounded preceding)
  )
  select coalesce(sum(r.questions), 0), coalesce(sum(r.cost), 0),
    max(r.created_at) filter (where r.questions > 0 and r.questions_since >= p_questions or r.cost_since >= p_cost)
      + interval '24 hours'
  from running r
$$;
comment on function spent_in_a_day is
  'Questions of a person, in any chat, that a model has answered or planned in the last 24 hours, and their cost in US '
  'dollars, with that of reading what the person has sent; with `p_token` only what came by this token of theirs. '
  '`until`: when enough of them are older than that for both bounds to be kept again; null while both are kept (a null '
  'bound always is).';

create or replace function sender_spent_until(p_base text, p_document text, p_cost double precision,
  p_token_cost double precision, p_exempt bigint[], p_person bigint default null)
returns table (until timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'write');
  select greatest(own.until, by_token.until)
  from documents d cross join lateral whose_day(d.user_id) payer
    left join lateral spent_in_a_day(payer, null, p_cost) own on payer <> all (p_exempt)
    left join api_tokens t on t.id = d.user_id
    left join lateral spent_in_a_day(payer, null, p_token_cost, t.id) by_token on t.id is not null
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.user_id <> 0
$$;
comment on function sender_spent_until is
  'Until when the sender of a document, or the person whose token sent it, has spent what models may cost in a day, or '
  'the token has; null while there is room. Those exempt, and the command line, are not bounded; their tokens are.';

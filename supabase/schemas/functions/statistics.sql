-- Statistics for people (/stats) and for the operator. In: thumbs; then a base, or nothing for all of them. Out: counts,
-- times, money; no text, no name, no id of anybody. A person sees the figures of the base; the bot decides who may see
-- those of all.

create or replace function save_feedback(p_user bigint, p_base text, p_chat bigint, p_message bigint, p_rating int,
  p_person bigint default null)
returns table (id bigint, rating int)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  insert into answer_feedback as f (user_id, base_id, chat_id, message_id, rating)
  values (p_user, p_base::uuid, p_chat, p_message, p_rating)
  on conflict (user_id, chat_id, message_id) do update set rating = excluded.rating
  returning f.id, f.rating::int
$$;
comment on function save_feedback is 'A thumb under an answer; a person has one for each answer and may change it.';

create or replace function baza_internal.local_day(p_at timestamptz, p_offset_minutes int) returns date
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$ select (p_at at time zone 'UTC' + make_interval(mins => p_offset_minutes))::date $$;
comment on function baza_internal.local_day is 'The day by a clock that is so many minutes ahead of UTC.';

create or replace function baza_internal.turn_figures(p_base uuid, p_days int)
returns jsonb
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select jsonb_build_object(
    'median_s', percentile_cont(0.5) within group (order by t.seconds),
    'p95_s', percentile_cont(0.95) within group (order by t.seconds),
    'thumbs_up', (select count(*) from answer_feedback f where f.rating > 0
      and (p_base is null or f.base_id = p_base) and f.created_at > now() - make_interval(days => p_days)),
    'thumbs_down', (select count(*) from answer_feedback f where f.rating < 0
      and (p_base is null or f.base_id = p_base) and f.created_at > now() - make_interval(days => p_days)),
    'tokens', coalesce(sum(t.prompt_tokens + t.answer_tokens), 0), 'cost', coalesce(sum(t.cost), 0),
    'steps', jsonb_build_object(
      'turns', count(*) filter (where t.steps_planned > 0), 'planned', coalesce(sum(t.steps_planned), 0),
      'run', coalesce(sum(t.steps_run), 0), 'adapted', coalesce(sum(t.adapted), 0),
      'median_s', percentile_cont(0.5) within group (order by t.seconds) filter (where t.steps_planned > 0)))
  from turn_metrics t
  where (p_base is null or t.base_id = p_base) and t.created_at > now() - make_interval(days => p_days)
$$;
comment on function baza_internal.turn_figures is
  'How the turns of the last `p_days` days went, in a base or (null) in all: seconds of an answer (none without turns), '
  'tokens, US dollars, thumbs; `steps` are of those that were planned in several steps.';

create or replace function base_statistics(p_base text, p_days int, p_offset_minutes int, p_person bigint default null)
returns table (documents bigint, passages bigint, pages bigint, recorded_s double precision, figures jsonb, days json)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select count(*), coalesce(sum(d.chunks), 0)::bigint, coalesce(sum(d.pages), 0)::bigint,
    coalesce(sum(d.duration_s), 0), turn_figures(p_base::uuid, p_days),
    (select coalesce(json_agg(t), '[]') from turns_by_day(p_base::uuid, p_days, p_offset_minutes) t)
  from documents d where d.base_id = p_base::uuid and d.status = 'ready'
$$;
comment on function base_statistics is
  'What a base holds, and how its turns of the last `p_days` days went, together and day by day.';

create or replace function baza_internal.turns_by_day(p_base uuid, p_days int, p_offset_minutes int)
returns table (day date, kind text, turns bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with shifted as (
    select local_day(t.created_at, p_offset_minutes) as day, t.kind from turn_metrics t
    where t.base_id = p_base and t.created_at > now() - make_interval(days => p_days + 1)
  )
  select s.day, s.kind, count(*) from shifted s
  where s.day > local_day(now(), p_offset_minutes) - p_days
  group by s.day, s.kind order by s.day, s.kind
$$;
comment on function baza_internal.turns_by_day is
  'How many turns of each kind a base had on each of the last `p_days` days, today included; days are those of a clock '
  'that is so many minutes ahead of UTC. Days without turns are left out.';

create or replace function queue_state()
returns table (waiting bigint, working bigint, oldest_s double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select count(*) filter (where d.phase = 'waiting'), count(*) filter (where d.phase = 'working'),
    coalesce(extract(epoch from now() - min(d.created_at) filter (where d.phase = 'waiting')), 0)::double precision
  from documents d where d.phase in ('waiting', 'working')
$$;
comment on function queue_state is 'How many documents wait or are in work, and the age of the oldest that waits.';

create or replace function overall_statistics(p_days int, p_offset_minutes int)
returns table (people bigint, active bigint, bases bigint, turns bigint, general bigint, quoted bigint,
  unanswered bigint, model_calls bigint, slowest_s double precision, slowest_document_s double precision,
  figures jsonb, total_s double precision, searching_s double precision, models_s double precision, facts bigint,
  facts_used bigint, actions json, days json, documents json, failures json, queue json)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select (select count(*) from user_state u where u.user_id > 0), count(distinct r.user_id),
    (select count(*) from bases b), count(*), count(*) filter (where r.kind = 'general'),
    count(*) filter (where r.kind = 'quotes'), count(*) filter (where r.kind = 'nothing'),
    coalesce(sum(r.calls), 0)::bigint, max(r.seconds)::double precision,
    (select max(extract(epoch from d.finished_at - d.started_at))::double precision from documents d
     where d.status = 'ready' and d.finished_at > now() - make_interval(days => p_days)),
    turn_figures(null, p_days),
    coalesce(sum(r.seconds), 0)::double precision, coalesce(sum(r.searching_s), 0)::double precision,
    coalesce(sum(r.models_s), 0)::double precision,
    coalesce(sum(r.facts), 0)::bigint, coalesce(sum(r.facts_used), 0)::bigint,
    (select coalesce(json_agg(a), '[]') from steps_by_action(p_days) a),
    (select coalesce(json_agg(o), '[]') from overall_by_day(p_days, p_offset_minutes) o),
    (select coalesce(json_object_agg(d.status, d.held), '{}') from (
      select status, count(*) as held from documents group by status order by status) d),
    (select coalesce(json_object_agg(f.code, f.documents), '{}') from (
      select coalesce(d.error_code, 'internal') as code, count(*) as documents from documents d
      where d.status = 'failed' and d.finished_at > now() - make_interval(days => p_days)
      group by 1 order by 2 desc, 1 limit 10) f),
    (select row_to_json(q) from queue_state() q)
  from turn_metrics r where r.created_at > now() - make_interval(days => p_days)
$$;
comment on function overall_statistics is
  'All people and bases, and how the turns of the last `p_days` days went. `active` counts groups as one each; '
  '`documents` are counted by their status, `failures` by why they could not be read, the most frequent first.';

create or replace function baza_internal.overall_by_day(p_days int, p_offset_minutes int)
returns table (day date, turns bigint, people bigint, tokens bigint, cost double precision, median_s double precision,
  p95_s double precision, thumbs_up bigint, thumbs_down bigint, read bigint, failed bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  with asked as (
    select local_day(t.created_at, p_offset_minutes) as day, count(*) as turns, count(distinct t.user_id) as people,
      coalesce(sum(t.prompt_tokens + t.answer_tokens), 0)::bigint as tokens, coalesce(sum(t.cost), 0) as cost,
      percentile_cont(0.5) within group (order by t.seconds) as median_s,
      percentile_cont(0.95) within group (order by t.seconds) as p95_s
    from turn_metrics t where t.created_at > now() - make_interval(days => p_days + 1) group by 1
  ),
  rated as (
    select local_day(f.created_at, p_offset_minutes) as day, count(*) filter (where f.rating > 0) as up,
      count(*) filter (where f.rating < 0) as down
    from answer_feedback f where f.created_at > now() - make_interval(days => p_days + 1) group by 1
  ),
  worked as (
    select local_day(d.finished_at, p_offset_minutes) as day,
      count(*) filter (where d.status in ('ready', 'superseded')) as read,
      count(*) filter (where d.status = 'failed') as failed
    from documents d where d.finished_at > now() - make_interval(days => p_days + 1) group by 1
  )
  select day, coalesce(a.turns, 0), coalesce(a.people, 0), coalesce(a.tokens, 0), coalesce(a.cost, 0), a.median_s,
    a.p95_s, coalesce(r.up, 0), coalesce(r.down, 0), coalesce(w.read, 0), coalesce(w.failed, 0)
  from asked a full join rated r using (day) full join worked w using (day)
  where day > local_day(now(), p_offset_minutes) - p_days order by day
$$;
comment on function baza_internal.overall_by_day is
  'What everybody did on each of the last `p_days` days, today included, by a clock so many minutes ahead of UTC: '
  'turns, who asked (a group is one), seconds of their answers, thumbs, documents that were read or could not be.';

create or replace function baza_internal.steps_by_action(p_days int)
returns table (action text, steps bigint, failed bigint, median_s double precision, tokens bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select s.action, count(*), count(*) filter (where s.state = 'failed'),
    coalesce(percentile_cont(0.5) within group (order by s.seconds), 0), coalesce(sum(s.tokens), 0)::bigint
  from turn_metrics t
  cross join jsonb_to_recordset(t.each_step) s (action text, state text, seconds double precision, tokens bigint)
  where t.created_at > now() - make_interval(days => p_days) and t.steps_planned > 0
  group by s.action order by 2 desc, 1
$$;
comment on function baza_internal.steps_by_action is
  'Steps of everybody''s plans in the last days, by action: counts, times, tokens.';

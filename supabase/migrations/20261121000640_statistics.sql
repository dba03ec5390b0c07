-- Figures for people (/stats) and for whoever hosts the bot. In: a base, or nothing at all. Out: counts, times, money; no
-- text, no name, no id of anybody. A person's figures are those of the base; who may see everybody's is the bot's to say.

set search_path = public, extensions;

create index turn_metrics_base on turn_metrics (base_id, created_at);
create index turn_metrics_day on turn_metrics (created_at);
create index answer_feedback_base on answer_feedback (base_id, created_at);

create function base_statistics(p_base text, p_days int)
returns table (documents bigint, passages bigint, pages bigint, recorded_s double precision, thumbs_up bigint,
  thumbs_down bigint, median_s double precision, p95_s double precision, tokens bigint, cost double precision)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select held.documents, held.passages, held.pages, held.recorded_s, thumbs.up, thumbs.down,
    turns.median_s, turns.p95_s, turns.tokens, turns.cost
  from (
    select count(*) as documents, coalesce(sum(d.chunks), 0)::bigint as passages,
      coalesce(sum(d.pages), 0)::bigint as pages, coalesce(sum(d.duration_s), 0) as recorded_s
    from documents d where d.base_id = p_base::uuid and d.status = 'ready') held,
  (
    select count(*) filter (where f.rating > 0) as up, count(*) filter (where f.rating < 0) as down
    from answer_feedback f
    where f.base_id = p_base::uuid and f.created_at > now() - make_interval(days => p_days)) thumbs,
  (
    select percentile_cont(0.5) within group (order by t.seconds) as median_s,
      percentile_cont(0.95) within group (order by t.seconds) as p95_s,
      coalesce(sum(t.prompt_tokens + t.answer_tokens), 0)::bigint as tokens, coalesce(sum(t.cost), 0) as cost
    from turn_metrics t
    where t.base_id = p_base::uuid and t.created_at > now() - make_interval(days => p_days)) turns
$$;
comment on function base_statistics is
  'What a base holds, and how its turns of the last `p_days` days went: seconds of an answer (none without turns), tokens, '
  'US dollars, thumbs.';

create function turns_by_day(p_base text, p_days int, p_offset_minutes int)
returns table (day date, kind text, turns bigint)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  with shifted as (
    select (t.created_at at time zone 'UTC' + make_interval(mins => p_offset_minutes))::date as day, t.kind
    from turn_metrics t
    where t.base_id = p_base::uuid and t.created_at > now() - make_interval(days => p_days + 1)
  )
  select s.day, s.kind, count(*) from shifted s
  where s.day > (now() at time zone 'UTC' + make_interval(mins => p_offset_minutes))::date - p_days
  group by s.day, s.kind order by s.day, s.kind
$$;
comment on function turns_by_day is
  'How many turns of each kind a base had on each of the last `p_days` days, today included; days are those of a clock '
  'that is so many minutes ahead of UTC. Days without turns are left out.';

create function queue_state()
returns table (waiting bigint, working bigint, oldest_s double precision)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select count(*) filter (where d.phase = 'waiting'), count(*) filter (where d.phase = 'working'),
    coalesce(extract(epoch from now() - min(d.created_at) filter (where d.phase = 'waiting')), 0)::double precision
  from documents d where d.phase in ('waiting', 'working')
$$;
comment on function queue_state is 'Documents that wait or are worked, and for how long the first of those has waited.';

create function documents_by_status()
returns table (status text, documents bigint)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select d.status, count(*) from documents d group by d.status order by d.status
$$;
comment on function documents_by_status is 'Documents of all bases.';

create function failures_by_code(p_days int, p_limit int)
returns table (code text, documents bigint)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select coalesce(d.error_code, 'internal'), count(*) from documents d
  where d.status = 'failed' and d.finished_at > now() - make_interval(days => p_days)
  group by 1 order by 2 desc, 1 limit p_limit
$$;
comment on function failures_by_code is 'Why documents of all bases could not be read in the last days, the most frequent first.';

create function overall_statistics(p_days int)
returns table (people bigint, active bigint, bases bigint, turns bigint, general bigint, quoted bigint, unanswered bigint,
  thumbs_up bigint, thumbs_down bigint, median_s double precision, p95_s double precision, slowest_s double precision,
  slowest_document_s double precision, model_calls bigint, tokens bigint, cost double precision)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  with recent as materialized (
    select * from turn_metrics t where t.created_at > now() - make_interval(days => p_days)
  )
  select (select count(*) from user_state u where u.user_id > 0), count(distinct r.user_id),
    (select count(*) from bases b), count(*), count(*) filter (where r.kind = 'general'),
    count(*) filter (where r.kind = 'quotes'), count(*) filter (where r.kind = 'nothing'),
    (select count(*) from answer_feedback f
     where f.rating > 0 and f.created_at > now() - make_interval(days => p_days)),
    (select count(*) from answer_feedback f
     where f.rating < 0 and f.created_at > now() - make_interval(days => p_days)),
    percentile_cont(0.5) within group (order by r.seconds), percentile_cont(0.95) within group (order by r.seconds),
    max(r.seconds)::double precision,
    (select max(extract(epoch from d.finished_at - d.started_at))::double precision from documents d
     where d.status = 'ready' and d.finished_at > now() - make_interval(days => p_days)),
    coalesce(sum(r.calls), 0)::bigint, coalesce(sum(r.prompt_tokens + r.answer_tokens), 0)::bigint,
    coalesce(sum(r.cost), 0)
  from recent r
$$;
comment on function overall_statistics is
  'All people and bases, and how the turns of the last `p_days` days went. `active` counts groups as one each.';

-- Dialogues. In: a person and a dialogue. Out: its last exchanges. The window is small, the archive keeps the rest.
create or replace function baza_internal.lock_dialogue(p_user bigint)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('dialogue of ' || p_user, 0))
$$;
comment on function baza_internal.lock_dialogue is
  'One writer at a time to the dialogues of a person, until the transaction ends.';

create or replace function insert_and_trim_pairs(p_user bigint, p_session text, p_base text, p_question text,
  p_answer text,
  p_question_terms text[] default '{}', p_answer_terms text[] default '{}', p_keep int default 30,
  p_sources text default '[]', p_context text default '[]', p_person bigint default null)
returns table (kept bigint, archived bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform require(p_base, p_person, 'read');
  perform lock_dialogue(p_user);
  insert into chat_messages (user_id, session_id, base_id, role, content, terms, sources, context_used)
  select p_user, p_session::uuid, p_base::uuid, said.role, said.content, said.terms, said.sources::jsonb,
    said.context::jsonb
  from (values (1, 'user', p_question, p_question_terms, '[]', '[]'),
      (2, 'assistant', p_answer, p_answer_terms, p_sources, p_context))
    as said (turn, role, content, terms, sources, context)
  order by said.turn;
  return query
  with leaving as (
    delete from chat_messages m
    where m.user_id = p_user and m.session_id = p_session::uuid and m.id not in (
      select w.id from chat_messages w where w.user_id = p_user and w.session_id = p_session::uuid
      order by w.id desc limit p_keep)
    returning m.*
  ), moved as (
    insert into chat_archive (id, user_id, session_id, base_id, role, content, created_at, terms, sources, context_used)
    select l.id, l.user_id, l.session_id, l.base_id, l.role, l.content, l.created_at, l.terms, l.sources, l.context_used
    from leaving l
    returning 1
  )
  select least(count(*), p_keep), (select count(*) from moved) -- counted as it was before the deletion
  from chat_messages m where m.user_id = p_user and m.session_id = p_session::uuid;
end $$;
comment on function insert_and_trim_pairs is
  'Adds a question with its answer, keeps the last `p_keep` messages of the dialogue, moves older ones to the archive.';

create or replace function baza_internal.dialogue_window(p_user bigint, p_session text, p_pairs int)
returns table (id bigint, question text, answer text)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
  select pair.id, pair.question, pair.answer
  from (
    select m.id, m.role, m.content as question, lead(m.content) over (order by m.id) as answer
    from (
      select * from chat_messages
      where user_id = p_user and session_id = p_session::uuid
      order by id desc limit 2 * p_pairs) m
  ) pair
  where pair.role = 'user' and pair.answer is not null
  order by pair.id
$$;
comment on function baza_internal.dialogue_window is 'The last exchanges of a dialogue, oldest first.';

create or replace function baza_internal.archived_pairs(p_user bigint, p_session text)
returns table (id bigint, last_id bigint, question text, answer text, terms text[])
language sql stable set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
  select pair.id, pair.next_id, pair.content, pair.answer, pair.terms || pair.next_terms
  from (
    select a.id, a.role, a.content, a.terms, lead(a.id) over told as next_id, lead(a.content) over told as answer,
      lead(a.terms) over told as next_terms
    from chat_archive a
    where a.user_id = p_user and a.session_id = p_session::uuid
    window told as (order by a.id)
  ) pair
  where pair.role = 'user' and pair.answer is not null
$$;
comment on function baza_internal.archived_pairs is
  'The exchanges that have left the window of a dialogue, with their terms.';

create or replace function baza_internal.recall_pairs(p_user bigint, p_session text, p_terms text[], p_limit int)
returns table (id bigint, question text, answer text, score double precision)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
  with pairs as materialized (
    select p.*, cardinality(p.terms) as length from archived_pairs(p_user, p_session) p
  ), whole as (
    select count(*)::double precision as total, greatest(avg(length), 1)::double precision as average from pairs
  ), hits as (
    select p.id, t.term, count(*) as frequency, p.length
    from pairs p cross join lateral unnest(p.terms) as t (term)
    where t.term = any (p_terms)
    group by p.id, t.term, p.length
  ), rarity as (
    select h.term, ln(1 + (w.total - count(*) + 0.5) / (count(*) + 0.5)) as idf
    from hits h cross join whole w group by h.term, w.total
  ), scored as (
    select h.id, sum(r.idf * h.frequency * 2.2 / (h.frequency + 1.2 * (0.25 + 0.75 * h.length / w.average))) as score
    from hits h join rarity r on r.term = h.term cross join whole w
    group by h.id
    order by score desc, h.id desc limit p_limit
  )
  select p.id, p.question, p.answer, s.score from scored s join pairs p on p.id = s.id order by p.id
$$;
comment on function baza_internal.recall_pairs is
  'Exchanges that have left the window and are most like a question, by BM25 within the dialogue; oldest first.';

create or replace function recollect(p_user bigint, p_session text, p_pairs int, p_terms text[], p_recalled int)
returns table (part text, question text, answer text)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
  select said.part, said.question, said.answer
  from (
    select 1 as place, 0::bigint as id, 'summary' as part, '' as question, s.summary as answer
    from chat_session_summary s where s.user_id = p_user and s.session_id = p_session::uuid
    union all
    select 2, r.id, 'recalled', r.question, r.answer from recall_pairs(p_user, p_session, p_terms, p_recalled) r
    union all
    select 3, w.id, 'window', w.question, w.answer from dialogue_window(p_user, p_session, p_pairs) w
  ) said
  order by said.place, said.id
$$;
comment on function recollect is
  'All that a turn remembers of its dialogue, in one call: the summary, old exchanges like the question, the window.';

create or replace function unsummarised_pairs(p_user bigint, p_session text, p_limit int)
returns table (question text, answer text, last_id bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select p.question, p.answer, p.last_id from archived_pairs(p_user, p_session) p
  where p.last_id > coalesce((
    select s.up_to from chat_session_summary s where s.user_id = p_user and s.session_id = p_session::uuid), 0)
  order by p.id limit p_limit
$$;
comment on function unsummarised_pairs is
  'Exchanges that have left the window and are not in the summary yet, oldest first.';

create or replace function save_summary(p_user bigint, p_session text, p_summary text, p_up_to bigint)
returns table (up_to bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
begin
  perform lock_dialogue(p_user);
  if not exists (
      select from chat_archive a
      where a.user_id = p_user and a.session_id = p_session::uuid and a.id = p_up_to) then
    return; -- the chat was cleaned while the summary was being written
  end if;
  return query
  insert into chat_session_summary as s (user_id, session_id, summary, up_to)
  values (p_user, p_session::uuid, p_summary, p_up_to)
  on conflict (user_id, session_id) do update
    set summary = excluded.summary, up_to = excluded.up_to, updated_at = now() where s.up_to < excluded.up_to
  returning s.up_to;
end $$;
comment on function save_summary is
  'Keeps the running summary of a dialogue; no row when a later one is there, or when the dialogue was erased '
  'meanwhile.';

create or replace function list_sessions(p_user bigint, p_limit int, p_base text default null,
  p_person bigint default null)
returns table (id uuid, title text, exchanges bigint)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read') where p_base is not null;
  with said as (
    select m.session_id, m.id, m.base_id, m.role, m.content, m.created_at from chat_messages m where m.user_id = p_user
    union all
    select a.session_id, a.id, a.base_id, a.role, a.content, a.created_at from chat_archive a where a.user_id = p_user
  )
  select s.session_id, coalesce((array_agg(s.content order by s.id) filter (where s.role = 'user'))[1], ''),
    count(*) filter (where s.role = 'user')
  from said s where p_base is null or s.base_id = p_base::uuid
  group by s.session_id order by max(s.created_at) desc limit p_limit
$$;
comment on function list_sessions is 'Dialogues of a person (about one base) by their first question, the latest first.';

create or replace function list_messages(p_user bigint, p_base text, p_session text, p_limit int,
  p_before bigint default null, p_person bigint default null)
returns table (id bigint, role text, content text, sources jsonb, context_used jsonb, created_at timestamptz)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select * from (
    select m.id, m.role, m.content, m.sources, m.context_used, m.created_at from chat_messages m
    where m.user_id = p_user and m.base_id = p_base::uuid and m.session_id = p_session::uuid
      and (p_before is null or m.id < p_before)
    union all
    select a.id, a.role, a.content, a.sources, a.context_used, a.created_at from chat_archive a
    where a.user_id = p_user and a.base_id = p_base::uuid and a.session_id = p_session::uuid
      and (p_before is null or a.id < p_before)
    order by id desc limit p_limit
  ) said
  order by said.id
$$;
comment on function list_messages is
  'The last messages of a dialogue with a base, or the last ones before `p_before`; oldest first, archived ones, too.';

create or replace function resume_session(p_user bigint, p_session text, p_thread bigint default 0)
returns setof opened_state
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update user_state u set session_id = p_session::uuid, updated_at = now()
  where u.user_id = p_user and u.thread_id = p_thread and exists (
    select from list_sessions(p_user, null, u.base_id::text) s where s.id = p_session::uuid);
  select * from user_states u
  where u.user_id = p_user and u.thread_id = p_thread and u.session_id = p_session::uuid
$$;
comment on function resume_session is
  'Goes on with an earlier dialogue of the same person about the base that is open; no row when there is none.';

create or replace function clean_chat(p_user bigint, p_base text default null, p_person bigint default null)
returns table (session_id uuid, messages bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  erased bigint;
begin
  if p_base is not null then
    perform require(p_base, p_person, 'read');
  end if;
  perform lock_dialogue(p_user);
  with recent as (
    delete from chat_messages m where m.user_id = p_user and (p_base is null or m.base_id = p_base::uuid) returning 1
  ), archived as (
    delete from chat_archive a where a.user_id = p_user and (p_base is null or a.base_id = p_base::uuid) returning 1
  )
  select (select count(*) from recent) + (select count(*) from archived) into erased;
  delete from chat_session_summary s
  where s.user_id = p_user and not exists (
    select from chat_messages m where m.user_id = p_user and m.session_id = s.session_id);
  update user_state u set session_id = gen_random_uuid(), updated_at = now()
  where u.user_id = p_user and (p_base is null or u.base_id = p_base::uuid);
  return query
  select u.session_id, erased from user_state u
  where u.user_id = p_user and (p_base is null or u.base_id = p_base::uuid)
  union all select gen_random_uuid(), erased limit 1;
end $$;
comment on function clean_chat is
  'Erases window, archive and summaries of a person''s dialogues (about one base), begins a new dialogue where it is '
  'open, and returns how many messages were erased.';

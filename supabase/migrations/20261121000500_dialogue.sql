-- What was said. In: a person and a dialogue. Out: its last exchanges. The window is small, the archive keeps the rest.

create function lock_dialogue(p_user bigint)
returns void
language sql security invoker set search_path = public, extensions, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('dialogue of ' || p_user, 0))
$$;
comment on function lock_dialogue is
  'Internal: one writer at a time to the dialogues of a person, until the transaction ends.';

create function insert_and_trim_pairs(p_user bigint, p_session text, p_base text, p_question text, p_answer text,
  p_keep int default 30)
returns table (kept bigint, archived bigint)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
begin
  perform lock_dialogue(p_user);
  insert into chat_messages (user_id, session_id, base_id, role, content)
  select p_user, p_session::uuid, p_base::uuid, said.role, said.content
  from (values (1, 'user', p_question), (2, 'assistant', p_answer)) as said (turn, role, content)
  order by said.turn;
  return query
  with leaving as (
    delete from chat_messages m
    where m.user_id = p_user and m.session_id = p_session::uuid and m.id not in (
      select w.id from chat_messages w where w.user_id = p_user and w.session_id = p_session::uuid
      order by w.id desc limit p_keep)
    returning m.*
  ), moved as (
    insert into chat_archive (id, user_id, session_id, base_id, role, content, created_at)
    select l.id, l.user_id, l.session_id, l.base_id, l.role, l.content, l.created_at from leaving l
    returning 1
  )
  select least(count(*), p_keep), (select count(*) from moved) -- counted as it was before the deletion
  from chat_messages m where m.user_id = p_user and m.session_id = p_session::uuid;
end $$;
comment on function insert_and_trim_pairs is
  'Adds a question with its answer, keeps the last `p_keep` messages of the dialogue, moves older ones to the archive.';

create function dialogue_window(p_user bigint, p_session text, p_pairs int)
returns table (question text, answer text)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select pair.question, pair.answer
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
comment on function dialogue_window is 'The last exchanges of a dialogue, oldest first.';

create function clean_chat(p_user bigint)
returns table (session_id uuid, messages bigint)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
begin
  perform lock_dialogue(p_user);
  return query
  with recent as (delete from chat_messages m where m.user_id = p_user returning 1),
       archived as (delete from chat_archive a where a.user_id = p_user returning 1),
       summaries as (delete from chat_session_summary s where s.user_id = p_user)
  select fresh.session_id, (select count(*) from recent) + (select count(*) from archived)
  from new_session(p_user) fresh;
end $$;
comment on function clean_chat is
  'Erases window, archive and summaries, begins a new dialogue, and says how many messages went.';

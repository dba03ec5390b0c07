-- The live messages of batches. In: what the bot has shown. Out: what it has to show next. They survive restarts.
-- These functions take a batch and no base: they are the bot's own work on messages that it sent, over all bases.
create or replace function baza_internal.tell_removed() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  if not exists (select from old_rows) then -- fired by the cascade of the delete below
    return null;
  end if;
  delete from batches b -- nobody waits for its message, or the message says already how all of it ended
  using (select batch_id, bool_and(phase = 'ended') as were_over from old_rows group by batch_id) gone
  where b.id = gone.batch_id and (b.chat_id is null or gone.were_over and b.shown_revision >= b.revision)
    and not exists (select from documents d where d.batch_id = b.id);
  update batches b
  set removed = b.removed + gone.documents,
      revision = b.revision + (not gone.were_over or b.shown_revision < b.revision)::int,
      message_id = case when left_over.any_left then b.message_id end,
      media_group = case when left_over.any_left then b.media_group end
  from (select batch_id, count(*)::int as documents, bool_and(phase = 'ended') as were_over
        from old_rows group by batch_id) gone
    cross join lateral (select exists (select from documents d where d.batch_id = gone.batch_id) as any_left) left_over
  where b.id = gone.batch_id;
  return null;
end $$;
comment on function baza_internal.tell_removed is
  'When documents are removed, a live message that has not reported their end yet is due once more. A batch '
  'left without documents keeps nothing of them, is no longer found by its message, and is deleted once that was shown '
  '(`confirm_notice`).';
-- After `documents_removed`, which locks the row of the base: triggers run in the order of their names.
create or replace trigger documents_removed_told after delete on documents
  referencing old table as old_rows for each statement execute function baza_internal.tell_removed();

create or replace function attach_notice(p_batch text, p_message bigint)
returns table (id uuid, notice_message_id bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  update batches b set notice_message_id = p_message where b.id = p_batch::uuid returning b.id, b.notice_message_id
$$;
comment on function attach_notice is 'Remembers which message of ours is the live one of a batch.';

create or replace function due_notices(p_limit int, p_hold_s double precision)
returns table (batch_id uuid, chat_id bigint, thread_id bigint, reply_to bigint, message_id bigint, language text,
  revision bigint, removed int, elsewhere jsonb, documents jsonb)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  v_due uuid[];
begin
  with due as (
    update batches b set notice_due_at = now() + make_interval(secs => p_hold_s)
    where b.id in (
      select waiting.id from batches waiting
      where waiting.chat_id is not null and waiting.shown_revision < waiting.revision and waiting.notice_due_at <= now()
      order by waiting.notice_due_at limit p_limit
      for update skip locked)
    returning b.id)
  select array_agg(due.id) into v_due from due;
  -- A statement of its own: the one above may lock a row that is newer than its snapshot, and would tell the newest
  -- revision with documents from before it.
  return query
  select b.id, b.chat_id, b.thread_id, b.message_id, b.notice_message_id, b.language, b.revision, b.removed,
    (select jsonb_build_object('id', its.id, 'name', coalesce(o.name, its.name), 'role', null, 'owner_name', o.owner_name)
     from bases its left join bases_of_people o on o.base_id = its.id and o.user_id = b.chat_id
     where its.id = b.base_id and exists (
       select from user_state s
       where s.user_id = b.chat_id and s.thread_id = coalesce(b.thread_id, 0) and s.base_id <> b.base_id)),
    coalesce((select jsonb_agg(to_jsonb(card) order by card.position)
              from document_cards card where card.batch_id = b.id), '[]')
  from batches b where b.id = any(v_due) order by b.created_at, b.id;
end $$;
comment on function due_notices is
  'Batches that have changed since they were shown, in the order in which they came, with their documents; each is '
  'reserved for this caller for `p_hold_s`. `elsewhere`: their base, where it is not the one that is open there.';

create or replace function confirm_notice(p_batch text, p_revision bigint)
returns table (id uuid, shown_revision bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  update batches b set shown_revision = greatest(b.shown_revision, p_revision), notice_due_at = now()
  where b.id = p_batch::uuid
  returning b.id, b.shown_revision;
  delete from batches b
  where b.id = p_batch::uuid and b.shown_revision >= b.revision and b.removed > 0
    and not exists (select from documents d where d.batch_id = b.id);
end $$;
comment on function confirm_notice is
  'Records that a batch is shown up to this revision; a newer one is due at once. Deletes it if all its documents were '
  'removed.';

-- The live messages of batches. In: what the bot has shown. Out: what it has to show next. They survive restarts.
-- These take a batch and no base: they are the bot's own work on messages that it sent, over all bases.

create function attach_notice(p_batch text, p_message bigint)
returns table (id uuid, notice_message_id bigint)
language sql security invoker set search_path = public, extensions, pg_temp
as $$
  update batches b set notice_message_id = p_message where b.id = p_batch::uuid returning b.id, b.notice_message_id
$$;
comment on function attach_notice is 'Remembers which message of ours is the live one of a batch.';

create function due_notices(p_limit int, p_hold_s double precision)
returns table (batch_id uuid, chat_id bigint, thread_id bigint, reply_to bigint, message_id bigint, language text,
  revision bigint, documents jsonb)
language sql security invoker set search_path = public, extensions, pg_temp
as $$
  with due as (
    update batches b set notice_due_at = now() + make_interval(secs => p_hold_s)
    where b.id in (
      select waiting.id from batches waiting
      where waiting.chat_id is not null and waiting.shown_revision < waiting.revision and waiting.notice_due_at <= now()
      order by waiting.notice_due_at limit p_limit
      for update skip locked)
    returning b.*
  )
  select b.id, b.chat_id, b.thread_id, b.message_id, b.notice_message_id, b.language, b.revision,
    coalesce((select jsonb_agg(to_jsonb(card) order by card.position)
              from document_cards card where card.batch_id = b.id), '[]')
  from due b order by b.created_at, b.id
$$;
comment on function due_notices is
  'Batches that moved on since they were shown, in the order in which they came, with their documents; each is held '
  'back from others for `p_hold_s`.';

create function confirm_notice(p_batch text, p_revision bigint)
returns table (id uuid, shown_revision bigint)
language sql security invoker set search_path = public, extensions, pg_temp
as $$
  update batches b set shown_revision = greatest(b.shown_revision, p_revision), notice_due_at = now()
  where b.id = p_batch::uuid
  returning b.id, b.shown_revision
$$;
comment on function confirm_notice is 'A batch is shown up to this revision; a newer one is due at once.';

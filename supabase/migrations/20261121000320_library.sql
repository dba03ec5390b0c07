-- What a base holds, for the person who looks at it. In: a base and a document of it. Out: cards, counts, what went.
-- A document is reached only through its base: the right id with a wrong base finds nothing.

create view document_cards with (security_invoker = true) as
select d.id, d.base_id, d.batch_id, d.position, d.source_type, d.source_identifier, d.title, d.status,
  d.progress_done, d.progress_total, d.attempts, d.waits_for_service, d.error_code, d.error_params, d.language,
  d.pages, d.pages_without_text, d.chunks,
  case when d.status = 'ready' then extract(epoch from d.finished_at - d.started_at)::double precision end as seconds,
  d.created_at, d.chat_id, d.message_id, d.file_id,
  d.status not in ('duplicate', 'cancelled', 'superseded') as is_listed
from documents d;
comment on view document_cards is 'A document as people see it: without its text, its lease and its inner errors.';

create function list_documents(p_base text, p_limit int, p_offset int default 0, p_name_contains text default null)
returns setof document_cards
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select * from document_cards d
  where d.base_id = p_base::uuid and d.is_listed
    and (p_name_contains is null
      or strpos(lower(d.title), lower(p_name_contains)) > 0
      or strpos(lower(d.source_identifier), lower(p_name_contains)) > 0)
  order by d.created_at desc, d.id
  limit p_limit offset p_offset
$$;
comment on function list_documents is
  'Documents of a base, newest first, without duplicates, cancelled and superseded ones; by a part of title or name.';

create function count_base(p_base text)
returns table (documents bigint, chunks bigint)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select count(*), coalesce(sum(d.chunks), 0)::bigint from document_cards d
  where d.base_id = p_base::uuid and d.is_listed
$$;
comment on function count_base is 'How many documents and passages `clean_base` would remove.';

create function document_card(p_base text, p_document text)
returns setof document_cards
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select * from document_cards d where d.base_id = p_base::uuid and d.id = p_document::uuid
$$;
comment on function document_card is 'One document of the base, in whatever state, or none.';

create function cancel_document(p_base text, p_document text)
returns table (id uuid, status text)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
begin
  perform from documents d
  where d.base_id = p_base::uuid and d.id = p_document::uuid
    and d.status in ('queued', 'fetching', 'parsing', 'embedding')
  for update;
  if found then
    perform finish_document(p_document::uuid, 'cancelled', 'cancelled', '{}', null);
    return query select p_document::uuid, 'cancelled'::text;
  end if;
end $$;
comment on function cancel_document is
  'Stops the work on a document and removes what was stored of it; no row when it was final.';

create function delete_document(p_base text, p_document text)
returns table (id uuid, batch_id uuid)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  gone record;
begin
  perform from bases b where b.id = p_base::uuid for no key update;
  delete from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid
  returning d.id, d.batch_id into gone;
  if found then
    delete from batches b
    where b.id = gone.batch_id and not exists (select from documents d where d.batch_id = gone.batch_id);
    return query select gone.id, gone.batch_id;
  end if;
end $$;
comment on function delete_document is
  'Removes a document with all that is stored of it, in whatever state; no row when there is none.';

create function clean_base(p_base text)
returns table (documents bigint, chunks bigint)
language plpgsql security invoker set search_path = public, extensions, pg_temp
as $$
declare
  its_batches uuid[];
  held record;
begin
  perform from bases b where b.id = p_base::uuid for no key update;
  perform from documents d where d.base_id = p_base::uuid order by d.id for update; -- workers finish their call first
  select * into held from count_base(p_base);
  with gone as (delete from documents d where d.base_id = p_base::uuid returning d.batch_id)
  select array_agg(distinct gone.batch_id) into its_batches from gone;
  delete from batches b where b.id = any (its_batches);
  return query select held.documents, held.chunks;
end $$;
comment on function clean_base is
  'Removes everything of a base, also what is being read right now; says how many listed documents and passages went.';

create function read_blocks(p_base text, p_document text, p_after int, p_limit int)
returns table (ordinal int, kind text, level int, text text, locator jsonb)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select b.ordinal, b.kind, b.level, b.text, b.locator
  from document_blocks b join documents d on d.id = b.document_id
  where d.base_id = p_base::uuid and d.id = p_document::uuid and b.ordinal > p_after
  order by b.ordinal limit p_limit
$$;
comment on function read_blocks is 'The parsed text of a document in reading order, after an ordinal.';

create function save_feedback(p_user bigint, p_base text, p_chat bigint, p_message bigint, p_rating int)
returns table (id bigint, rating int)
language sql security invoker set search_path = public, extensions, pg_temp
as $$
  insert into answer_feedback as f (user_id, base_id, chat_id, message_id, rating)
  values (p_user, p_base::uuid, p_chat, p_message, p_rating)
  on conflict (user_id, chat_id, message_id) do update set rating = excluded.rating
  returning f.id, f.rating::int
$$;
comment on function save_feedback is 'A thumb under an answer; a person has one for each answer and may change it.';

create function save_turn(p_user bigint, p_base text, p_kind text, p_model text, p_seconds double precision,
  p_passages int)
returns table (id bigint, created_at timestamptz)
language sql security invoker set search_path = public, extensions, pg_temp
as $$
  insert into turn_metrics as t (user_id, base_id, kind, model, seconds, passages)
  values (p_user, p_base::uuid, p_kind, p_model, p_seconds, p_passages)
  returning t.id, t.created_at
$$;
comment on function save_turn is 'What a turn cost; no texts.';

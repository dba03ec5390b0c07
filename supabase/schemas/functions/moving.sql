-- A document for another base. In: a ready document and a base. Out: the same document there, with its text, passages,
-- vectors and postings, as they were read: nothing is read or embedded again. Earlier versions stay where they are.

create or replace function keep_copy(p_base text, p_document text, p_to text, p_most_bytes bigint,
  p_person bigint default null)
returns table (id uuid)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select kept.id from documents d join kept_files k on k.id = d.kept_file
    cross join lateral keep_file(p_to, k.hash, k.size_bytes, p_most_bytes, p_person) kept
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.status = 'ready'
$$;
comment on function keep_copy is
  'The name under which the file of a document is to be stored for another base, before `send_document`; no row when '
  'Baza keeps none, or the other base has no room for it.';

create or replace function baza_internal.copy_passages(p_from documents, p_to documents)
returns void
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into document_blocks (document_id, ordinal, kind, level, text, locator)
  select p_to.id, b.ordinal, b.kind, b.level, b.text, b.locator from document_blocks b where b.document_id = p_from.id;
  with old as materialized (
    select c.*, row_number() over (order by c.ordinal) - 1 as place from documents_chunks c where c.document_id = p_from.id
  ), new as materialized (
    select o.ordinal, o.id as old_id, (r.runs[1 + o.place / 128] << 8) | (o.place & 127) as id
    from old o cross join (select new_runs(count(*)) as runs from old) r
  ), stored as (
    insert into documents_chunks (id, base_id, document_id, ordinal, text, span_start, span_end, locator, length, model,
      embedding)
    select new.id, p_to.base_id, p_to.id, o.ordinal, o.text, o.span_start, o.span_end, o.locator, o.length, o.model,
      o.embedding
    from old o join new using (ordinal) order by o.ordinal
  )
  insert into posting_lists (base_id, term, run, postings)
  select p_to.base_id, t.term, new.id >> 8, array_agg((t.posting & ~(255::bigint << 55)) | ((new.id & 255) << 55) order by new.id)
  from (select distinct n.old_id >> 8 as run from new n) r
  cross join lateral (select * from chunk_terms x where x.run = r.run offset 0) t
  join new on new.old_id = t.chunk_id
  group by t.term, new.id >> 8
$$;
comment on function baza_internal.copy_passages is 'Text, passages and postings of one document for another.';

create or replace function baza_internal.copy_row(p_held documents, p_to uuid)
returns documents
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  insert into documents as d (base_id, batch_id, position, user_id, sender, source_type, source_identifier, name_key,
    source_title, given_title, given_terms, title, names, author, published_at, source_text, source_url, media_type,
    size_bytes, chat_id, message_id, joined_messages, file_id, kept_file, content_hash, chosen, lane, language, medium, duration_s,
    pages, pages_without_text, parts, unread, meta, created_at, started_at)
  select p_to, begin_batch(p_to, '{"language": "ru"}'), 0, h.user_id, h.sender, h.source_type, h.source_identifier,
    h.name_key, h.source_title, h.given_title, h.given_terms, h.title, h.names, h.author, h.published_at, h.source_text,
    h.source_url, h.media_type, h.size_bytes, h.chat_id, h.message_id, h.joined_messages, h.file_id, (
      select held_file(p_to, theirs.id) from kept_files ours join kept_files theirs using (hash)
      where ours.id = h.kept_file and theirs.base_id = p_to and not theirs.leaving), h.content_hash, true,
    h.lane, h.language, h.medium, h.duration_s, h.pages, h.pages_without_text, h.parts, h.unread, h.meta, h.created_at,
    h.started_at
  from (select (p_held).*) h
  returning d.*
$$;
comment on function baza_internal.copy_row is
  'A document of its own in another base, not to be found yet. A file that Baza keeps belongs to its base: the copy has '
  'the one that `keep_copy` has named, if it did.';

create or replace function send_document(p_base text, p_document text, p_to text, p_move boolean,
  p_base_passages bigint default null, p_person bigint default null)
returns table (id uuid, title text, was_there boolean)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp set statement_timeout = '30min'
as $$
#variable_conflict use_column
declare
  held documents;
  made documents;
  number int;
begin
  perform require(p_base, p_person, case when p_move then 'write' else 'read' end);
  perform require(p_to, p_person, 'write');
  perform lock_base(each) from unnest(array[least(p_base::uuid, p_to::uuid), greatest(p_base::uuid, p_to::uuid)]) each;
  select * into held from documents d
  where d.base_id = p_base::uuid and d.id = p_document::uuid and d.status = 'ready' for update;
  if not found or p_base::uuid = p_to::uuid then
    return;
  end if;
  select * into made from documents d
  where d.base_id = p_to::uuid and d.status = 'ready' and (d.content_hash = held.content_hash
    or d.source_type = held.source_type and d.source_type <> 'file' and d.name_key = held.name_key) limit 1;
  if found then
    return query select made.id, made.title, true;
    return;
  end if;
  perform begin_writing(p_to::uuid);
  made := copy_row(held, p_to::uuid);
  perform ensure_room(made, held.chunks, p_base_passages);
  perform copy_passages(held, made);
  number := case when exists (
    select from documents d where d.base_id = made.base_id and d.source_type = 'file' and d.name_key = made.name_key
      and d.source_type = made.source_type and d.id <> made.id and d.status = 'ready') then free_number(made) end;
  update documents d
  set status = 'ready', visible = true, chunks = held.chunks, terms = held.terms, progress_done = held.chunks,
      progress_total = held.chunks, finished_at = coalesce(held.finished_at, now()),
      name_key = coalesce(beside(d.name_key, number), d.name_key),
      given_title = coalesce(beside(d.known_as, number), d.given_title),
      title = coalesce(beside(d.known_as, number), d.title)
  where d.id = made.id returning d.* into made;
  if p_move then
    perform delete_document(p_base, p_document);
  end if;
  return query select made.id, made.title, false;
end $$;
comment on function send_document is
  'Copies a ready document to another base, or moves it; no row when there is none. `was_there`: the other base has its '
  'content, or its address, already, and nothing was changed. A file beside another of its name gets a number.';

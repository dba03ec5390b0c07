-- Whose turn it is. In: documents that wait, with who sent them. Out: the ones to be read next, so that nobody waits for
-- what somebody else has sent, in however many bases and by however many tokens.

create or replace function baza_internal.lane_of(p_lane text, p_type text, p_identifier text, p_text text, p_size bigint)
returns text
language sql immutable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select case
    when p_lane = 'long' then p_lane
    when p_type = 'note' then case when length(p_text) <= 5000 then 'short' else 'quick' end
    when p_type in ('file', 'path') and p_size <= 128 * 1024
      and p_identifier ~* '\.(txt|md|csv|tsv|html?|pdf|docx?|odt|rtf|fb2|epub|pptx|xlsx?|ods|eml|msg|srt|vtt|json|xml)$'
    then 'small'
    else 'quick' end
$$;
comment on function baza_internal.lane_of is
  'Where a document waits: what somebody else''s large file must not hold up has places of its own. A `short` note is '
  'cut by the worker itself, so no file ever stands before it; a `small` file of text is read in milliseconds.';

create or replace function baza_internal.note_sender() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  new.person := whose_day(new.user_id);
  return new;
end $$;
comment on function baza_internal.note_sender is 'However many bases and tokens somebody has, they are one person.';

create or replace trigger documents_sender before insert or update of user_id on documents
  for each row execute function baza_internal.note_sender();

create or replace function baza_internal.ensure_few_waiting(p_user bigint, p_more int, p_most bigint)
returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  whose constant bigint := whose_day(p_user);
begin
  if p_most is null or p_user = 0 then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('waiting ' || whose, 0)); -- two messages that only fit one at a time
  if p_more + (select count(*) from documents d where d.phase = 'waiting' and d.person = whose) > p_most then
    raise exception 'person % has % documents waiting', whose, p_most using errcode = 'BZ004';
  end if;
end $$;
comment on function baza_internal.ensure_few_waiting is
  'Raises BZ004 for a message that would leave more documents of its sender waiting, with those of all their tokens, than '
  'one person may have (null: any). The command line (0) belongs to the operator.';

create or replace function baza_internal.waiting_senders(p_lane text)
returns table (person bigint, base_id uuid)
language sql stable rows 20 set search_path = public, baza_internal, extensions, pg_temp
as $$
  -- A loose index scan: one step for each person and base, however many documents they have.
  with recursive walk as (
    (select d.person, d.base_id from documents d where d.phase = 'waiting' and d.lane = p_lane
     order by d.person, d.base_id limit 1)
    union all
    select later.person, later.base_id from walk w cross join lateral (
      select d.person, d.base_id from documents d
      where d.phase = 'waiting' and d.lane = p_lane and (d.person, d.base_id) > (w.person, w.base_id)
      order by d.person, d.base_id limit 1) later
  )
  select w.person, w.base_id from walk w
$$;
comment on function baza_internal.waiting_senders is 'Who has documents in this queue, and for which bases.';

create or replace function baza_internal.turns(p_worker text, p_lanes text[], p_person_places int[])
returns table (person bigint, base_id uuid, lane text)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off -- planning it takes four times as long as running it
as $$
  select w.person, b.id, l.lane
  from unnest(p_lanes, p_person_places) as l (lane, places) cross join lateral waiting_senders(l.lane) as w
  join bases b on b.id = w.base_id
  left join served s on s.person = w.person
  cross join lateral (
    select count(distinct d.lease) as everywhere, count(distinct d.lease) filter (where d.worker = p_worker) as here
    from documents d
    where d.phase = 'working' and d.person = w.person and d.lane = l.lane) theirs
  cross join lateral (
    select count(distinct d.lease) as everywhere, count(distinct d.lease) filter (where d.worker = p_worker) as here
    from documents d
    where d.phase = 'working' and d.base_id = b.id and d.lane = l.lane) its
  cross join lateral (
    select d.run_after, d.created_at from documents d
    where d.phase = 'waiting' and d.lane = l.lane and d.person = w.person and d.base_id = b.id and d.run_after <= now()
    order by d.run_after, d.created_at, d.position, d.id limit 1) first
  where coalesce(greatest(theirs.here, its.here) < l.places, true)
  order by theirs.everywhere, greatest(first.run_after, s.served_at), its.everywhere,
    greatest(first.run_after, b.served_at), first.created_at
$$;
comment on function baza_internal.turns is
  'People with a due document, and the base that it is for, in fair order: the fewest claims in work first, then the '
  'longest wait since the document was sent or the person was served; the bases of one person among themselves likewise. '
  'So nobody waits for all of somebody else''s hundred documents, in however many bases they lie. Whoever holds as many of '
  'this worker''s places in the lane as one person may (null: any) has no turn, nor has a base that holds as many: however '
  'long its documents take, a place is left for others.';

create or replace function baza_internal.next_documents(p_worker text, p_lanes text[], p_person_places int[],
  p_together int)
returns uuid[]
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  first documents;
  turn record;
begin
  select * into first from documents d
  where d.phase = 'working' and d.lease_until <= now() and d.lane = any (p_lanes) -- the lease expired: its worker died
  order by d.lease_until limit 1 for update skip locked;
  if found then
    return array[first.id];
  end if;
  for turn in select * from turns(p_worker, p_lanes, p_person_places) loop
    select * into first from documents d
    where d.phase = 'waiting' and d.lane = turn.lane and d.person = turn.person and d.base_id = turn.base_id
      and d.run_after <= now()
    order by d.run_after, d.created_at, d.position, d.id limit 1 for update skip locked;
    exit when found;
  end loop;
  if first.id is null or first.attempts > 0 or first.lane not in ('short', 'small') then
    return array[first.id];
  end if;
  return first.id || array(
    select d.id from documents d
    where d.phase = 'waiting' and d.lane = first.lane and d.person = first.person and d.base_id = first.base_id
      and d.run_after <= now() and d.attempts = 0 and d.id <> first.id
    order by d.run_after, d.created_at, d.position, d.id limit p_together - 1 for update skip locked);
end $$;
comment on function baza_internal.next_documents is
  'Locks the documents whose turn it is in these lanes: one, or up to `p_together` short ones of one person and base that '
  'nobody has tried yet. One that was tried before goes alone: it may be what kills workers.';

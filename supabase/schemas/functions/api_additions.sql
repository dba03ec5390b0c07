-- Documents that come over HTTP. In: a source, perhaps with the document that it replaces and an Idempotency-Key.
-- Out: the document, or why there is none.
create or replace function add_document(p_base text, p_token bigint, p_batch text, p_document text default null,
  p_key text default null, p_digest text default null, p_most_waiting bigint default null,
  p_person bigint default null)
returns table (card jsonb, refused text)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  earlier api_additions;
  replaced documents;
  its_id uuid;
  answered jsonb;
begin
  perform require(p_base, p_person, 'write');
  if p_key is not null then
    delete from api_additions a
    where a.token_id = p_token and a.key = p_key and a.created_at < now() - interval '1 day';
    insert into api_additions (token_id, key, digest) values (p_token, p_key, p_digest) on conflict do nothing;
    if not found then -- a request at the same moment has been waited for
      select * into earlier from api_additions a where a.token_id = p_token and a.key = p_key;
      return query select case when earlier.digest = p_digest then earlier.answer end,
        case when earlier.digest <> p_digest then 'other_content' end;
      return;
    end if;
  end if;
  if p_document is not null then
    perform lock_base(p_base::uuid);
    select * into replaced from documents d where d.base_id = p_base::uuid and d.id = p_document::uuid;
    if replaced.id is null
        or exists (select from documents d where d.lineage = replaced.lineage and d.phase <> 'ended') then
      delete from api_additions a where a.token_id = p_token and a.key = p_key;
      return query select null::jsonb, case when replaced.id is null then 'missing' else 'being_read' end;
      return;
    end if;
  end if;
  select e.id into its_id from enqueue_batch(p_base, p_batch, 0, p_most_waiting) e;
  if replaced.id is not null then
    update documents d set lineage = replaced.lineage, chosen = true where d.id = its_id;
  end if;
  select to_jsonb(c) into answered from document_cards c where c.id = its_id;
  update api_additions a set answer = answered where a.token_id = p_token and a.key = p_key;
  return query select answered, null::text;
end $$;
comment on function add_document is
  'Queues the one source of a batch, as the next version of `p_document` if given. The same key within a day gives the '
  'same card again and adds nothing. `refused`: other_content (of this key), missing, being_read.';

create or replace function count_bytes(p_base text, p_token bigint, p_bytes bigint, p_per_day bigint,
  p_person bigint default null)
returns table (wait_s int)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  update api_tokens t set
    bytes = was.bytes + case when was.bytes + p_bytes <= p_per_day then p_bytes else 0 end, day = current_date
  from (
    select k.id, case when k.day = current_date then k.bytes else 0 end as bytes from api_tokens k
    where k.id = p_token and k.id = coalesce(p_person, p_token) for update) was
  where t.id = was.id
  returning case when was.bytes + p_bytes > p_per_day then extract(epoch from current_date + 1 - now())::int end
$$;
comment on function count_bytes is
  'Counts what a token uploads. `wait_s` is set where it would be more than `p_per_day` on this day of the database; '
  'then it is not counted.';

create or replace function forget_additions()
returns table (forgotten bigint)
language sql set search_path = public, baza_internal, extensions, pg_temp
as $$
  with old as (delete from api_additions a where a.created_at < now() - interval '1 day' returning 1)
  select count(*) from old
$$;
comment on function forget_additions is 'Removes what has been kept for a day; maintenance of the whole installation.';

-- The quota of a base, where the operator of Baza sets one (BASE_PASSAGES). In: a document as a worker holds it, and
-- how many passages its base may hold (null: any). Out: whether it is read at all, and whether it fits. Named bases
-- belong to the command line, that is to the operator, and have no quota.
create or replace function baza_internal.full_at(p_held documents, p_base_passages bigint)
returns bigint
language plpgsql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  if p_base_passages is null
      or not exists (
        select from bases b
        where b.id = p_held.base_id and b.kind <> 'named' and b.passages >= p_base_passages)
      or exists (select from ready_before(p_held)) or exists (select from ready_namesake(p_held)) then
    return null;
  end if;
  return p_base_passages;
end $$;
comment on function baza_internal.full_at is
  'The quota, where the base has reached it and the document can only add to it; else null. A document that '
  'may replace another is read: it may be smaller, or the same.';

create or replace function baza_internal.ensure_room(p_held documents, p_chunks int, p_base_passages bigint)
returns void
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
declare
  leaving int; -- passages of the version that this one replaces
  held bigint; -- passages of all other documents, with those promised to the ones being read
begin
  if p_base_passages is null then
    return;
  end if;
  leaving := coalesce(
    (select d.chunks from ready_before(p_held) d),
    (select d.chunks from ready_namesake(p_held) d where p_held.source_type in ('path', 'link', 'site')), 0);
  select b.passages - leaving
    - coalesce((select d.chunks from documents d where d.id = p_held.id and d.visible), 0)
    + coalesce((
      select sum(greatest(d.promised - case when d.visible then d.chunks else 0 end, 0)) from documents d
      where d.base_id = b.id and d.phase = 'working' and d.status = 'embedding' and d.id <> p_held.id), 0)
  into held from bases b where b.id = p_held.base_id and b.kind <> 'named';
  if p_chunks > leaving and held + p_chunks > p_base_passages then
    raise exception 'no room for the % passages of document %', p_chunks, p_held.id using errcode = 'BZ003';
  end if;
end $$;
comment on function baza_internal.ensure_room is
  'Raises BZ003 for a document that would take its base over the quota. It is called under `lock_base`, and '
  'counts the passages that `store_blocks` has promised to others: of two documents that only fit one at a time the '
  'second is refused before any of it is searchable. A version no larger than the one it replaces always fits.';

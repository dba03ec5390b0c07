-- Copies of shelves, for a process that answers many questions: PostgreSQL compares a sketch in some ninety
-- nanoseconds, one call each; an array of them in memory takes twenty (docs/decisions.md). In: nothing, or what is held
-- already. Out: which shelves there are, and their rows. What a copy finds is only a proposal: `search` checks it in
-- the base that asks, and knows whether the copy is complete.

set search_path = public, extensions;

create function list_shelves(p_bytes bigint, p_known text[])
returns table (base_id uuid, shelf text, model text, edges jsonb, passages bigint, put bigint)
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select s.base_id, s.name, s.model,
    case when s.name = any (p_known) then '[]' else (select jsonb_agg(to_jsonb(edge::real[])) from unnest(s.edges) edge)
    end, s.passages, s.put
  from (
    select x.*, sum(x.passages * (8 + (select sum(vector_dims(edge)) / 8 from unnest(x.edges) edge)))
      over (order by x.passages, x.name) as bytes
    from vector_shelves x where x.put > 0 and x.edges <> '{}') s
  where s.bytes <= p_bytes
  order by s.passages, s.name
$$;
comment on function list_shelves is
  'The shelves whose copies together take up to `p_bytes`, an id and a sketch for each passage; the smallest first, so '
  'that as many bases as possible have one. The edges of known shelves are left out: they never change.';

create function read_shelf(p_base text, p_shelf text, p_after bigint, p_limit int)
returns table (last bigint, chunks bigint[], sketches text)
language plpgsql stable security invoker set search_path = public, extensions, pg_temp
as $$
begin
  if exists (select from vector_shelves s where s.base_id = p_base::uuid and s.name = p_shelf) then
    return query execute format(
      'select max(u.place), array_agg(u.chunk order by u.place, u.nth), '
      '  translate(encode(string_agg(u.bytes, '''' order by u.place, u.nth), ''base64''), e''\n'', '''') '
      'from (select r.place, x.chunk, substring(bit_send(x.sketch) from 5) as bytes, x.nth '
      '  from (select * from shelves.%I where place > $1 order by place limit $2) r '
      '  cross join unnest(r.chunks, array[%s]) with ordinality x (chunk, sketch, nth) where x.chunk is not null) u '
      'having count(*) > 0', p_shelf,
      (select string_agg(format('r.s%s', n), ', ') from generate_series(1, 10) n))
    using p_after, p_limit;
  end if;
end $$;
comment on function read_shelf is
  'One row for up to `p_limit` rows of a shelf after the place `p_after`: the place of the last one, the passages, and '
  'their sketches one after the other, each padded to whole bytes (`bit_send`); no row at the end.';

-- Reading a document through, passage by passage. In: a base, a document, where to begin. Out: rows of `passages`.

set search_path = public, extensions;

create function read_passages(p_base text, p_document text, p_after int, p_limit int)
returns setof passages
language sql stable security invoker set search_path = public, extensions, pg_temp
as $$
  select * from passages p
  where p.base_id = p_base::uuid and p.document_id = p_document::uuid and p.ordinal > p_after
  order by p.ordinal limit p_limit
$$;
comment on function read_passages is
  'Passages of a document in reading order, after an ordinal; none when the base does not hold the document.';

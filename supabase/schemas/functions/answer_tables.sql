-- Tables that were made for answers and can be had as files. In: rows with their sources, as JSON. Out: the same, by
-- the number on the button. They quote documents, and are deleted when any document of their base is.

create or replace function save_table(p_user bigint, p_base text, p_content text, p_person bigint default null)
returns table (id bigint)
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  perform require(p_base, p_person, 'read');
  delete from answer_tables t where t.base_id = p_base::uuid and t.created_at < now() - interval '30 days';
  return query insert into answer_tables as t (base_id, user_id, content) values (p_base::uuid, p_user, p_content::jsonb)
  returning t.id;
end $$;
comment on function save_table is 'Keeps a table for its button; those older than 30 days are deleted.';

create or replace function read_table(p_base text, p_table bigint, p_person bigint default null)
returns table (content jsonb)
language sql stable set search_path = public, baza_internal, extensions, pg_temp
as $$
  select require(p_base, p_person, 'read');
  select t.content from answer_tables t where t.base_id = p_base::uuid and t.id = p_table
$$;
comment on function read_table is 'One table of this base, or none.';

create or replace function baza_internal.forget_tables() returns trigger
language plpgsql set search_path = public, baza_internal, extensions, pg_temp
as $$
begin
  delete from answer_tables t where t.base_id in (select g.base_id from gone g);
  return null;
end $$;
comment on function baza_internal.forget_tables is
  'Deletes the tables of a base with any of its documents: they may quote it.';
create or replace trigger documents_deleted after delete on documents referencing old table as gone
  for each statement execute function baza_internal.forget_tables();

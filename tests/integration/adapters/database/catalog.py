"""What a database consists of, as its catalog has it, so that two of them can be compared.

In: a connection. Out: a line for each schema, table, column, index, constraint, trigger, view and function (with its
text, settings and comment), each with its grants, in the schemas of ours. Object ids are left out.
"""

import psycopg

_IN = "in (select oid from pg_namespace where nspname in ('public', 'baza_internal', 'segments'))"
_QUERIES = (
    f"select nspname, nspacl::text from pg_namespace where oid {_IN}",
    f"select oid::regclass::text, relkind::text, relrowsecurity, reloptions::text, array(select unnest(relacl::text[])"
    f" order by 1), obj_description(oid, 'pg_class') from pg_class where relnamespace {_IN}",
    f"select c.oid::regclass::text, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,"
    f" a.attstorage::text, a.attidentity::text, a.attgenerated::text, pg_get_expr(d.adbin, d.adrelid)"
    f" from pg_class c join pg_attribute a on a.attrelid = c.oid"
    f" left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum"
    f" where c.relnamespace {_IN} and a.attnum > 0 and not a.attisdropped",
    f"select pg_get_indexdef(indexrelid) from pg_index join pg_class on oid = indrelid where relnamespace {_IN}",
    f"select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace {_IN}",
    f"select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid"
    f" where c.relnamespace {_IN} and not t.tgisinternal",
    f"select oid::regclass::text, pg_get_viewdef(oid) from pg_class where relkind = 'v' and relnamespace {_IN}",
    f"select pg_get_functiondef(oid), array(select unnest(proacl::text[]) order by 1), obj_description(oid, 'pg_proc')"
    f" from pg_proc where pronamespace {_IN}",
    "select * from baza_internal.function_files",
)


def described(connection: psycopg.Connection) -> list[str]:
    """Sorted."""
    return sorted(str(row) for query in _QUERIES for row in connection.execute(query.encode()))

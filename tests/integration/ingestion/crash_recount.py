"""What must be true of the rows after any storm, each as a query that counts what is wrong.

In: a connection. Out: the number of rows that are wrong, by the name of what is wrong with them: all shall be 0.
"""

import psycopg

from tests.integration.adapters.database.stores.material import UNLIKE_SUMS

Connection = psycopg.AsyncConnection[tuple[int]]

UNFINISHED = "select count(*) from documents where phase <> 'ended'"
READY = "select count(*) from documents where status = 'ready'"
REPLACED = "select count(*) from documents where status = 'superseded'"
EDITIONS = "cross join lateral regexp_matches(text, 'Издание[0-9]+', 'g') as edition"
FAULTS = {
    "failed without a reason": "select count(*) from documents where status = 'failed' and error_code is null",
    "ready but not visible": "select count(*) from documents where status = 'ready' and not visible",
    "visible but not ready": "select count(*) from documents where status <> 'ready' and visible",
    "chunks unlike their count": (
        "select count(*) from documents d where status = 'ready' and chunks <> "
        "(select count(*) from documents_chunks c where c.document_id = d.id)"
    ),
    "ordinals with gaps": (
        "select count(*) from (select document_id from documents_chunks group by 1 "
        "having max(ordinal) + 1 <> count(*)) broken"
    ),
    "chunks of what is not ready": (
        "select count(*) from documents_chunks c join documents d on d.id = c.document_id where d.status <> 'ready'"
    ),
    "postings without a chunk": (
        "select count(*) from baza_internal.chunk_terms t "
        "where not exists (select from documents_chunks c where c.id = t.chunk_id)"
    ),
    "postings unlike their sums": UNLIKE_SUMS,
    "bases that count wrong": (
        "select count(*) from bases b cross join lateral ("
        "select coalesce(sum(d.chunks), 0) as passages, coalesce(sum(d.terms), 0) as terms "
        "from documents d where d.base_id = b.id and d.visible) seen "
        "where b.passages <> seen.passages or b.terms <> seen.terms"
    ),
    "terms unlike their chunks": (
        "select count(*) from documents d where status = 'ready' and terms <> "
        "(select coalesce(sum(c.length), 0) from documents_chunks c where c.document_id = d.id)"
    ),
    "one name twice": (
        "select count(*) from (select name_key from documents where status = 'ready' and name_key is not null "
        "group by base_id, name_key having count(*) > 1) doubled"
    ),
    "two versions of one document": (
        "select count(*) from (select lineage from documents where status = 'ready' group by 1 having count(*) > 1) v"
    ),
    "passages of two editions": (
        f"select count(*) from (select document_id from documents_chunks {EDITIONS} "
        "group by 1 having count(distinct edition[1]) > 1) mixed"
    ),
    "blocks of two editions": (
        f"select count(*) from (select document_id from document_blocks {EDITIONS} "
        "group by 1 having count(distinct edition[1]) > 1) mixed"
    ),
    "words of an archive twice": (
        "select count(*) from (select document_id, text from document_blocks where text like 'Часть %' "
        "group by 1, 2 having count(*) > 1) doubled"
    ),
    "archives that lack a part": (
        "select count(*) from documents d where status = 'ready' and source_identifier like '%.zip' and (parts <> 3 "
        "or (select count(distinct locator ->> 'member') from documents_chunks c where c.document_id = d.id) <> 3 "
        "or (select count(*) from document_blocks b where b.document_id = d.id and text like 'Часть %') <> 120)"
    ),
}


async def count(connection: Connection, query: str) -> int:
    """The only number that the query gives."""
    row = await (await connection.execute(query.encode())).fetchone()
    assert row is not None
    return row[0]


async def recount(connection: Connection) -> dict[str, int]:
    """All faults."""
    return {name: await count(connection, query) for name, query in FAULTS.items()}

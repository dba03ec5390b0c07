"""No SQL function crosses from base to base, whatever the bases hold.

In: random bases; every name, title and passage of a base carries a word of its own, the canary. Every function of ours
that takes a base is found in the catalog and called for one base with the documents, passages, words and vectors of
another: nothing of the other may come back, and none of its rows may change. A function that a later migration adds is
called too; for a parameter with a new name `GIVEN` has to be told what a stranger would give.
"""

import itertools
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql

from adapters.database.postgres import PostgresTransport
from adapters.database.stores.library import turn_row
from domain.ids import BaseId, BatchId, ChatId, DocumentId, MessageId, SessionId, UserId
from domain.tables import SourcedTable
from rag.records import Exchange
from tests.integration.adapters.database.stores.conftest import DatabaseStores
from tests.integration.adapters.database.stores.material import (
    ANNA,
    MODEL,
    NORTH,
    TURN,
    batch_of,
    card_of,
    file,
    find,
    hash_of,
    named_entities,
    note,
    open_base,
    publish,
    read_source,
)

STRANGER = 666
MESSAGE = 7  # everybody's note came in a message with this number
DIMENSIONS = 1024
FIRST_CHUNK = 7_000_000_000  # no count and no score is mistaken for the id of a passage
ZERO = str([0.0] * DIMENSIONS)
SHELF = "of_nobody"  # a shelf that is there for these tests alone
WORDS = ("слово", "дело", "тело")  # in all bases, so that their postings lie side by side
COUNTS_ONLY = {
    "count_base",
    "lock_base",
    "lock_entities",
    "count_postings",
    "count_common_terms",
    "base_statistics",
    "turns_by_day",
    "switch_model",
}
NEXT_MODEL = ("outdated_documents", "outdated_chunks", "switch_model")
"""Of a base whose vectors are all of the model that is asked for these have nothing to say."""

_FUNCTIONS = """
select p.proname, p.proargnames[:p.pronargs] from pg_proc p
where p.pronamespace = 'public'::regnamespace and 'p_base' = any (p.proargnames) order by 1
"""
_TABLES = """
select c.table_name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
where c.table_schema = 'public' and c.column_name = 'base_id' and t.table_type = 'BASE TABLE' order by 1
"""
_BLOCKS = "select 'blocks', b::text from document_blocks b join documents d on d.id = b.document_id where d.base_id = "

_CARELESS = """
create function title_of(p_base text, p_document text) returns table (title text) language sql
  as 'select d.title from documents d where d.id = p_document::uuid';
create function forget(p_base text, p_document text) returns void language sql
  as 'delete from documents d where d.id = p_document::uuid';
"""

Rows = list[tuple[object, ...]]
Content = list[list[list[str]]]
"""A base: documents of passages of words."""

some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
some_content = st.lists(st.lists(some_words, min_size=1, max_size=3), min_size=1, max_size=3)
people = itertools.count(1001)


@dataclass(frozen=True, kw_only=True)
class Canary:
    """What a base holds, and no other may see."""

    base: BaseId
    word: str
    documents: tuple[DocumentId, ...]
    batch: BatchId
    chunk: int
    table: int
    content_hash: str

    def is_told_by(self, rows: Rows) -> bool:
        """Whether anything of it is in the rows."""
        told = json.dumps(rows, default=str, ensure_ascii=False)
        return any(str(secret) in told for secret in (self.base, self.word, self.chunk, *self.documents))


GIVEN: Mapping[str, Callable[[Canary], object]] = {
    "p_chunk": lambda canary: canary.chunk,
    "p_terms": lambda canary: [canary.word, *WORDS],
    "p_term": lambda canary: canary.word,
    "p_low": lambda canary: canary.word[:5],
    "p_high": lambda canary: canary.word[:5] + chr(0x10FFFF),
    "p_lows": lambda canary: [canary.word, *WORDS],
    "p_highs": lambda canary: [f"{word}~" for word in (canary.word, *WORDS)],
    "p_own": lambda _: [1.0] * 4,
    "p_wide": lambda _: [1.0] * 4,
    "p_hidden": lambda _: [],
    "p_allowed": lambda canary: [canary.chunk],
    "p_first": lambda canary: canary.word[0],
    "p_pattern": lambda _: ".",
    "p_spellings": lambda canary: json.dumps([{"term": "нет такого", "first": canary.word[0], "pattern": "."}]),
    "p_filter": lambda canary: json.dumps({"documents": list(canary.documents)}),
    "p_documents": lambda canary: list(canary.documents),
    "p_vectors": lambda canary: json.dumps([{"chunk_id": canary.chunk, "embedding": ZERO}]),
    "p_shelf": lambda _: SHELF,
    "p_rows": lambda _: 10,
    "p_at_once": lambda _: True,
    "p_within": lambda canary: list(canary.documents),
    "p_embedding": lambda _: str(NORTH + [0.0] * (DIMENSIONS - len(NORTH))),
    "p_model": lambda _: MODEL,
    "p_content_hash": lambda canary: canary.content_hash,
    "p_name_contains": lambda canary: canary.word,
    "p_batch": lambda _: json.dumps(
        {"user_id": ANNA, "chat_id": ANNA, "message_id": MESSAGE, "language": "ru", "sources": [{"text": "и ещё"}]}
    ),
    "p_batch_id": lambda canary: canary.batch,
    "p_choice": lambda _: "replace",
    "p_title": lambda _: "Чужое имя",
    "p_name_key": lambda _: "чужое имя",
    "p_user": lambda _: STRANGER,
    "p_language": lambda _: "ru",
    "p_session": lambda _: str(uuid.UUID(int=1)),
    "p_question": lambda _: "Что там?",
    "p_answer": lambda _: "Ничего.",
    "p_question_terms": lambda canary: [canary.word],
    "p_answer_terms": lambda canary: [canary.word],
    "p_chat": lambda _: STRANGER,
    "p_message": lambda _: MESSAGE,
    "p_rating": lambda _: -1,
    "p_turn": lambda _: json.dumps(turn_row(TURN)),
    "p_content": lambda _: json.dumps({"title": "t", "columns": [], "rows": []}),
    "p_table": lambda canary: canary.table,
    "p_days": lambda _: 30,
    "p_offset_minutes": lambda _: 180,
    "p_hold_s": lambda _: 0.0,
    "p_keys": lambda canary: [canary.word, "канарейка"],
    "p_entity": lambda canary: f"project:{canary.word}",
    "p_relations": lambda _: ["CONTACTS"],
    "p_related": lambda _: True,
    "p_keep": lambda _: 30,
    "p_limit": lambda _: 1000,
    "p_offset": lambda _: 0,
    "p_after": lambda _: -1,
}
"""Ids, words and vectors are the canary's; the person is a stranger."""


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """The functions that take a base, with their parameters, and one query for all rows of a base."""

    connection: psycopg.Connection
    functions: Mapping[str, list[str]]
    rows_of: str

    @classmethod
    def read(cls, connection: psycopg.Connection) -> "Catalog":
        functions = {str(name): list(parameters) for name, parameters in connection.execute(_FUNCTIONS)}
        tables = [name for (name,) in connection.execute(_TABLES)]
        parts = [f"select '{name}', t::text from {name} t where t.base_id = %(base)s" for name in tables]
        rows_of = " union all ".join(
            [*parts, f"{_BLOCKS} %(base)s", "select 'base', b::text from bases b where id = %(base)s"]
        )
        return cls(connection=connection, functions=functions, rows_of=rows_of + " order by 1, 2")

    def contents(self, base: BaseId) -> Rows:
        """Every row that belongs to the base."""
        return list(self.connection.execute(self.rows_of.encode(), {"base": base}))

    def tells_or_changes(self, name: str, base: BaseId, canary: Canary) -> bool:
        """Call the function for `base` with all that is the canary's; whatever it does is taken back."""
        return any(self._tells_or_changes(name, base, canary, document) for document in canary.documents)

    def _tells_or_changes(self, name: str, base: BaseId, canary: Canary, document: DocumentId) -> bool:
        known = {"p_base": base, "p_document": document}
        if name in NEXT_MODEL:
            known["p_model"] = f"after {MODEL}"
        values = {part: known.get(part) or GIVEN[part](canary) for part in self.functions[name]}
        call = sql.SQL(", ").join(sql.SQL("{} => {}").format(sql.Identifier(p), sql.Placeholder(p)) for p in values)
        statement = sql.SQL("select * from {}({})").format(sql.Identifier("public", name), call)
        with self.connection.transaction(force_rollback=True):
            before = self.contents(canary.base)
            answer = list(self.connection.execute(statement, values))
            return canary.is_told_by(answer) or self.contents(canary.base) != before


@pytest.fixture
def catalog(database_url: str) -> Iterator[Catalog]:
    """The catalog of this test's database, whose passages get large numbers."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        sequence = "pg_get_serial_sequence('documents_chunks', 'id')"
        connection.execute(f"select setval({sequence}, {FIRST_CHUNK})".encode())
        columns = f"chunk_id bigint, document_id uuid, embedding extensions.halfvec({DIMENSIONS})"
        connection.execute(f"create table shelves.{SHELF} ({columns})".encode())
        yield Catalog.read(connection)


async def hide_canary(stores: DatabaseStores, contents: Content) -> Canary:
    """A base with these documents, a question about a file, notes that wait in the queue, a dialogue and a thumb."""
    person = UserId(next(people))
    base, word = await open_base(stores, person), f"канарейка{person}"
    numbers = itertools.count()
    texts = [[f"{word} {next(numbers)} {' '.join(passage)}" for passage in document] for document in contents]
    ready = [await publish(stores, base, *document, name=word) for document in texts]
    named = [await read_source(stores, base, file(word), f"{word} {version}") for version in ("раз", "два")]
    held = [batch_of(base, note(word), message=message) for message in (MESSAGE, MESSAGE - 1)]
    waiting = [document.id for batch in held for document in await stores.intake.enqueue(batch, hold_s=3600)]
    session = SessionId(str(uuid.UUID(int=1)))
    said = Exchange(question=word, answer=word)
    await stores.dialogue.append(
        person, session, base=base, exchange=said, question_terms=[word], answer_terms=[word], keep=30
    )
    await stores.library.save_feedback(person, base, ChatId(person), MessageId(MESSAGE), rating=1)
    await stores.library.save_turn(person, base, TURN)
    table = SourcedTable(title=word, columns=(word,), rows=((word,),))
    await keep_entities(stores, base, word)
    found = await find(stores, base, word)
    return Canary(
        base=base,
        word=word,
        documents=(ready[0], *(document for document, _ in named), *waiting),
        batch=await batch_id_of(stores, base, waiting[0]),
        chunk=found[texts[0][0]].passage.chunk_id,
        table=await stores.answer_tables.save_table(person, base, table),
        content_hash=hash_of(*texts[0]),
    )


async def keep_entities(stores: DatabaseStores, base: BaseId, word: str) -> None:
    """One entity of the canary's name, of which a document of the base says the canary's word."""
    claimed = await stores.entities.claim(lease_s=60, attempts=3, only=base)
    assert claimed is not None
    (span, *_) = await stores.entities.spans(claimed)
    await stores.entities.store(claimed, found=named_entities(span.chunk, word, key=word), reader="a test")


async def batch_id_of(stores: DatabaseStores, base: BaseId, document: DocumentId) -> BatchId:
    batch = (await card_of(stores, base, document)).batch_id
    assert batch is not None
    return batch


# The examples share a database on purpose: each adds bases to those of the others.
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=st.lists(some_content, min_size=2, max_size=3))
async def test_no_function_crosses_from_base_to_base(
    catalog: Catalog, postgres_transport: PostgresTransport, contents: list[Content]
) -> None:
    stores = DatabaseStores(postgres_transport)
    canaries = [await hide_canary(stores, base) for base in contents]
    crossed = [
        name
        for name in catalog.functions
        for canary, other in itertools.permutations(canaries, 2)
        if catalog.tells_or_changes(name, other.base, canary)
    ]
    assert crossed == []


async def test_a_careless_new_function_is_found_out(catalog: Catalog, postgres_transport: PostgresTransport) -> None:
    stores = DatabaseStores(postgres_transport)
    canary, other = await hide_canary(stores, [[["слово"]]]), await hide_canary(stores, [[["слово"]]])
    catalog.connection.execute(_CARELESS)
    found = Catalog.read(catalog.connection)
    crossed = {name for name in found.functions if found.tells_or_changes(name, other.base, canary)}
    assert crossed == {"title_of", "forget"}


async def test_for_its_own_base_the_same_call_tells_or_changes(
    catalog: Catalog, postgres_transport: PostgresTransport
) -> None:
    canary = await hide_canary(DatabaseStores(postgres_transport), [[["слово"]], [["дело"], ["тело"]]])
    idle = {name for name in catalog.functions if not catalog.tells_or_changes(name, canary.base, canary)}
    assert idle == COUNTS_ONLY

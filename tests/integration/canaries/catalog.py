"""The functions by which a stranger might reach another's base, as the catalog of the database has them.

In: a database. Out: every function of ours that takes a base, a person or a segment, with arguments for calling it as
one who owns one base and knows all ids, words and vectors of another. A function that a later migration adds is there
too; for a parameter with a new name `GIVEN` has to be told what a stranger would give.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import psycopg

from adapters.database.payloads import json_bytes
from adapters.database.stores.library import turn_row
from adapters.database.transport import Argument
from domain.ids import BaseId, DocumentId
from domain.people import new_token, token_hash
from tests.integration.adapters.database.stores.material import ANNA, MODEL, NORTH, TURN
from tests.integration.canaries.hiding import MESSAGE, NEXT_MODEL, SESSION, WORDS, Canary, Rows

DIMENSIONS = 1024
FIRST_CHUNK = 7_000_000_000  # no count and no score is mistaken for the id of a passage
ZERO = str([0.0] * DIMENSIONS)
NORTHWARDS = str(NORTH + [0.0] * (DIMENSIONS - len(NORTH)))
OF_NEXT_MODEL = ("outdated_documents", "outdated_chunks", "switch_model")
"""Of a base whose vectors are all of the model that is asked for these have nothing to say."""

_FUNCTIONS = """
select p.proname, p.proargnames[:p.pronargs], p.pronamespace = 'public'::regnamespace from pg_proc p
where p.pronamespace in ('public'::regnamespace, 'baza_internal'::regnamespace)
  and p.proargnames && array['p_base', 'p_user', 'p_segment']
order by p.provolatile = 'v', 1
"""
_SEGMENT = """
select name, quantised(%s::extensions.halfvec, thresholds)::text, last_row from vector_segments
where thresholds <> '{}' and base_id = %s
"""
_TABLES = """
select t.table_name, array_agg(c.column_name::text) from information_schema.columns c
join information_schema.tables t using (table_schema, table_name)
where c.table_schema = 'public' and c.column_name in ('base_id', 'user_id') and t.table_type = 'BASE TABLE'
group by 1 order by 1
"""
_BLOCKS = "select 'blocks', b::text from document_blocks b join documents d on d.id = b.document_id where d.base_id = "

_NOTE = {"type": "note", "identifier": "и ещё", "text": "и ещё", "lane": "quick"}

GIVEN: Mapping[str, Callable[[Canary], Argument]] = {
    "p_chunk": lambda canary: canary.chunk,
    "p_terms": lambda canary: [canary.word, *WORDS],
    "p_term": lambda canary: canary.word,
    "p_low": lambda canary: canary.word[:5],
    "p_high": lambda canary: canary.word[:5] + chr(0x10FFFF),
    "p_words": lambda canary: (
        "{"
        + ",".join(
            f'"({place},{word},{word},{word}~,1,1,100,1,1,1,1)"' for place, word in enumerate((canary.word, *WORDS), 1)
        )
        + "}"
    ),
    "p_shares": lambda _: [1.0] * 4,
    "p_places": lambda _: [1],
    "p_read": lambda _: [],
    "p_scores": lambda _: [0.0],
    "p_exempt": lambda _: [],
    "p_asked": lambda _: 4,
    "p_ordinal": lambda _: 1,
    "p_share": lambda _: 1.0,
    "p_hidden": lambda _: [],
    "p_highest": lambda _: 100.0,
    "p_allowed": lambda canary: [canary.chunk],
    "p_chunks": lambda canary: [canary.chunk],
    "p_near": lambda canary: [canary.chunk],
    "p_by_vector": lambda _: True,
    "p_beginnings": lambda canary: [canary.word[0]],
    "p_pattern": lambda _: ".",
    "p_spellings": lambda canary: json.dumps([{"term": "нет такого", "beginnings": [canary.word[0]], "pattern": "."}]),
    "p_filter": lambda canary: json.dumps({"documents": list(canary.documents)}),
    "p_documents": lambda canary: [str(document) for document in canary.documents],
    "p_vectors": lambda canary: json.dumps([{"chunk_id": canary.chunk, "embedding": ZERO}]),
    "p_rows": lambda _: 10,
    "p_count": lambda _: 300,
    "p_within": lambda canary: [str(document) for document in canary.documents],
    "p_embedding": lambda _: NORTHWARDS,
    "p_model": lambda _: MODEL,
    "p_content_hash": lambda canary: canary.content_hash,
    "p_name_contains": lambda canary: canary.word,
    "p_batch": lambda _: json.dumps(
        {"user_id": ANNA, "chat_id": ANNA, "message_id": MESSAGE, "language": "ru", "sources": [_NOTE]}
    ),
    "p_batch_id": lambda canary: canary.batch,
    "p_choice": lambda _: "replace",
    "p_title": lambda _: "Чужое имя",
    "p_name_key": lambda _: "чужое имя",
    "p_language": lambda _: "en",
    "p_mode": lambda _: "documents",
    "p_session": lambda _: SESSION,
    "p_question": lambda _: "Что там?",
    "p_answer": lambda _: "Ничего.",
    "p_question_terms": lambda canary: [canary.word],
    "p_answer_terms": lambda canary: [canary.word],
    "p_pairs": lambda _: 15,
    "p_recalled": lambda _: 2,
    "p_summary": lambda _: "Обо всём.",
    "p_up_to": lambda canary: canary.archived,
    "p_chat": lambda _: ANNA,
    "p_message": lambda _: MESSAGE,
    "p_rating": lambda _: -1,
    "p_turn": lambda _: json_bytes(turn_row(TURN)).decode(),
    "p_asker": lambda canary: canary.person,
    "p_questions": lambda _: 99,
    "p_cost": lambda _: 99.0,
    "p_token_cost": lambda _: 99.0,
    "p_lease_s": lambda _: 60.0,
    "p_reservation": lambda canary: canary.reservation,
    "p_content": lambda _: json.dumps({"title": "t", "columns": [], "rows": []}),
    "p_table": lambda canary: canary.table,
    "p_request": lambda canary: canary.word,
    "p_key": lambda canary: canary.word,
    "p_days": lambda _: 30,
    "p_offset_minutes": lambda _: 180,
    "p_hold_s": lambda _: 0.0,
    "p_more": lambda _: 1,
    "p_most_waiting": lambda _: 300,
    "p_keys": lambda canary: [canary.word, "канарейка"],
    "p_entity": lambda canary: f"project:{canary.word}",
    "p_relations": lambda _: ["CONTACTS"],
    "p_related": lambda _: True,
    "p_keep": lambda _: 30,
    "p_limit": lambda _: 500,
    "p_offset": lambda _: 0,
    "p_after": lambda _: -1,
    "p_before": lambda _: None,
    "p_sources": lambda _: "[]",
    "p_context": lambda _: "[]",
    "p_token": lambda canary: canary.token,
    "p_hash": lambda _: token_hash(new_token()),
    "p_read_only": lambda _: False,
    "p_update": lambda _: 1,
    "p_about": lambda _: "name",
    "p_subject": lambda _: "предмет",
    "p_seconds": lambda _: 60,
    "p_size_bytes": lambda _: 1,
    "p_most_bytes": lambda _: 100,
    "p_bytes": lambda _: 1,
    "p_per_day": lambda _: 0,
    "p_file": lambda canary: canary.file,
    "p_digest": lambda canary: canary.content_hash,
    "p_url": lambda _: "https://example.com",
    "p_secret": lambda _: "whsec_",
    "p_webhook": lambda canary: canary.webhook,
    "p_thread": lambda _: 0,
    "p_name": lambda _: "Чужое имя",
    "p_topic": lambda _: None,
    "p_most": lambda _: 50,
    "p_right": lambda _: "read",
    "p_role": lambda _: "writer",
    "p_once": lambda _: False,
    "p_member": lambda canary: canary.member,
    "p_invitation": lambda canary: canary.invitation,
    "p_base_passages": lambda _: 1000,
    "p_move": lambda _: True,
    "p_group_base": lambda canary: canary.base,
}
"""Ids, words and vectors are the canary's; the base, the person and the segment are the caller's own."""

OF_FUNCTION: Mapping[tuple[str, str], Callable[[Canary], Argument]] = {
    ("keep_file", "p_hash"): lambda canary: canary.content_hash,
    ("documents_saying_first", "p_terms"): lambda canary: [canary.word],  # all of them have to be there
    ("rename_document", "p_terms"): lambda canary: json.dumps({canary.word: 1}),
    ("search", "p_embedding"): lambda _: f'{{"{NORTHWARDS}"}}',  # others read one vector
}
"""Where a parameter of the same name is something else."""

NO_SEGMENT: Mapping[str, Argument] = {"p_near_segment": None, "p_near_row": None}
"""Of a small base: what somebody found nearest is no use then."""

EVERYWHERE: Mapping[str, Argument] = {"p_filter": None, "p_within": None, "p_allowed": None, "p_name_contains": None}
"""The same questions without a filter."""


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """The functions with their parameters, those that change nothing first, and all rows of a base."""

    connection: psycopg.Connection
    functions: Mapping[str, list[str]]
    of_stores: frozenset[str]  # of them those that take and give what transports can carry; the rest are internal
    rows_of: str

    @classmethod
    def read(cls, connection: psycopg.Connection) -> "Catalog":
        found = connection.execute(_FUNCTIONS).fetchall()
        parts = [
            f"select '{name}', t::text from {name} t where t."
            + ("base_id = %(base)s" if "base_id" in columns else "user_id = %(person)s")
            for name, columns in connection.execute(_TABLES)
        ]
        rows_of = " union all ".join(
            [*parts, f"{_BLOCKS} %(base)s", "select 'base', b::text from bases b where id = %(base)s"]
        )
        return cls(
            connection=connection,
            functions={name: parameters for name, parameters, _ in found},
            of_stores=frozenset(name for name, _, is_carried in found if is_carried),
            rows_of=rows_of + " order by 1, 2",
        )

    def has_written(self) -> bool:
        """Whether this transaction has changed or locked any row at all: only then is reading all of them worth it."""
        return self.connection.execute("select pg_current_xact_id_if_assigned() is not null").fetchall() == [(True,)]

    def contents(self, canary: Canary) -> Rows:
        """Every row that belongs to the base and its person."""
        owner = {"base": canary.base, "person": canary.person}
        return list(self.connection.execute(self.rows_of.encode(), owner))

    def calls(
        self, name: str, caller: Canary, canary: Canary, *, filtered: bool = True
    ) -> Iterator[dict[str, Argument]]:
        """The arguments with which the caller asks for what is the canary's: for each document, where it takes one.

        None for a function that takes a segment, when the caller has none.
        """
        parameters, segment = self.functions[name], self._segment(caller.base)
        if "p_segment" in parameters and segment is None:
            return
        own: dict[str, Argument] = {
            "p_base": caller.base,
            "p_person": caller.person,
            "p_user": caller.person,
            "p_home": caller.base,
            "p_to": caller.base,
            **(segment or NO_SEGMENT),
        }
        if name in OF_NEXT_MODEL:
            own["p_model"] = NEXT_MODEL
        if not filtered:
            own |= EVERYWHERE
        documents: tuple[DocumentId | None, ...] = canary.documents if "p_document" in parameters else (None,)
        for document in documents:
            known = {**own, "p_document": document}
            yield {part: known[part] if part in known else _given(name, part, canary) for part in parameters}

    def _segment(self, base: BaseId) -> dict[str, Argument] | None:
        """Where the vectors of the base lie once more, and what is looked for there."""
        found = self.connection.execute(_SEGMENT, [NORTHWARDS, base]).fetchone()
        if found is None:
            return None
        name, bits, last_row = str(found[0]), str(found[1]), int(found[2])
        return {"p_segment": name, "p_bits": bits, "p_near_segment": name, "p_near_row": last_row}


def _given(name: str, part: str, canary: Canary) -> Argument:
    value = OF_FUNCTION.get((name, part)) or GIVEN.get(part)
    assert value, f"what would a stranger give {name} as {part}? GIVEN has to be told"
    return value(canary)

"""No SQL function crosses from base to base, whatever the bases hold.

In: random bases, each with its canary (`hiding`). Every function of the catalog is called by the owner of one base with
the documents, passages, words and vectors of another: nothing of the other may come back, and none of its rows may
change. Each call is taken back, so that every function meets all that the bases hold.
"""

import itertools

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg import sql

from adapters.database.postgres import PostgresTransport
from adapters.database.transport import Argument, Transport
from domain.ids import UserId
from tests.integration.canaries.catalog import Catalog
from tests.integration.canaries.hiding import CARELESS, Canary, Content, Rows, hide, people, some_bases

# The examples share a database on purpose: each adds bases to those of the others.
SLOW = settings(
    deadline=None,
    phases=(Phase.explicit, Phase.generate),  # to look for a smaller example would take minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
COUNTS_ONLY = {
    "count_base",
    "ensure_few_waiting",
    "lock_base",
    "lock_dialogue",
    "lock_entities",
    "count_postings",
    "count_range",
    "told_by_terms",
    "take_pending_question",  # nobody was asked anything
    "count_common_terms",
    "in_segments_up_to",
    "share_outside_segments",
    "half_per_term",
    "writing_key",
    "begin_writing",
    "writers_in",
    "base_statistics",
    "turn_figures",
    "turns_by_day",
    "spent_in_a_day",
    "sender_spent_until",  # they have spent nothing
    "switch_model",
    "segment_thresholds",
    "fill_vector_segment",  # all is there already
    "clear_vector_segment",  # and nothing has left
    "unread_for_entities",
    "sender_of_batch",  # the command line
    "count_bytes",
    "rights_in",
    "require",
    "make_base",  # of the person, and another
    "accept_invitation",  # who does not know the secret of a link
    "note_member",  # the owner is one
    "list_invitations",  # by numbers
    "send_home",  # where they are
    "send_document",  # to where it is
    "keep_copy",  # a note has no file
    "whose_day",
    "delete_base",  # the first of a chat stays
}
WITHOUT_SCOPE = {"documents_ahead", "finish_document", "forget_entities"}
"""They take a document and no base or lease; each is called by another function that has asked for one."""

_REACHING = """
select p.proname from pg_proc p where p.pronamespace in ('public'::regnamespace, 'baza_internal'::regnamespace)
and p.proargnames[:p.pronargs]
  && array['p_document', 'p_chunk', 'p_table', 'p_batch_id', 'p_session', 'p_entity', 'p_token']
and not p.proargnames[:p.pronargs] && array['p_base', 'p_lease', 'p_user']
"""
_WITHOUT_SEGMENT = "select id from bases b where not exists (select from vector_segments s where s.base_id = b.id)"


def call(connection: psycopg.Connection, function: str, arguments: dict[str, Argument]) -> Rows:
    """What the function answers to this."""
    names = [sql.Identifier(name) for name in arguments]
    given_as = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(name, sql.Placeholder(key)) for name, key in zip(names, arguments, strict=True)
    )
    statement = sql.SQL("select * from {}({})").format(sql.Identifier(function), given_as)
    return connection.execute(statement, arguments).fetchall()


def tells_or_changes(catalog: Catalog, name: str, caller: Canary, canary: Canary, *, filtered: bool = True) -> bool:
    """Whether the canary is seen or touched by the function; whatever it does is taken back."""
    before = catalog.contents(canary)
    for arguments in catalog.calls(name, caller, canary, filtered=filtered):
        with catalog.connection.transaction(force_rollback=True):
            answer = call(catalog.connection, name, arguments)
            if canary.is_told_by(answer) or (catalog.has_written() and catalog.contents(canary) != before):
                return True
    return False


async def crossing(transport: Transport, catalog: Catalog, bases: list[Content], *, filtered: bool) -> list[str]:
    """The functions that let something through."""
    canaries = await hide(transport, bases)
    return [
        name
        for name in catalog.functions
        for canary, caller in itertools.permutations(canaries, 2)
        if tells_or_changes(catalog, name, caller, canary, filtered=filtered)
    ]


@settings(SLOW, max_examples=3)
@given(bases=some_bases, filtered=st.booleans())
async def test_no_function_crosses_from_base_to_base(
    catalog: Catalog, postgres_transport: PostgresTransport, bases: list[Content], filtered: bool
) -> None:
    assert await crossing(postgres_transport, catalog, bases, filtered=filtered) == []


async def test_no_function_crosses_between_the_topics_of_one_person(
    catalog: Catalog, postgres_transport: PostgresTransport
) -> None:
    bases = [[[["слово"]]], [[["слово"]]]]
    one, other = await hide(postgres_transport, bases, UserId(next(people)))
    crossed = {
        name
        for name, parameters in catalog.functions.items()
        if "p_base" in parameters and not {"p_user", "p_session"} & set(parameters)
        if tells_or_changes(catalog, name, one, other)
    }
    assert crossed == set()


@pytest.mark.usefixtures("every_base_is_large")
@settings(SLOW, max_examples=2)
@given(bases=some_bases, filtered=st.booleans())
async def test_no_function_crosses_between_bases_with_segments(
    catalog: Catalog, postgres_transport: PostgresTransport, bases: list[Content], filtered: bool
) -> None:
    assert await crossing(postgres_transport, catalog, bases, filtered=filtered) == []
    assert catalog.connection.execute(_WITHOUT_SEGMENT).fetchall() == []


async def test_a_careless_new_function_is_found_out(catalog: Catalog, postgres_transport: PostgresTransport) -> None:
    canary, caller = await hide(postgres_transport, [[[["слово"]]], [[["слово"]]]])
    catalog.connection.execute(CARELESS)
    found = Catalog.read(catalog.connection)
    crossed = {name for name in found.functions if tells_or_changes(found, name, caller, canary)}
    assert crossed == {"title_of", "forget", "said"}


def test_whatever_takes_an_id_asks_whose_it_is(catalog: Catalog) -> None:
    assert {name for (name,) in catalog.connection.execute(_REACHING)} == WITHOUT_SCOPE


@pytest.mark.usefixtures("every_base_is_large")
async def test_for_its_own_base_the_same_call_tells_or_changes(
    catalog: Catalog, postgres_transport: PostgresTransport
) -> None:
    (canary,) = await hide(postgres_transport, [[[["слово"], ["тело"]], [["дело"]]]])
    idle = {
        name
        for name in catalog.functions
        if not any(tells_or_changes(catalog, name, canary, canary, filtered=filtered) for filtered in (True, False))
    }
    assert idle == COUNTS_ONLY

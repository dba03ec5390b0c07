"""Every function that takes a base asks whether who acts may do that, whatever the code above it asks for.

In: a base with its canary, a stranger, and somebody who joined to read. The stranger is told of nothing, the reader
changes nothing. A function that takes `p_base` but no `p_person` cannot be called for anybody at
all (`ActingTransport`), and is found here.
"""

from collections.abc import Awaitable, Sequence
from dataclasses import replace

import pytest

from adapters.database.stores import Stores
from adapters.database.transport import ActingTransport, Transport
from domain.bases import Role
from domain.errors import BaseClosed, BaseReadOnly
from domain.ids import ChatId, UserId
from domain.people import acting_for, token_hash
from tests.integration.canaries.catalog import Catalog
from tests.integration.canaries.hiding import Canary, hide, people

OWN_TOKENS = {"list_tokens", "revoke_token"}  # of the person who acts; of others they say nothing
OF_READERS = {
    "add_token",
    "insert_and_trim_pairs",
    "keep_reading",
    "open_in_chat",
    "save_feedback",
    "save_table",
    "save_turn",
    "set_only_document",
}
"""They leave behind what the reader has said, rated and spent, and nothing in the documents."""


async def refused(transport: Transport, catalog: Catalog, person: Canary, canary: Canary) -> dict[str, str]:
    """How each function ends for the person who calls it with the canary's base: refused, or what it did."""
    ends, asking, before = {}, ActingTransport(transport), catalog.contents(canary)
    for name in sorted(catalog.of_stores):
        if "p_base" not in catalog.functions[name]:
            continue
        for arguments in catalog.calls(name, person, canary):
            asked = {key: value for key, value in arguments.items() if key != "p_person"} | {"p_base": canary.base}
            with acting_for(person.person):
                ends[name] = await end_of(asking.call(name, timeout_s=None, **asked))
            if (after := catalog.contents(canary)) != before:
                ends[name], before = "changed", after
    return ends


async def end_of(call: Awaitable[Sequence[object]]) -> str:
    """Refused, told something, or nothing."""
    try:
        return "told" if await call else ""
    except (BaseClosed, BaseReadOnly) as refusal:
        return type(refusal).__name__


@pytest.fixture
async def pair(transport: Transport) -> tuple[Canary, Canary]:
    """The canary, and another person with a base of their own."""
    canary, person = await hide(transport, [[[["слово"]]], [[["слово"]]]])
    return canary, person


@pytest.mark.over_rest
async def test_a_stranger_is_refused_by_every_function(
    transport: Transport, catalog: Catalog, pair: tuple[Canary, Canary]
) -> None:
    canary, stranger = pair
    ends = await refused(transport, catalog, stranger, canary)
    assert {name: end for name, end in ends.items() if end != "BaseClosed"} == dict.fromkeys(OWN_TOKENS, "")


@pytest.mark.parametrize("is_group", [False, True], ids=["taken off", "the bot was taken out of the group"])
async def test_who_was_let_in_is_a_stranger_again_afterwards(
    transport: Transport, catalog: Catalog, pair: tuple[Canary, Canary], is_group: bool
) -> None:
    canary, person = pair
    stores = Stores(transport)
    if is_group:
        person = replace(person, person=UserId(-next(people)))
        await stores.people.open_base(ChatId(person.person), thread=None, member=canary.person)
        with acting_for(canary.person):
            own = Stores(ActingTransport(transport)).bases
            await own.bind(canary.base, ChatId(person.person), thread=None, name="Дом")
        await stores.bases.leave_group(ChatId(person.person), None)
    else:
        await stores.bases.invite(canary.base, token_hash("write"), role=Role.WRITER, once=False, days=None)
        await stores.bases.accept(person.person, token_hash("write"), name="Борис")
        with acting_for(canary.person):
            await Stores(ActingTransport(transport)).bases.remove_member(canary.base, person.person)
    ends = await refused(transport, catalog, person, canary)
    assert {name: end for name, end in ends.items() if end != "BaseClosed"} == dict.fromkeys(OWN_TOKENS, "")


async def test_a_reader_changes_nothing(transport: Transport, catalog: Catalog, pair: tuple[Canary, Canary]) -> None:
    canary, reader = pair
    stores = Stores(transport)
    await stores.bases.invite(canary.base, token_hash("read"), role=Role.READER, once=False, days=None)
    await stores.bases.accept(reader.person, token_hash("read"), name="Борис")
    ends = await refused(transport, catalog, reader, canary)
    assert {name for name, end in ends.items() if end == "changed"} <= OF_READERS
    assert {name for name, end in ends.items() if end == "BaseReadOnly"} >= {
        "cancel_batch",
        "cancel_document",
        "choose_document",
        "clean_base",
        "delete_base",
        "delete_document",
        "enqueue_batch",
        "join_note",
        "keep_batch",
        "keep_document",
        "make_invitation",
        "refresh_document",
        "remove_member",
        "rename_base",
        "rename_document",
        "revoke_invitation",
    }
    assert not [name for name, end in ends.items() if end == "BaseClosed"]

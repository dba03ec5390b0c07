"""Several bases of a person, shared ones and those of groups, over both transports."""

import asyncio
from dataclasses import replace

import pytest

from adapters.database.stores import Stores
from adapters.database.transport import ActingTransport, Transport
from domain.bases import Role
from domain.errors import BaseClosed, BaseReadOnly
from domain.ids import BaseId, ChatId, ThreadId, UserId
from domain.people import NobodyActs, acting_for, new_token, token_hash
from rag.records import Exchange
from rag.reservations import DayBounds
from tests.integration.adapters.database.stores.material import (
    ANNA,
    COUNTED,
    NORTH,
    ORPHANS,
    RECOUNTED,
    TURN,
    ask,
    batch_of,
    file,
    find,
    note,
    open_base,
    publish,
    read_source,
)

BORIS, GROUP = UserId(202), ChatId(-100500)
KNOWN = f"""
select 'state' from user_state where user_id = {ANNA} union all select 'bases' from bases where chat_id = {ANNA}
union all select 'members' from base_members where user_id = {ANNA} union all select 'token' from api_tokens
union all select 'batches' from batches where chat_id = {ANNA} union all select name from bases where name = 'Работа'
union all select 'reservations' from reservations where asker = {ANNA}
union all select 'documents' from documents where {ANNA} in (user_id, chat_id, person) or sender is not null"""
SAID = Exchange(question="Где ключи?", answer="На столе.")


@pytest.fixture
def mine(transport: Transport) -> Stores:
    """For people."""
    return Stores(ActingTransport(transport))


@pytest.fixture
async def work(mine: Stores) -> BaseId:
    """A second base of Anna's, of which her chat has the first."""
    await mine.people.open_base(ChatId(ANNA), thread=None, member=ANNA, name="Анна")
    made = await mine.bases.make(ANNA, "Работа")
    assert made
    return made


async def share(mine: Stores, base: BaseId, role: Role, *, once: bool = False, days: int | None = None) -> str:
    """The secret of a link."""
    secret = token_hash(new_token())
    with acting_for(ANNA):
        await mine.bases.invite(base, secret, role=role, once=once, days=days)
    return secret


async def test_who_acts_for_nobody_reaches_nothing(mine: Stores, work: BaseId) -> None:
    with pytest.raises(NobodyActs):
        await mine.library.count(work)


async def test_a_person_has_bases_of_their_own_and_opens_one(mine: Stores, work: BaseId) -> None:
    home = await open_base(mine)
    await mine.people.state(ANNA, base=home, language="ru")
    with acting_for(ANNA):
        await mine.bases.open(ANNA, work, thread=None)
        await mine.intake.enqueue(batch_of(work, note("план")))
    listed = await mine.bases.all(ANNA)
    assert [(each.id, each.name, each.role, each.documents, each.is_open, each.is_first) for each in listed] == [
        (home, None, Role.OWNER, 0, False, True),
        (work, "Работа", Role.OWNER, 0, True, False),
    ]
    state = await mine.people.state(ANNA, base=home, language="ru")
    assert (state.base_id, state.base_name, state.role, state.base_owner) == (work, "Работа", Role.OWNER, None)
    assert await mine.bases.all(BORIS) == []


@pytest.mark.over_rest
async def test_each_topic_has_a_base_and_a_dialogue(mine: Stores) -> None:
    states = []
    for thread in (None, ThreadId(7)):
        base = await mine.people.open_base(ChatId(ANNA), thread=thread, member=ANNA, topic="Отпуск")
        states.append(await mine.people.state(ANNA, base=base, language="en", thread=thread))
    assert len({state.base_id for state in states}) == len({state.session_id for state in states}) == 2
    assert states[1].base_name == "Отпуск"
    await mine.people.set_language(ANNA, "ru")
    new = await mine.people.new_session(ANNA, thread=ThreadId(7))
    assert (new.thread, new.language, new.session_id != states[1].session_id) == (ThreadId(7), "ru", True)
    assert (await mine.people.state(ANNA, base=base, language="en")).session_id == states[0].session_id


@pytest.mark.over_rest
async def test_a_dialogue_belongs_to_its_base(mine: Stores, work: BaseId) -> None:
    home = await open_base(mine)
    before = await mine.people.state(ANNA, base=home, language="ru")
    with acting_for(ANNA):
        await mine.dialogue.append(
            ANNA, before.session_id, base=home, exchange=SAID, question_terms=[], answer_terms=[], keep=30
        )
        await mine.bases.open(ANNA, work, thread=None)
        there = await mine.people.state(ANNA, base=home, language="ru")
        assert there.session_id != before.session_id
        assert await mine.dialogue.sessions(ANNA, base=work, limit=9) == []
        assert not await mine.dialogue.resume(ANNA, before.session_id)
        assert (await mine.people.clean_chat(ANNA, base=work)).messages == 0
        await mine.bases.open(ANNA, home, thread=None)
        assert (await mine.people.state(ANNA, base=home, language="ru")).session_id == before.session_id
        assert (await mine.people.clean_chat(ANNA, base=home)).messages == 2


@pytest.mark.over_rest
async def test_a_reader_reads_and_changes_nothing(mine: Stores, stores: Stores, work: BaseId) -> None:
    document = await publish(stores, work, "ключи на столе")
    joined = await mine.bases.accept(BORIS, await share(mine, work, Role.READER), name="Борис")
    assert joined
    assert (joined.base, joined.name, joined.role, joined.owner_name) == (
        work,
        "Работа",
        Role.READER,
        "Анна",
    )
    with acting_for(BORIS):
        assert await mine.library.card(work, document)
        for change in (
            mine.library.delete(work, document),
            mine.library.clean_base(work),
            mine.intake.enqueue(batch_of(work, note("план"))),
            mine.bases.rename(work, "Моя"),
            mine.bases.delete(work),
            mine.bases.members(work),
            mine.bases.invite(work, "x", role=Role.WRITER, once=False, days=None),
            mine.bases.remove_member(work, UserId(303)),
        ):
            with pytest.raises(BaseReadOnly):
                await change
    with acting_for(UserId(303)), pytest.raises(BaseClosed):
        await mine.library.card(work, document)


@pytest.mark.over_rest
async def test_a_writer_writes_until_taken_off(mine: Stores, work: BaseId) -> None:
    home = await mine.people.open_base(ChatId(BORIS), thread=None, member=BORIS)
    await mine.people.state(BORIS, base=home, language="ru")
    await mine.bases.accept(BORIS, await share(mine, work, Role.WRITER), name="Борис")
    with acting_for(BORIS):
        await mine.bases.open(BORIS, work, thread=None)
        await mine.intake.enqueue(batch_of(work, note("план")))
        token = await mine.tokens.add(work, "hash", is_read_only=False, days=None)
    with acting_for(token):
        assert (await mine.library.count(work)).waiting == 1
    with acting_for(ANNA):
        assert [(each.id, each.name, each.role) for each in await mine.bases.members(work)] == [
            (BORIS, "Борис", Role.WRITER)
        ]
        assert await mine.bases.remove_member(work, BORIS)
        assert not await mine.bases.remove_member(work, ANNA)
    for actor in (BORIS, token):
        with acting_for(actor), pytest.raises(BaseClosed):
            await mine.library.count(work)
    state = await mine.people.state(BORIS, base=home, language="ru")
    assert (state.role, state.base_name) == (None, "Работа")
    assert (await mine.people.go_home(BORIS)).base_id == home


@pytest.mark.over_rest
async def test_a_link_ends(mine: Stores, work: BaseId) -> None:
    once = await share(mine, work, Role.READER, once=True)
    assert await mine.bases.accept(ANNA, once, name="Анна")  # an owner does not use it up
    joined = await asyncio.gather(*(mine.bases.accept(each, once, name="Кто") for each in (BORIS, UserId(303))))
    assert sum(each is not None for each in joined) == 1
    over = await share(mine, work, Role.WRITER, days=0)
    assert await mine.bases.accept(BORIS, over, name="Борис") is None
    kept = await share(mine, work, Role.WRITER)
    with acting_for(ANNA):
        (link,) = await mine.bases.invitations(work)
        assert await mine.bases.revoke(work, link.id)
        assert not await mine.bases.revoke(work, link.id)
    assert await mine.bases.accept(UserId(303), kept, name="Вера") is None


async def test_a_member_leaves(mine: Stores, work: BaseId) -> None:
    await mine.bases.accept(BORIS, await share(mine, work, Role.READER), name="Борис")
    with acting_for(BORIS):
        assert await mine.bases.remove_member(work, BORIS)
        with pytest.raises(BaseClosed):
            await mine.library.count(work)


async def test_who_writes_in_a_group_may_read_its_base_until_they_leave(mine: Stores) -> None:
    base = await mine.people.open_base(GROUP, thread=None, member=BORIS, name="Дом")
    (listed,) = await mine.bases.all(BORIS)
    assert (listed.id, listed.name, listed.role, listed.group) == (base, "Дом", Role.READER, GROUP)
    with acting_for(BORIS), pytest.raises(BaseReadOnly):
        await mine.library.clean_base(base)
    with acting_for(UserId(GROUP)):
        await mine.library.clean_base(base)
    await mine.bases.leave_group(GROUP, BORIS)
    assert await mine.bases.all(BORIS) == []


@pytest.mark.over_rest
async def test_a_base_of_an_administrator_is_open_to_a_group_until_it_is_taken_off(mine: Stores, work: BaseId) -> None:
    own = await mine.people.open_base(GROUP, thread=None, member=ANNA, name="Дом")
    await mine.people.state(UserId(GROUP), base=own, language="ru")
    with acting_for(BORIS), pytest.raises(BaseClosed):
        await mine.bases.bind(work, GROUP, thread=None, name="Дом")
    with acting_for(ANNA):
        await mine.bases.bind(work, GROUP, thread=None, name="Дом")
    assert (await mine.people.state(UserId(GROUP), base=own, language="ru")).base_id == work
    with acting_for(UserId(GROUP)):
        await mine.intake.enqueue(batch_of(work, note("план")))
        with pytest.raises(BaseReadOnly):
            await mine.library.clean_base(work)
    with acting_for(ANNA):
        await mine.bases.remove_member(work, UserId(GROUP))
    assert (await mine.people.go_home(UserId(GROUP))).base_id == own


@pytest.mark.over_rest
async def test_a_group_that_the_bot_was_taken_out_of_closes_its_bases_and_those_opened_there(
    mine: Stores, work: BaseId
) -> None:
    own = await mine.people.open_base(GROUP, thread=None, member=BORIS, name="Дом")
    await mine.people.state(UserId(GROUP), base=own, language="ru")
    with acting_for(ANNA):
        await mine.bases.bind(work, GROUP, thread=None, name="Дом")
    await mine.bases.leave_group(GROUP, None)
    assert await mine.bases.all(BORIS) == []
    with acting_for(ANNA):
        assert await mine.bases.members(work) == []
    with acting_for(UserId(GROUP)), pytest.raises(BaseClosed):
        await mine.library.count(work)


@pytest.mark.over_rest
async def test_a_deleted_base_leaves_nothing_and_nobody_in_it(mine: Stores, work: BaseId) -> None:
    home = await open_base(mine)
    await mine.people.state(ANNA, base=home, language="ru")
    with acting_for(ANNA):
        await mine.bases.open(ANNA, work, thread=None)
        await mine.intake.enqueue(batch_of(work, note("план")))
        assert await mine.bases.delete(home) is None
        assert await mine.bases.delete(work) == 0  # none was read yet
        with pytest.raises(BaseClosed):
            await mine.library.count(work)
    assert (await mine.people.state(ANNA, base=home, language="ru")).base_id == home


async def test_a_document_goes_to_another_base_as_it_was_read(
    mine: Stores, stores: Stores, work: BaseId, database_url: str
) -> None:
    home = await open_base(mine)
    document = await publish(stores, home, "ключи на столе", "лампа в углу", name="заметка")
    with acting_for(ANNA):
        copied = await mine.bases.send(home, document, work, move=False)
        assert copied
        assert not copied.was_there
        again = await mine.bases.send(home, document, work, move=True)
        assert again
        assert again.was_there
        before, after = await find(mine, home, "ключи", vector=NORTH), await find(mine, work, "ключи", vector=NORTH)
        assert before.keys() == after.keys() == {"ключи на столе", "лампа в углу"}
        assert [each.bm25 for each in before.values()] == [each.bm25 for each in after.values()]
        (card,) = await mine.library.documents(work, limit=9)
        assert await mine.text.blocks(work, card.id) == await mine.text.blocks(home, document)
        third = await mine.bases.make(ANNA, "Третья")
        assert third
        assert await mine.bases.send(work, card.id, third, move=True)
        assert (await mine.library.count(work)).documents == 0
        assert (await mine.library.count(third)).chunks == 2
    assert ask(database_url, COUNTED) == ask(database_url, RECOUNTED)
    assert ask(database_url, ORPHANS) == [(0,)]


@pytest.mark.over_rest
async def test_who_is_forgotten_leaves_nothing_but_what_they_sent_to_others(
    mine: Stores, work: BaseId, database_url: str
) -> None:
    home = await open_base(mine)
    theirs = await mine.people.open_base(ChatId(BORIS), thread=None, member=BORIS)
    for person in (ANNA, BORIS):
        await mine.people.state(person, base={ANNA: home, BORIS: theirs}[person], language="ru")
    await mine.bases.accept(BORIS, await share(mine, work, Role.WRITER), name="Борис")
    with acting_for(BORIS):
        await mine.bases.open(BORIS, work, thread=None)
        await mine.bases.invite(theirs, "hash", role=Role.WRITER, once=False, days=None)
        await mine.bases.accept(ANNA, "hash", name="Анна")
    with acting_for(ANNA):
        await mine.intake.enqueue(batch_of(theirs, note("для Бориса")))
        await mine.intake.enqueue(batch_of(work, note("план")))
        token = await mine.tokens.add(None, token_hash(new_token()), is_read_only=False, days=None)
        await mine.intake.enqueue(replace(batch_of(theirs, note("ключом")), user_id=token))
        await mine.library.reserve_question(UserId(GROUP), ANNA, bounds=DayBounds(questions=9), lease_s=60)
        assert (await mine.people.forget(ANNA))[0] == 2
    known = [name for (name,) in ask(database_url, KNOWN)]
    assert known == []
    assert (await mine.people.state(BORIS, base=theirs, language="ru")).base_id == theirs
    with acting_for(BORIS):
        assert [each.id for each in await mine.bases.all(BORIS)] == [theirs]
        left = await mine.library.documents(theirs, limit=9)
    assert {(each.title, each.sent_by, each.sender) for each in left} == {("для Бориса", 0, None), ("ключом", 0, None)}


@pytest.mark.over_rest
async def test_what_was_spent_on_a_base_is_not_forgotten_with_it(mine: Stores, work: BaseId) -> None:
    with acting_for(ANNA):
        token = await mine.tokens.add(None, token_hash(new_token()), is_read_only=False, days=None)
        await mine.library.save_turn(token, work, TURN)
        by_token = await mine.library.spent_in_a_day(ANNA, token=token)
        await mine.bases.delete(work)
        await mine.tokens.revoke(None, token)
    assert by_token.questions == 1
    assert (await mine.library.spent_in_a_day(ANNA)).questions == 1
    assert (await mine.library.spent_in_a_day(ANNA, token=UserId(1))).questions == 0


@pytest.mark.over_rest
async def test_a_kept_file_goes_along_as_a_file_of_the_other_base(mine: Stores, stores: Stores, work: BaseId) -> None:
    home = await open_base(mine)
    files = mine.kept_files
    with acting_for(ANNA):
        kept = await files.keep(home, sha256="a" * 64, size_bytes=5, most_bytes=9)
    document, _ = await read_source(stores, home, replace(file("План.docx"), file_id=None, kept_file=kept), "план")
    with acting_for(ANNA):
        copy = await mine.bases.keep_copy(home, document, work)
        assert copy not in (None, kept)
        assert await mine.bases.send(home, document, work, move=True)
        (card,) = await mine.library.documents(work, limit=9)
        assert card.kept_file == copy
    assert await files.release(9) == [(home, kept)]


async def test_the_notice_names_a_base_that_is_not_open(mine: Stores, work: BaseId) -> None:
    home = await open_base(mine)
    await mine.people.state(ANNA, base=home, language="ru")
    with acting_for(ANNA):
        for base in (home, work):
            await mine.intake.enqueue(batch_of(base, note(f"в {base}"), message=1))
    due = await mine.notices.due(limit=9, hold_s=0)
    assert [each.elsewhere and (each.elsewhere.id, each.elsewhere.name) for each in due] == [None, (work, "Работа")]


@pytest.mark.over_rest
async def test_a_document_goes_only_where_its_sender_may_write(mine: Stores, stores: Stores, work: BaseId) -> None:
    document = await publish(stores, work, "ключи на столе")
    theirs = await mine.people.open_base(ChatId(BORIS), thread=None, member=BORIS)
    await mine.bases.accept(BORIS, await share(mine, work, Role.READER), name="Борис")
    with acting_for(BORIS):
        with pytest.raises(BaseReadOnly):
            await mine.bases.send(work, document, theirs, move=True)
        assert await mine.bases.send(work, document, theirs, move=False)
    with acting_for(ANNA), pytest.raises(BaseClosed):
        await mine.bases.send(work, document, theirs, move=False)
